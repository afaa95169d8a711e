//! [`Echo`]: a model that says back what it hears was said before.

use std::sync::Arc;

use antiphon_agent::{Delta, Fault, Message, Price, Prompt, Stop};
use antiphon_port::Model;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

/// Says which of its answers this is, counting those it hears.
pub(crate) struct Echo;

impl Model for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn price(&self) -> Option<Price> {
        None
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        let own =
            prompt.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let said = format!("answer {} of {} heard", own + 1, prompt.messages.len());
        stream::iter([Ok(Delta::Text(said)), Ok(Delta::Stop(Stop::Done))]).boxed()
    }
}
