//! The conversation graph: who said what, because of what.
//!
//! In: events. Out: two structures that readers may hold on to for as long as they like. The flat [`Graph`] has
//! a node for each thing that happened and an edge for each reason; the [`Conversation`] groups the same nodes
//! into blocks and messages and knows which of them are active. No clock, no I/O.
//! Start reading at [`Reducer::apply`], then [`Conversation::apply`].
//!
//! ```
//! use antiphon_event::Event;
//! use antiphon_graph::Reducer;
//!
//! let mut reducer = Reducer::default();
//! for line in [
//!     r#"{"type":"user","runId":"u1","content":"hi"}"#,
//!     r#"{"type":"text","runId":"a1","parentId":"u1:user","id":"t1","content":"hel"}"#,
//!     r#"{"type":"text","runId":"a1","id":"t1","content":"lo"}"#,
//! ] {
//!     reducer.apply(&Event::from_json(line)?);
//! }
//! let graph = reducer.snapshot();
//! assert_eq!(graph.text_of("a1"), "hello");
//! assert_eq!(graph.children("u1:user").next().unwrap().id(), &"t1");
//! # Ok::<(), antiphon_event::Error>(())
//! ```

mod count;
mod forest;
mod graph;
pub mod hyper;
mod index;
mod list;
mod name;
mod node;
mod places;
mod query;
mod reduce;
mod saved;
mod text;
mod write;

pub use graph::Graph;
pub use hyper::{Active, Conversation, Hypergraph, Placed};
pub use node::Node;
pub use reduce::{Change, DISCARDABLE, Place, Reduced, Reducer};
pub use text::Text;
