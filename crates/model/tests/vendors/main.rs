//! Models against a real server that speaks each vendor's format byte for byte, also where it is ugly.
//!
//! One door: an answer in bytes goes in, what came out of the model is compared as text. Start reading at [`say`].

mod answers;
mod faults;
mod openings;
mod real;
mod requests;
mod server;
mod splits;

use std::sync::Arc;

use antiphon_agent::{Content, Delta, Fault, Message, ModelUse, Prompt, Said};
use antiphon_model::Models;
use antiphon_port::Model;
use futures_util::StreamExt;

use server::{Reply, Server};

/// The key of every test: must never be seen.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// A model of a provider at an address.
pub(crate) fn settings(provider: &str, address: impl std::fmt::Display) -> ModelUse {
    ModelUse {
        provider: provider.to_owned(),
        model: Some("small".to_owned()),
        base_url: Some(format!("http://{address}/v1")),
        api_key_env: Some("KEY".to_owned()),
        ..ModelUse::default()
    }
}

pub(crate) fn open(settings: &ModelUse) -> Arc<dyn Model> {
    Models::new()
        .environment(|name| (name == "KEY").then(|| KEY.to_owned()))
        .open(settings)
        .expect("the settings are fine")
}

/// A prompt with one message.
pub(crate) fn prompt(text: &str) -> Prompt {
    let messages = Said::from_iter([Message::User { content: Content::Text(text.to_owned()) }]);
    Prompt { messages, ..Prompt::default() }
}

/// All that a model says.
pub(crate) async fn ask(model: &dyn Model, prompt: Prompt) -> Vec<Result<Delta, Fault>> {
    model.call(Arc::new(prompt)).collect().await
}

/// What a model says to `hello`, when a server answers so: a line for each piece.
pub(crate) async fn say(provider: &str, reply: Reply, prompt: Prompt) -> String {
    let server = Server::start(reply).await;
    let mut settings = settings(provider, server.address);
    settings.idle_timeout = Some("2s".to_owned());
    let said = ask(&*open(&settings), prompt).await;
    lines(&said).replace(&server.address.port().to_string(), "PORT")
}

/// A line for each piece.
pub(crate) fn lines(said: &[Result<Delta, Fault>]) -> String {
    said.iter().map(|piece| format!("{}\n", line(piece))).collect()
}

fn line(piece: &Result<Delta, Fault>) -> String {
    match piece {
        Ok(Delta::Text(text)) => format!("text {text:?}"),
        Ok(Delta::Reasoning(text)) => format!("reasoning {text:?}"),
        Ok(Delta::Signature(text)) => format!("signature {text:?}"),
        Ok(Delta::Call { id, name, arguments }) => {
            let made_up = id.starts_with("call_") && id.len() == 37;
            format!("call {} {name} {arguments}", if made_up { "(made up)" } else { id })
        }
        Ok(Delta::Usage(tokens)) => {
            let mut line = format!("usage {} {}", tokens.input, tokens.output);
            for (name, value) in [("read", tokens.cache_read), ("created", tokens.cache_creation)] {
                line += &value.map_or_else(String::new, |value| format!(" {name} {value}"));
            }
            line + &tokens.cost_usd.map_or_else(String::new, |cost| format!(" ${cost}"))
        }
        Ok(Delta::Stop(stop)) => format!("stop {stop:?}"),
        Err(fault) => {
            assert!(!fault.message.contains(KEY), "the key is in `{}`", fault.message);
            assert!(!format!("{fault:?}").contains(KEY), "the key is in a fault");
            let again = if fault.retryable { "again" } else { "never" };
            let wait = fault.retry_after.map_or_else(String::new, |wait| format!(" after {wait:?}"));
            format!("fault {} {again}{wait}: {}", fault.code, fault.message)
        }
    }
}
