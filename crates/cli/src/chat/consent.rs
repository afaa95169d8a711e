//! [`Consent`]: something a person is asked during a turn, and which key says what.
//!
//! In: a request, keys. Out: the question as text, the answer. No terminal here. Start reading at [`Consent::press`].

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Json, RelayKind, Scope};
use serde_json::Value;

use crate::live::ask::{BY, LINES_MIN};
use crate::render::{Ink, Line, Page, unit};
use crate::request::{by_name, fitted, told};
use crate::standing::Asked;

/// As many options as there are keys for.
const KEYS_MAX: usize = 9;

/// Something a person is asked.
pub(super) struct Consent {
    /// What.
    pub(super) asked: Asked,
    /// The agent that asks, if it is one that was called.
    pub(super) who: Option<String>,
}

/// What a key means.
pub(super) enum Pressed {
    /// An answer, and what to say about it.
    Answer(RelayResolved, String),
    /// No; why is asked next.
    No,
    /// An answer in words is asked next.
    Words,
    /// All of the arguments are to be shown.
    View,
    /// Nothing.
    Nothing,
}

impl Consent {
    /// The question on so many rows, if there is a key that shows the rest of it, or all of it with every argument by its
    /// name; and the keys that answer it.
    pub(super) fn lines(&self, page: Page, rows: Option<usize>) -> Vec<Line> {
        let width = page.width.saturating_sub(2);
        let who = self.who.as_ref().map(|who| format!("{who}: ")).unwrap_or_default();
        let who = Line::new().ink(Ink::Agent, who);
        let options = self.asked.relay.options.iter().flatten().enumerate();
        let options = options.flat_map(|(at, option)| {
            let key = if at < KEYS_MAX { (at + 1).to_string() } else { "·".to_owned() };
            Line::new().plain(format!("{key} {}", unit::one_line(option))).wrap(width)
        });
        let below: Vec<Line> = options.chain(self.keys().wrap(width)).collect();
        let told = match rows.filter(|_| self.can_be_viewed()) {
            Some(rows) => {
                let room = rows.saturating_sub(below.len() + 1).max(LINES_MIN);
                fitted(told(&who, &self.asked.relay, width), room, "v shows them").0
            }
            None => by_name(&who, &self.asked.relay, width),
        };
        let marks = std::iter::once("? ").chain(std::iter::repeat("  "));
        let lines = marks.zip(told.into_iter().chain(below));
        lines.map(|(mark, line)| Line::new().ink(Ink::Waiting, mark).join(line)).collect()
    }

    /// The keys there are.
    fn keys(&self) -> Line {
        let mut keys: Vec<(String, &str)> = Vec::new();
        let options = self.options().len();
        if options > 0 {
            keys.push((if options == 1 { "1".to_owned() } else { format!("1-{options}") }, "choose"));
        }
        if self.is_in_words() {
            keys.push(("a".to_owned(), "answer in words"));
        }
        if options == 0 && !self.is_in_words() {
            keys.push(("y".to_owned(), "yes"));
            if self.may_last() {
                keys.push(("s".to_owned(), "for this session"));
                keys.push(("p".to_owned(), "for this project"));
            }
        }
        keys.push(("n".to_owned(), "no"));
        if self.can_be_viewed() {
            keys.push(("v".to_owned(), "view all"));
        }
        let keys = keys.into_iter().enumerate();
        keys.fold(Line::new(), |line, (at, (key, means))| {
            let line = if at > 0 { line.ink(Ink::Faint, " · ") } else { line };
            line.ink(Ink::Strong, key).ink(Ink::Faint, format!(" {means}"))
        })
    }

    /// What a key means.
    pub(super) fn press(&self, key: char) -> Pressed {
        let options = self.options();
        if let Some(option) = key.to_digit(10).and_then(|digit| options.get((digit as usize).checked_sub(1)?))
        {
            return Pressed::Answer(self.answer(option), option.clone());
        }
        let is_plain = options.is_empty() && !self.is_in_words();
        let may_last = self.may_last();
        match key.to_ascii_lowercase() {
            'y' if is_plain => Pressed::Answer(self.yes(Scope::Call), "yes".to_owned()),
            's' if may_last => Pressed::Answer(self.yes(Scope::Session), "yes, for this session".to_owned()),
            'p' if may_last => Pressed::Answer(self.yes(Scope::Project), "yes, for this project".to_owned()),
            'a' if self.is_in_words() => Pressed::Words,
            'n' => Pressed::No,
            'v' if self.can_be_viewed() => Pressed::View,
            _ => Pressed::Nothing,
        }
    }

    /// Whether there is a key that shows all of it.
    fn can_be_viewed(&self) -> bool {
        self.asked.relay.params.is_some() && !self.is_only_in_words()
    }

    /// Whether a yes can hold for longer than this call.
    fn may_last(&self) -> bool {
        may_last(&self.asked.relay)
    }

