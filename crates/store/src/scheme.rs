//! [`open`]: a store by its name.

use std::sync::Arc;

use antiphon_port::{Fault, Journal};

use crate::{Memory, Sqlite};

/// Opens `sqlite:PATH`, a journal in a file, or `memory:`, one that is gone with the process.
///
/// ```
/// let journal = antiphon_store::open("memory:")?;
/// let wrong = antiphon_store::open("mongodb://here").err().unwrap();
/// assert_eq!(wrong.to_string(), "`mongodb://here` is no store: use sqlite:PATH or memory:");
/// # Ok::<(), antiphon_port::Fault>(())
/// ```
pub fn open(name: &str) -> Result<Arc<dyn Journal>, Fault> {
    match name.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(Memory::new())),
        Some(("sqlite", path)) if !path.is_empty() && !path.starts_with(':') => {
            Ok(Arc::new(Sqlite::open(path)?))
        }
        _ => Err(Fault::NoStore(name.to_owned())),
    }
}
