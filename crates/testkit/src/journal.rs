//! The contract of a journal: what every adapter must pass.
//!
//! In: a way to open a journal by name; opening the same name again is opening what was kept under it. Out: a panic
//! that names the rule that was broken. Start reading at [`conformance`]; each file beside it has the rules of one idea.

mod appending;
mod folding;
mod forking;
mod listing;
mod owning;
mod reading;

use std::sync::Arc;

use antiphon_event::body::content::Text;
use antiphon_event::{Body, Event, Timestamp};
use antiphon_port::{Batch, Branch, Journal};

/// A rule and its name.
type Rule = (&'static str, fn(&Room<'_>));

/// Checks every rule, each in a journal of its own.
///
/// # Panics
/// At the first rule that does not hold.
pub fn conformance(open: &dyn Fn(&str) -> Arc<dyn Journal>) {
    for (name, rule) in
        [appending::RULES, reading::RULES, forking::RULES, folding::RULES, listing::RULES, owning::RULES]
            .concat()
    {
        // Shown only if the rule is broken.
        println!("{name}");
        rule(&Room { name, open });
    }
}

/// Where a rule is checked.
struct Room<'a> {
    name: &'a str,
    open: &'a dyn Fn(&str) -> Arc<dyn Journal>,
}

impl Room<'_> {
    /// The journal of this rule; the same one if it is opened again.
    fn open(&self) -> Arc<dyn Journal> {
        (self.open)(self.name)
    }

    /// The journal with an empty branch.
    fn begin(&self) -> (Arc<dyn Journal>, Branch) {
        let (journal, branch) = (self.open(), Branch::main("s"));
        journal.create(&branch).wait().expect("creates");
        (journal, branch)
    }
}

/// Pieces of text, one for each word, a second apart.
pub fn says(words: &str) -> Batch {
    let event = |(index, word): (usize, &str)| {
        let text = Text { id: "t".into(), content: word.into(), provenance: None };
        let mut event = Event::new("r", Body::Text(text));
        event.head.at = Timestamp::from_millis(1_800_000_000_000 + index as i64 * 1000);
        event
    };
    Batch::new(words.split_whitespace().enumerate().map(event).collect()).expect("no words")
}

/// What a branch says after a position: each word with its position.
pub fn told(journal: &dyn Journal, branch: &Branch, after: u64, limit: usize) -> String {
    let events = journal.read(branch, after, limit).wait().expect("reads");
    events.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(event: &Event) -> String {
    let seq = event.head.seq.expect("a journal gives positions");
    match &event.body {
        Body::Text(text) => format!("{seq}:{}", text.content),
        body => format!("{seq}:<{}>", body.tag()),
    }
}

/// Everything a branch says; it must be whole, too.
fn all(journal: &dyn Journal, branch: &Branch) -> String {
    let head = journal.head(branch).wait().expect("has a head");
    assert_eq!(journal.verify(branch).wait().map(|verdict| verdict.head()), Ok(Some(head)));
    told(journal, branch, 0, usize::MAX)
}
