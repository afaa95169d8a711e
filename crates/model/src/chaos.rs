//! What vendors send, mangled: whatever comes, nothing panics and the order of deltas holds.

use antiphon_agent::{Delta, Fault};
use proptest::prelude::*;

use crate::answer::Answer;
use crate::http::Dialect;
use crate::sse::{Parser, TooLong};

/// How a transcript is mangled: lines left out, said again or swapped, and bytes put in place of others.
#[derive(Debug, Clone)]
pub(crate) enum Mangle {
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Byte(prop::sample::Index, u8),
}

/// Any mangling.
pub(crate) fn mangles() -> impl Strategy<Value = Vec<Mangle>> {
    let index = any::<prop::sample::Index>;
    let byte = prop::sample::select(b"{}[]\",:0n\\ \n".to_vec());
    let one = prop_oneof![
        index().prop_map(Mangle::Drop),
        index().prop_map(Mangle::Repeat),
        (index(), index()).prop_map(|(one, two)| Mangle::Swap(one, two)),
        (index(), byte).prop_map(|(at, byte)| Mangle::Byte(at, byte)),
    ];
    prop::collection::vec(one, 0..6)
}

/// Takes a mangled transcript, and checks what came out.
pub(crate) fn check(rows: &[&str], mangles: Vec<Mangle>, mut dialect: impl Dialect) {
    let mut rows: Vec<Vec<u8>> = rows.iter().map(|row| row.as_bytes().to_vec()).collect();
    for mangle in mangles {
        let count = rows.len();
        match mangle {
            Mangle::Drop(at) => drop(rows.remove(at.index(count))),
            Mangle::Repeat(at) => rows.push(rows[at.index(count)].clone()),
            Mangle::Swap(one, two) => rows.swap(one.index(count), two.index(count)),
            Mangle::Byte(at, byte) => {
                let row = at.index(count);
                let place = at.index(rows[row].len());
                rows[row][place] = byte;
            }
        }
    }
    let body: Vec<u8> = rows.iter().flat_map(|row| [b"data: ", &row[..], b"\n\n"].concat()).collect();
    let mut answer = Answer::default();
    if take(&mut dialect, &mut answer, &body).is_ok() && dialect.finish(&mut answer).is_ok() {
        answer.finish(0);
        let deltas: Vec<_> = std::iter::from_fn(|| answer.next()).collect();
        let ranks: Vec<_> = deltas.iter().map(rank).collect();
        assert!(ranks.is_sorted(), "out of order: {deltas:?}");
        assert!(ranks.ends_with(&[2, 3]), "what was used, then why it stopped: {deltas:?}");
        assert_eq!(ranks.iter().filter(|rank| **rank >= 2).count(), 2, "each once: {deltas:?}");
    }
}

fn rank(delta: &Delta) -> u8 {
    match delta {
        Delta::Text(_) | Delta::Reasoning(_) | Delta::Signature(_) => 0,
        Delta::Call { .. } => 1,
        Delta::Usage(_) => 2,
        Delta::Stop(_) => 3,
    }
}

enum Torn {
    Over,
    Fault,
}

impl From<TooLong> for Torn {
    fn from(_: TooLong) -> Self {
        Self::Fault
    }
}

fn take(dialect: &mut impl Dialect, answer: &mut Answer, body: &[u8]) -> Result<(), ()> {
    let mut parser = Parser::new();
    let fed = parser.feed(body, |event| match dialect.event(event, answer) {
        Ok(true) => Err(Torn::Over),
        Ok(false) => Ok(()),
        Err(Fault { .. }) => Err(Torn::Fault),
    });
    match fed {
        Ok(()) | Err(Torn::Over) => Ok(()),
        Err(Torn::Fault) => Err(()),
    }
}