    /// Whether an answer is typed: any words where there is nothing to choose from, else an option that has no key.
    fn is_in_words(&self) -> bool {
        let options = self.asked.relay.options.as_deref().unwrap_or_default().len();
        wants_words(&self.asked.relay) && (options == 0 || options > KEYS_MAX)
    }

    /// Whether words are the only answer, so that no key needs to be waited for.
    pub(super) fn is_only_in_words(&self) -> bool {
        self.is_in_words() && self.options().is_empty()
    }

    fn options(&self) -> &[String] {
        let options = self.asked.relay.options.as_deref().unwrap_or_default();
        &options[..options.len().min(KEYS_MAX)]
    }

    fn yes(&self, scope: Scope) -> RelayResolved {
        let scope = (self.asked.relay.kind == RelayKind::Permission).then_some(scope);
        RelayResolved { approved: Some(true), scope, ..self.blank() }
    }

    /// No, and perhaps why.
    pub(super) fn no(&self, why: &str) -> RelayResolved {
        let reason = (!why.trim().is_empty()).then(|| why.trim().to_owned());
        RelayResolved { approved: Some(false), reason, ..self.blank() }
    }

    /// An answer in words.
    pub(super) fn answer(&self, words: &str) -> RelayResolved {
        let schema = self.asked.relay.schema.as_ref().map(Json::value);
        let answer = match schema {
            Some(schema) => crate::value::typed(words, Some(&schema)),
            None => Json::from(Value::from(words)),
        };
        RelayResolved { answer: Some(answer), ..self.blank() }
    }

    fn blank(&self) -> RelayResolved {
        RelayResolved {
            relay_id: self.asked.relay.id.clone(),
            approved: None,
            answer: None,
            input: None,
            scope: None,
            reason: None,
            by: BY.to_owned(),
        }
    }
}

/// Whether a yes can hold for longer than the call it is about.
pub(crate) fn may_last(relay: &Relay) -> bool {
    let reaches_further = |scopes: &Vec<Scope>| scopes.iter().any(|scope| *scope != Scope::Call);
    relay.kind == RelayKind::Permission && relay.scopes.as_ref().is_none_or(reaches_further)
}

/// Whether more is asked than yes or no.
pub(super) fn wants_words(relay: &Relay) -> bool {
    relay.kind == RelayKind::Question || relay.schema.is_some()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::render::{Palette, paint};

    /// Shows a question, then what each key does.
    fn check(relay: Value, keys: &str, expected: Expect) {
        let mut all = json!({"id": "r"});
        all.as_object_mut().expect("an object").extend(relay.as_object().expect("an object").clone());
        let relay: Relay = serde_json::from_value(all).expect("a relay");
        let consent = Consent { asked: Asked { run: None, node: String::new(), relay }, who: None };
        let mut told =
            paint(&consent.lines(Page { width: 60, palette: Palette::Plain }, Some(24)), Palette::Plain);
        for key in keys.chars() {
            let means = match consent.press(key) {
                Pressed::Answer(resolved, _) => serde_json::to_string(&resolved).expect("JSON"),
                Pressed::No => "why not?".to_owned(),
                Pressed::Words => "in words".to_owned(),
                Pressed::View => "all of it".to_owned(),
                Pressed::Nothing => "nothing".to_owned(),
            };
            let means = means.replace("\"relayId\":\"r\",", "").replace(",\"by\":\"user\"", "");
            told.extend([key.to_string(), ": ".to_owned(), means, "\n".to_owned()]);
        }
        expected.assert_eq(&told);
    }

    #[test]
    fn what_no_rule_can_be_made_of_is_allowed_once() {
        check(
            json!({"kind": "permission", "tool": "bash", "params": {"command": "a > b"}, "scopes": ["call"]}),
            "ysp",
            expect![[r#"
                ? bash a > b
                  y yes · n no · v view all
                y: {"approved":true,"scope":"call"}
                s: nothing
                p: nothing
            "#]],
        );
    }

    #[test]
    fn one_key_decides_about_a_tool() {
        check(
            json!({"kind": "permission", "tool": "bash", "params": {"command": "git push"}, "prompt": "no rule fits"}),
            "yYspnva1",
            expect![[r#"
                ? bash git push
                  no rule fits
                  y yes · s for this session · p for this project · n no · v
                   view all
                y: {"approved":true,"scope":"call"}
                Y: {"approved":true,"scope":"call"}
                s: {"approved":true,"scope":"session"}
                p: {"approved":true,"scope":"project"}
                n: why not?
                v: all of it
                a: nothing
                1: nothing
            "#]],
        );
    }

    #[test]
    fn a_question_with_options_is_answered_by_one_of_them() {
        check(
            json!({"kind": "question", "prompt": "Which colour?", "options": ["red", "blue"]}),
            "12a3yn",
            expect![[r#"
                ? Which colour?
                  1 red
                  2 blue
                  1-2 choose · n no
                1: {"answer":"red"}
                2: {"answer":"blue"}
                a: nothing
                3: nothing
                y: nothing
                n: why not?
            "#]],
        );
    }
}
