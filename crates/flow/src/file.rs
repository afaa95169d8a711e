//! Flow files.
use antiphon_event::Json;

use crate::Flow;

impl Flow {
    /// From document.
    pub fn from_document(_: &Json) -> Result<Self, String> {
        Err("not yet".into())
    }
}
