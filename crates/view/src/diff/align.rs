//! Rows of A beside the rows of B at the same place.

use std::collections::HashMap;
use std::hash::Hash;

use antiphon_event::Json;

use super::Diff;
use super::digest::{Call, Choice, Digest, Key, Message, Work};
use super::path::Paths;
use super::row::{Called, CalledSide, Change, Decided, Kept, Ran, Said, Spending, SpentBy, SpentOn};
use super::text::pieces;
use crate::brief::brief;

pub(super) fn compare(a: &Digest, b: &Digest, paths: &Paths, common: u64) -> Diff {
    let counts = |row: &&Message| !row.is_discarded();
    let said = pairs(a.messages.iter().filter(counts), b.messages.iter().filter(counts), |row| {
        (row.at, row.role, row.position)
    });
    let (calls_a, calls_b) = (a.calls(), b.calls());
    let called = pairs(&calls_a, &calls_b, |(position, row)| (row.at, row.name.clone(), *position));
    let decided = pairs(&a.choices, &b.choices, |row| (row.at, row.kind, row.about.clone(), row.position));
    let ran = pairs(&a.works, &b.works, |row| (row.at, row.node.clone(), row.execution));
    let state = pairs(&a.keys, &b.keys, |row| (row.at, row.name.clone()));
    let mut diff = Diff {
        same: false,
        common,
        said: said.iter().map(|pair| message(pair, paths)).collect(),
        called: called.iter().map(|pair| call(pair, paths)).collect(),
        decided: decided.iter().map(|pair| choice(pair, paths)).collect(),
        ran: ran.iter().map(|pair| work(pair, paths)).collect(),
        spent: spent(a, b),
        state: state.iter().map(|pair| key(pair, paths)).collect(),
    };
    diff.same = diff.said.iter().all(|row| row.change == Change::Equal)
        && diff.called.iter().all(|row| row.change == Change::Equal)
        && diff.decided.iter().all(|row| row.change == Change::Equal)
        && diff.ran.iter().all(|row| row.change == Change::Equal)
        && diff.state.iter().all(|row| row.change == Change::Equal)
        && diff.spent.models.iter().all(|row| row.a == row.b);
    diff
}

/// A row of A, of B, or of both.
enum Pair<'d, T> {
    Both(&'d T, &'d T),
    OnlyA(&'d T),
    OnlyB(&'d T),
}

impl<'d, T> Pair<'d, T> {
    /// The row of A if it is there, else that of B.
    fn either(&self) -> &'d T {
        match self {
            Self::Both(row, _) | Self::OnlyA(row) | Self::OnlyB(row) => row,
        }
    }

    fn a(&self) -> Option<&'d T> {
        match self {
            Self::Both(row, _) | Self::OnlyA(row) => Some(row),
            Self::OnlyB(_) => None,
        }
    }

    fn b(&self) -> Option<&'d T> {
        match self {
            Self::Both(_, row) | Self::OnlyB(row) => Some(row),
            Self::OnlyA(_) => None,
        }
    }

    fn change(&self, equal: impl Fn(&T, &T) -> bool) -> Change {
        match self {
            Self::Both(a, b) if equal(a, b) => Change::Equal,
            Self::Both(..) => Change::Changed,
            Self::OnlyA(_) => Change::OnlyA,
            Self::OnlyB(_) => Change::OnlyB,
        }
    }
}

/// Matches rows by key, in the order of A, with the rows only B has where B has them.
fn pairs<'d, T, K: Hash + Eq>(
    a: impl IntoIterator<Item = &'d T>,
    b: impl IntoIterator<Item = &'d T>,
    key: impl Fn(&T) -> K,
) -> Vec<Pair<'d, T>> {
    let (a, b): (Vec<&T>, Vec<&T>) = (a.into_iter().collect(), b.into_iter().collect());
    let in_a: HashMap<K, usize> = a.iter().enumerate().map(|(index, row)| (key(row), index)).collect();
    let in_b: HashMap<K, usize> = b.iter().enumerate().map(|(index, row)| (key(row), index)).collect();
    let mut only_b =
        b.iter().copied().enumerate().filter(|(_, row)| !in_a.contains_key(&key(row))).peekable();
    let mut pairs = Vec::with_capacity(a.len());
    for row in a {
        let Some(index) = in_b.get(&key(row)) else {
            pairs.push(Pair::OnlyA(row));
            continue;
        };
        while let Some((_, extra)) = only_b.next_if(|(before, _)| before < index) {
            pairs.push(Pair::OnlyB(extra));
        }
        pairs.push(Pair::Both(row, b[*index]));
    }
    pairs.extend(only_b.map(|(_, extra)| Pair::OnlyB(extra)));
    pairs
}

