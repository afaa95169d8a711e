//! [`Spans`]: what the spans of a run are called.
//!
//! Names of traces and spans follow from names that are in the events anyway, so that nobody has to keep them, a run
//! that goes on in another process goes on in the same spans, and the same events have the same spans wherever they are
//! made. Start reading at [`Spans::of`].

use serde::{Deserialize, Serialize};

use crate::{CallId, EventFlowId, FlowNodeId, RunId, SpanId, TraceId};

/// The spans of a run: its own, and those of what happens in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spans(u64);

impl Spans {
    /// The spans of this run.
    pub fn of(run: &RunId) -> Self {
        Self(text(SEED, run.as_str()))
    }

    /// That of the run itself.
    pub fn own(self) -> SpanId {
        named(self.0)
    }

    /// That of one attempt at a node of the flow.
    pub fn of_node(self, node: &FlowNodeId, execution: u32, attempt: u32) -> SpanId {
        named(number(text(self.0, node.as_str()), u64::from(execution) << 32 | u64::from(attempt)))
    }

    /// That of a model call of the agent: its steps count from 1.
    pub fn of_step(self, step: u32) -> SpanId {
        named(number(self.0, u64::from(step)))
    }

    /// That of running a call.
    pub fn of_call(self, call: &CallId) -> SpanId {
        named(text(self.0, call.as_str()))
    }
}

impl TraceId {
    /// The trace of a turn, which has the digits of the turn where that is a UUID.
    pub fn of(turn: &EventFlowId) -> Self {
        let digits: String = turn.as_str().chars().filter(|letter| *letter != '-').collect();
        if let Some(number) = Self::from(digits).number().filter(|number| *number != [0, 0]) {
            return Self::writing(number);
        }
        let first = text(SEED, turn.as_str());
        Self::writing([scatter(first), scatter(first ^ SEED)])
    }
}

/// What names begin with, and what each step of mixing multiplies by. They never change: what they give is in journals.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a text in, eight bytes at a time, and how long it is.
fn text(state: u64, text: &str) -> u64 {
    let (chunks, rest) = text.as_bytes().as_chunks();
    let whole = chunks.iter().fold(state, |state, chunk| number(state, u64::from_le_bytes(*chunk)));
    // Byte by byte: most names are short, and copying them to where they are eight takes longer.
    let last = rest.iter().rev().fold(0, |last, byte| last << 8 | u64::from(*byte));
    number(if rest.is_empty() { whole } else { number(whole, last) }, text.len() as u64)
}

fn number(state: u64, number: u64) -> u64 {
    let mixed = (state ^ number).wrapping_mul(PRIME);
    (mixed ^ (mixed >> 32)).wrapping_mul(PRIME)
}

/// Lets every bit depend on every other.
fn scatter(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The name of a span: never all zeroes, which means none.
fn named(state: u64) -> SpanId {
    SpanId::writing([scatter(state).max(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_change() {
        let spans = Spans::of(&"run".into());
        let names = [
            spans.own(),
            spans.of_node(&"write".into(), 1, 1),
            spans.of_node(&"write".into(), 2, 1),
            spans.of_node(&"write".into(), 1, 2),
            spans.of_step(1),
            spans.of_call(&"run/call".into()),
        ];
        expect_test::expect![[r#"
            053cb505c7d0e440
            2f380ac598dfa325
            be1226ac8c2f2f03
            70b5ce1497df42f2
            f708f973d98330a9
            ff43d6f8af07e5e1"#]]
        .assert_eq(&names.map(|name| name.to_string()).join("\n"));
    }

    #[test]
    fn a_trace_has_the_digits_of_its_turn() {
        let trace = |turn: &str| TraceId::of(&turn.into()).to_string();
        assert_eq!(trace("01a1bf96-04d2-7414-878b-c2ce7ed4d57b"), "01a1bf9604d27414878bc2ce7ed4d57b");
        expect_test::expect!["6d897fae16101a2d0a8c2cfbd164a9ff"].assert_eq(&trace("a turn of another kind"));
    }
}
