//! Ids: one type for each thing that has a name.
//!
//! Most are shared strings: cloning one is a reference count, comparing two clones of one a pointer comparison. Names of
//! the nodes of flows are mostly short and are cloned several times for each event, so they stand in place as long as
//! they fit, and no count is kept of them.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

/// Whether two texts are the same. What is shared need not be looked at: among many ids it is far away.
#[inline]
fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // Names that were counted differ at their end, if at all.
    one.len() == other.len() && (one.as_ptr() == other.as_ptr() || one.last() == other.last() && one == other)
}

macro_rules! ids {
    ($text:ty: $($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Eq)]
        pub struct $name($text);

        impl $name {
            /// The id as text.
            #[inline]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text behind the id to share, for the same name in another role.
            pub fn shared(&self) -> Arc<str> {
                self.0.clone().into()
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                same(self.as_str(), other.as_str())
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                same(self.as_str(), other)
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                same(self.as_str(), other)
            }
        }

        // Equality is that of the text, so the hash is too; `Borrow<str>` relies on it.
        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.as_str().cmp(other.as_str())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<Arc<str>> for $name {
            fn from(text: Arc<str>) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$text>::deserialize(deserializer).map(Self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }
    )*};
}

ids! {
    Arc<str>:
    /// A conversation and everything that belongs to it.
    SessionId;
    /// One line of history within a session; the first is `main`.
    BranchId;
    /// One run of a harness or a flow.
    RunId;
    /// What caused a run: a tool call, a node of the conversation graph, or a run.
    ParentId;
    /// The message turn an event belongs to.
    EventFlowId;
    /// An agent, over all its runs.
    AgentId;
    /// A user message or an assistant step.
    MessageId;
    /// A stream of text or reasoning.
    StreamId;
    /// A tool call.
    CallId;
    /// A request to a person.
    RelayId;
    /// One turn of a code-executing agent.
    ReplId;
    /// A node of the conversation graph.
    NodeId;
}

ids! {
    SmolStr:
    /// A node of a flow, as its file names it.
    FlowNodeId;
}
