//! [`Origins`]: which of the things an agent saw the arguments of a call came from.
//!
//! In: texts with where they came from. Out: the sources whose words an argument uses. It remembers words that tell
//! something (names of files, addresses, long words) and runs of four ordinary ones, as bits in a table of fixed size
//! for each source: memory is bounded, nothing is ever forgotten, and a table that fills up finds too much rather than
//! too little. What a model encodes or takes apart is not found. Start reading at [`Origins::of`].

use antiphon_event::{Json, Provenance};
use serde_json::Value;

/// How many bits the table of a source has: 256 KiB.
const BITS: u64 = 1 << 21;

/// How many bits stand for a word.
const MARKS: u64 = 4;

/// How many ordinary words in a row tell something.
const RUN: usize = 4;

/// How many letters make a word tell something by itself.
const LETTERS_MIN: usize = 16;

/// How many characters do if some are no letters.
const MIXED_MIN: usize = 5;

/// The longest word that is looked at, in bytes; more is cut.
const WORD_MAX: usize = 1024;

/// What an agent saw, by where it came from.
///
/// ```
/// # use antiphon_agent::permission::Origins;
/// # use antiphon_event::{Json, Provenance};
/// let mut seen = Origins::default();
/// seen.saw(&Provenance::User, "please install the thing");
/// seen.saw(&Provenance::Web, "run: curl https://get.example/install.sh");
/// let input = Json::from(serde_json::json!({"command": "curl -O https://get.example/install.sh"}));
/// assert_eq!(seen.of(&input), [Provenance::Web]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Origins {
    tables: Vec<(Provenance, Vec<u64>)>,
}

impl Origins {
    /// Takes in a text the agent saw. What it wrote itself is not for this.
    pub fn saw(&mut self, from: &Provenance, text: &str) {
        let at = self.tables.iter().position(|(known, _)| known == from).unwrap_or_else(|| {
            self.tables.push((from.clone(), vec![0; (BITS / 64) as usize]));
            self.tables.len() - 1
        });
        let table = &mut self.tables[at].1;
        marks(text, &mut |hash| {
            for (word, bit) in places(hash) {
                table[word] |= bit;
            }
        });
    }

    /// Takes in a value the agent saw: every text in it.
    pub fn saw_value(&mut self, from: &Provenance, value: &Json) {
        texts(&value.value(), &mut |text| self.saw(from, text));
    }

    /// The sources that the texts in these arguments came from, in the order they were first seen; the model itself if
    /// they came from nowhere else.
    pub fn of(&self, input: &Json) -> Vec<Provenance> {
        let mut found = vec![false; self.tables.len()];
        texts(&input.value(), &mut |text| {
            marks(text, &mut |hash| {
                for ((_, table), found) in self.tables.iter().zip(&mut found) {
                    *found |= places(hash).all(|(word, bit)| table[word] & bit != 0);
                }
            });
        });
        let named = self.tables.iter().zip(&found).filter(|(_, found)| **found);
        let sources: Vec<_> = named.map(|((from, _), _)| from.clone()).collect();
        if sources.is_empty() { vec![Provenance::Model] } else { sources }
    }
}

/// Every text in a value.
fn texts(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, each)),
        Value::Object(members) => members.values().for_each(|item| texts(item, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Every mark of a text: words that tell something, their parts, and runs of words.
fn marks(text: &str, each: &mut dyn FnMut(u64)) {
    let is_border = |c: char| c.is_whitespace() || "\"'`<>()[]{}|,;".contains(c);
    let mut run = Vec::with_capacity(RUN);
    for word in text.split(is_border) {
        let word = trimmed(word);
        if word.is_empty() {
            continue;
        }
        let hash = hash_of(word);
        if tells(word) {
            each(hash);
        }
        let is_joint = |c: char| "/=:@?&#\\".contains(c);
        if word.contains(is_joint) {
            word.split(is_joint).map(trimmed).filter(|part| tells(part)).for_each(|part| each(hash_of(part)));
        }
        run.push(hash);
        if run.len() == RUN {
            each(run.iter().fold(RUN as u64, |all, hash| mixed(all ^ hash)));
            run.remove(0);
        }
    }
}

/// A word without the marks of a sentence around it, cut.
fn trimmed(word: &str) -> &str {
    let word = word.trim_matches(|c: char| ".,:;!?*_-\u{2026}".contains(c));
    let end = (0..=WORD_MAX.min(word.len())).rev().find(|end| word.is_char_boundary(*end));
    &word[..end.unwrap_or(0)]
}

/// Whether a word says where it came from.
fn tells(word: &str) -> bool {
    let is_mixed = word.contains(|c: char| !c.is_alphabetic() && c != '-');
    word.chars().count() >= if is_mixed { MIXED_MIN } else { LETTERS_MIN }
}

/// FNV-1a over the letters in lower case: the same on every machine and in every run.
fn hash_of(word: &str) -> u64 {
    let step = |hash: u64, c: char| (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3);
    mixed(word.chars().flat_map(char::to_lowercase).fold(0xcbf2_9ce4_8422_2325, step))
}

/// Spreads the bits of a hash over all of it.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// The places of a hash in a table.
fn places(hash: u64) -> impl Iterator<Item = (usize, u64)> {
    let step = (hash >> 32) | 1;
    (0..MARKS).map(move |n| {
        let bit = hash.wrapping_add(n.wrapping_mul(step)) % BITS;
        ((bit / 64) as usize, 1 << (bit % 64))
    })
}
