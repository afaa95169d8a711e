//! [`Model`]: something that answers prompts.

use std::sync::Arc;

use antiphon_agent::{Delta, Fault, Price, Prompt, Tokens};
use futures_core::stream::BoxStream;

/// A model. May be called from many tasks at once; a stream that is dropped closes its connection.
pub trait Model: Send + Sync + 'static {
    /// What it is called in events.
    fn name(&self) -> &str;

    /// What it costs; nothing if nobody knows.
    fn price(&self) -> Option<Price>;

    /// What a call will use, where that is known before: what scripts say.
    fn foresee(&self, _prompt: &Prompt) -> Option<Tokens> {
        None
    }

    /// Asks it. The stream ends after [`Delta::Stop`] or with a fault; it never ends without one of them. It does not
    /// try again by itself: whoever reads has to be told before.
    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>>;
}
