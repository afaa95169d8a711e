//! Views: what a person looks at, folded from events one at a time.
//!
//! In: events. Out: a snapshot to begin with and [`Change`]s to keep it up to date. No clock, no I/O.
//! Start reading at [`View`]; each view has a file of its own, and [`catalogue`] lists them all.
//!
//! ```
//! use antiphon_event::Event;
//! use antiphon_view::{Changes, Fold, Transcript};
//!
//! let mut fold = Fold::new(Transcript::default());
//! let mut changes = Changes::wanted();
//! for content in ["hel", "lo"] {
//!     let line = format!(r#"{{"type":"text","runId":"r","id":"t","content":"{content}"}}"#);
//!     fold.apply(&Event::from_json(&line)?, &mut changes);
//! }
//! assert_eq!(fold.view().messages()[0].text, "hello");
//! let last = changes.take().pop().expect("a piece of text changes a message");
//! assert_eq!(
//!     serde_json::to_string(&last).expect("changes are JSON"),
//!     r#"{"op":"append","path":"/messages/0/text","value":"lo"}"#
//! );
//! # Ok::<(), antiphon_event::Error>(())
//! ```

pub mod catalogue;
mod change;
pub mod dag;
mod fold;
mod projection;

pub mod agents;
pub mod diff;
pub mod messages;
pub mod nested;
pub mod permissions;
pub mod repl;
pub mod replay;
pub mod risk;
pub mod runs;
pub mod thread;
pub mod timeline;
pub mod tools;
pub mod trace;
pub mod transcript;
pub mod usage;
pub mod why;

mod brief;
mod calls;
mod edit;
mod family;
mod forest;
mod index;
mod lapse;
mod moment;
mod money;
mod ranked;
mod request;
mod slots;
mod steps;
mod tally;
mod trees;
mod value;

pub use agents::Agents;
pub use change::{Change, Changes, Op, Step};
pub use dag::Dag;
pub use fold::{Fold, View};
pub use messages::Messages;
pub use money::Cost;
pub use nested::Nested;
pub use permissions::Permissions;
pub use projection::{Projected, Projection};
pub use repl::Repl;
pub use replay::Replay;
pub use request::Standing;
pub use risk::Risk;
pub use runs::Runs;
pub use tally::Tally;
pub use thread::Thread;
pub use timeline::Timeline;
pub use tools::Tools;
pub use trace::Traces;
pub use transcript::Transcript;
pub use usage::Usage;
