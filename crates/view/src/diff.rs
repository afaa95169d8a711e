//! What differs between two histories: what was said, called, decided, run, spent and kept.
//!
//! In: two streams of events, or two parts of one. Out: a [`Diff`], row by row. Rows are matched by their place in the
//! structure, never by id, as ids differ from run to run: messages by turn, speaker, role and position, calls by
//! name and order, nodes by name and execution. Start reading at [`diff`].

mod align;
mod digest;
mod part;
mod path;
mod row;
mod text;

use antiphon_event::Event;
use serde::Serialize;

pub use part::Part;
pub use row::{
    Called, CalledSide, Change, Contribution, Decided, Decision, Kept, Ran, Role, Said, Spending, SpentBy,
    SpentOn,
};
pub use text::{Op, Piece};

use digest::Digest;
use path::Paths;

/// How two histories, A and B, differ. Rows that are equal are listed too, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Whether nothing differs but ids and times.
    pub same: bool,
    /// How many events at the beginning are identical: the shared part of a fork.
    pub common: u64,
    /// What was said, message by message.
    pub said: Vec<Said>,
    /// Which tools were called, with what, and what came back.
    pub called: Vec<Called>,
    /// What people, routers and guardrails decided.
    pub decided: Vec<Decided>,
    /// Which runs and nodes ran, and how they ended.
    pub ran: Vec<Ran>,
    /// What model calls cost.
    pub spent: SpentBy,
    /// What was written to the state of flows.
    pub state: Vec<Kept>,
}

/// Compares two histories. Costs what they are long; identical beginnings are read once.
///
/// ```
/// use antiphon_testkit::history;
/// use antiphon_view::diff::{Change, diff};
///
/// let a = history("u1 user hello\na1^u1:user text t1 \"good morning\"");
/// let b = history("u7 user hello\na9^u7:user text t5 \"good evening\"");
/// let diff = diff(&a, &b);
/// assert_eq!(diff.said[0].change, Change::Equal);
/// assert_eq!(diff.said[1].change, Change::Changed);
/// ```
pub fn diff<'e>(a: impl IntoIterator<Item = &'e Event>, b: impl IntoIterator<Item = &'e Event>) -> Diff {
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    let mut paths = Paths::default();
    let mut of_a = Digest::default();
    let mut common = 0;
    while let (Some(event), Some(other)) = (a.peek(), b.peek())
        && event == other
    {
        of_a.take(event, &mut paths);
        common += 1;
        a.next();
        b.next();
    }
    let mut of_b = of_a.clone();
    a.for_each(|event| of_a.take(event, &mut paths));
    b.for_each(|event| of_b.take(event, &mut paths));
    align::compare(&of_a, &of_b, &paths, common)
}
