//! Models: vendors spoken to over HTTP, scripts, and recordings.
//!
//! In: a `Prompt`. Out: a stream of `Delta`s in the order in which the vendor sent them. Start reading at [`open`]; then
//! `openai` and `anthropic` for what is sent and how it is answered, [`Script`] for what needs no network, and [`Recorder`]
//! and [`Replay`] for exchanges that are kept.

pub mod sse;

mod answer;
mod anthropic;
mod body;
#[cfg(test)]
mod chaos;
mod fault;
mod fixture;
mod http;
mod key;
mod open;
mod openai;
mod part;
mod price;
mod record;
mod redact;
mod refused;
mod replay;
mod script;

pub use fixture::{Reason, Said};
pub use open::{Models, PROVIDERS, open};
pub use price::Prices;
pub use record::Recorder;
pub use refused::Refused;
pub use replay::Replay;
pub use script::{Script, Scripted, Step, When};
