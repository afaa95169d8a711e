//! Closed lists of words that events use, open to words of a later version.
//!
//! Every list has an `Other` case, so that a word this version does not know is kept and written back.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$case_doc])* #[doc = concat!("`", $word, "`")] $case,)*
            /// A word of a later version.
            Other(Word),
        }

        impl $name {
            /// The word as it is written in an event.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$case => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$case,)*
                    other => Self::Other(other.into()),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<'de, str>::deserialize(deserializer).map(|word| Self::from(&*word))
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "examples": [$($word),*]})
            }
        }
    )*};
}

/// A word that is not in a list, which is rare: shared, and one pointer, as there is a place for it on every event.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word(Arc<Box<str>>);

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for Word {
    fn from(text: T) -> Self {
        Self(Arc::new(text.into()))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<str>::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for Word {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

codes! {
    /// Where content came from, when that is not obvious from its type.
    Provenance {
        User = "user", Model = "model", Tool = "tool", RemoteAgent = "remote_agent",
        Memory = "memory", File = "file", Web = "web",
    }

    /// When a message that arrives during a run is heard.
    Delivery { Queue = "queue", Steer = "steer", }

    /// What kind of thing a tool call calls.
    CallType {
        Function = "function", Skill = "skill", SubAgent = "sub_agent",
        MultiAgent = "multi_agent", Mcp = "mcp", Client = "client",
    }

    /// Why a harness ended.
    EndReason {
        Done = "done", MaxIterations = "max_iterations", Budget = "budget",
        Cancelled = "cancelled", Error = "error", Interrupted = "interrupted",
    }

    /// Why a flow ended before its last node.
    StopReason {
        MaxNodeExecutions = "max_node_executions", ExecutionTimeout = "execution_timeout",
        BudgetTokens = "budget_tokens", BudgetCost = "budget_cost", BudgetSteps = "budget_steps",
        BudgetAgents = "budget_agents", Stalled = "stalled", NodeFailed = "node_failed", Cancelled = "cancelled",
        Expression = "expression", TooLarge = "too_large",
    }

    /// What went wrong in a node of a flow.
    ErrorCode {
        Failed = "failed", Timeout = "timeout", Cancelled = "cancelled", Schema = "schema",
        Expression = "expression", Guardrail = "guardrail", InDoubt = "in_doubt",
        BudgetExhausted = "budget_exhausted", Hook = "hook", TooLarge = "too_large",
    }

    /// The state of a flow or of one of its nodes.
    NodeStatus {
        Pending = "PENDING", Executing = "EXECUTING", Completed = "COMPLETED", Failed = "FAILED",
        Cancelled = "CANCELLED", Skipped = "SKIPPED", Interrupted = "INTERRUPTED",
    }

    /// What kind of node of a flow.
    NodeType {
        Function = "function", Command = "command", Tool = "tool", Flow = "flow", Swarm = "swarm",
        Router = "router", Human = "human", Guardrail = "guardrail", Map = "map", Agent = "agent",
    }

    /// Why an edge of a flow is taken.
    EdgeType {
        Static = "static", Conditional = "conditional", Default = "default", Router = "router",
        Reroute = "reroute", Fallback = "fallback",
    }

    /// What is asked of a person.
    RelayKind {
        Permission = "permission", Question = "question",
        Continuation = "continuation", Approval = "approval",
    }

    /// How far a decision of a person reaches.
    Scope { Call = "call", Session = "session", Project = "project", }

    /// How a run is cancelled.
    Mode { Graceful = "graceful", Now = "now", }

    /// Which output of a program.
    StreamName { Stdout = "stdout", Stderr = "stderr", }
}