fn message(pair: &Pair<'_, Message>, paths: &Paths) -> Said {
    let row = pair.either();
    let (text_a, text_b) = (pair.a().map(Message::text), pair.b().map(Message::text));
    let change = pair.change(|_, _| text_a == text_b);
    let pieces = match (&text_a, &text_b) {
        (Some(a), Some(b)) if a != b => pieces(a, b),
        _ => Vec::new(),
    };
    Said {
        turn: row.at.turn,
        who: paths.show(row.at.path),
        role: row.role,
        position: row.position,
        change,
        seq_a: pair.a().and_then(|row| row.seq),
        seq_b: pair.b().and_then(|row| row.seq),
        text: brief(&text_a.or(text_b).unwrap_or_default()),
        pieces,
    }
}

fn call(pair: &Pair<'_, (u32, &Call)>, paths: &Paths) -> Called {
    let (position, row) = *pair.either();
    let change = pair.change(|(_, a), (_, b)| {
        equal(&a.input, &b.input) && all_equal(a.output.as_ref(), b.output.as_ref()) && a.failed == b.failed
    });
    let side = |row: Option<&Call>| {
        row.filter(|_| change != Change::Equal).map(|row| CalledSide {
            seq: row.seq,
            input: row.input.clone(),
            output: row.output.clone(),
            failed: row.failed,
        })
    };
    Called {
        turn: row.at.turn,
        who: paths.show(row.at.path),
        name: row.name.clone(),
        position,
        change,
        text: brief(&row.input.to_text()),
        a: side(pair.a().map(|(_, row)| *row)),
        b: side(pair.b().map(|(_, row)| *row)),
    }
}

fn choice(pair: &Pair<'_, Choice>, paths: &Paths) -> Decided {
    let row = pair.either();
    Decided {
        turn: row.at.turn,
        who: paths.show(row.at.path),
        kind: row.kind,
        about: row.about.clone(),
        position: row.position,
        change: pair.change(|a, b| a.answer == b.answer),
        a: pair.a().map(|row| row.answer.clone()),
        b: pair.b().map(|row| row.answer.clone()),
    }
}

fn work(pair: &Pair<'_, Work>, paths: &Paths) -> Ran {
    let row = pair.either();
    let differs = !all_equal(
        pair.a().and_then(|row| row.output.as_ref()),
        pair.b().and_then(|row| row.output.as_ref()),
    );
    let output = |row: Option<&Work>| row.filter(|_| differs).and_then(|row| row.output.clone());
    Ran {
        turn: row.at.turn,
        who: paths.show(row.at.path),
        node: row.node.as_ref().map(ToString::to_string),
        execution: row.node.is_some().then_some(row.execution),
        change: pair.change(|a, b| a.status == b.status && !differs),
        a: pair.a().map(|row| row.status.clone()),
        b: pair.b().map(|row| row.status.clone()),
        output_a: output(pair.a()),
        output_b: output(pair.b()),
    }
}

fn key(pair: &Pair<'_, Key>, paths: &Paths) -> Kept {
    let row = pair.either();
    let change = pair.change(|a, b| {
        a.writes.len() == b.writes.len()
            && a.writes.iter().zip(&b.writes).all(|(a, b)| a.by == b.by && equal(&a.value, &b.value))
    });
    let writes = |row: Option<&Key>| row.map(|row| row.writes.clone()).unwrap_or_default();
    Kept {
        turn: row.at.turn,
        who: paths.show(row.at.path),
        key: row.name.clone(),
        change,
        a: writes(pair.a()),
        b: writes(pair.b()),
    }
}

fn spent(a: &Digest, b: &Digest) -> SpentBy {
    let total =
        |digest: &Digest| digest.models.values().fold(Spending::default(), |sum, model| sum.plus(*model));
    let mut models: Vec<&String> = a.models.keys().chain(b.models.keys()).collect();
    models.sort_unstable();
    models.dedup();
    let of = |digest: &Digest, model: &String| digest.models.get(model).copied().unwrap_or_default();
    let models = models.into_iter();
    let models = models.map(|model| SpentOn { model: model.clone(), a: of(a, model), b: of(b, model) });
    SpentBy { a: total(a), b: total(b), models: models.collect() }
}

/// Whether two values are the same; white space and the order of members mean nothing.
fn equal(a: &Json, b: &Json) -> bool {
    a == b || a.value() == b.value()
}

fn all_equal(a: Option<&Json>, b: Option<&Json>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => equal(a, b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
