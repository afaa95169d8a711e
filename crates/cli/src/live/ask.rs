//! What a run asks people: shown, decided on the command line or at the terminal, listed when nobody is there.

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Json, RelayId, RelayKind, Scope};
use antiphon_flow::consent;
use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::args::flows::Answers;
use crate::chat::consent::may_last;
use crate::output::{complain, notice};
use crate::render::{Ink, Line, Page, paint, unit};
use crate::request::{self, IN_TIME, OVER, RUN, TIMEOUT, verdict};
use crate::standing::{Asked, Standing};
use crate::value::typed;

/// Who answers here.
pub(crate) const BY: &str = "user";
/// How much of a request is shown on however small a terminal.
pub(crate) const LINES_MIN: usize = 6;
/// The answer that needs an output besides.
const TAKE_AS_DONE: &str = "take as done";

/// A decision on the command line.
#[derive(Debug, Clone)]
enum Said {
    Yes,
    No,
    Answer(String),
    /// Only the output to go on with.
    Output,
}

/// What was decided on the command line, until it is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decisions {
    open: Vec<(String, Said)>,
    always: Option<Scope>,
    reason: Option<String>,
    inputs: Vec<(String, Json)>,
    /// What was given, until it is read what became of it.
    given: Vec<RelayResolved>,
    /// Whether somebody else had decided what was decided here.
    is_refused: bool,
    /// Why the last one that fits nothing does not.
    why: Option<String>,
}

impl Decisions {
    /// Takes decisions from the command line.
    pub(crate) fn new(answers: Answers) -> Result<Self> {
        let Answers { approve, always, deny, reason, answer, input_for } = answers;
        let mut open: Vec<(String, Said)> = approve.into_iter().map(|id| (id, Said::Yes)).collect();
        open.extend(deny.into_iter().map(|id| (id, Said::No)));
        open.extend(answer.into_iter().map(|(id, text)| (id, Said::Answer(text))));
        let mut inputs = Vec::new();
        for (id, json) in input_for {
            let value: Value =
                serde_json::from_str(&json).with_context(|| format!("the input for {id} is no JSON"))?;
            if !open.iter().any(|(decided, _)| *decided == id) {
                open.push((id.clone(), Said::Output));
            }
            inputs.push((id, Json::from(value)));
        }
        Ok(Self { open, always: always.map(Scope::from), reason, inputs, ..Self::default() })
    }

    /// Answers that were left for whoever goes on.
    pub(crate) fn left(given: Vec<RelayResolved>) -> Self {
        Self { given, ..Self::default() }
    }

    /// Those that what is asked now was waiting for; each is given once.
    pub(crate) fn ready(&mut self, standing: &Standing) -> Result<Vec<RelayResolved>> {
        let mut ready: Vec<RelayResolved> = Vec::new();
        for (id, said) in std::mem::take(&mut self.open) {
            match standing.find(&id) {
                Ok(asked) if ready.iter().all(|ready| ready.relay_id != asked.relay.id) => {
                    let said = understood(asked, said);
                    let input = self
                        .inputs
                        .iter()
                        .find(|(decided, _)| *decided == id)
                        .map(|(_, input)| input.clone());
                    ready.push(RelayResolved {
                        input,
                        scope: self.scope(asked, &said)?,
                        ..resolved(asked, &said, self.reason.clone())
                    });
                }
                Ok(asked) => bail!("{} was decided twice", asked.relay.id),
                Err(why) => {
                    self.why = Some(why.to_string());
                    self.open.push((id, said));
                }
            }
        }
        self.given.extend(ready.iter().cloned());
        Ok(ready)
    }

    /// A request was answered: if not with what was decided about it here, that came too late.
    pub(crate) fn resolved(&mut self, resolved: &RelayResolved, standing: &Standing) {
        let given = self.given.iter().position(|given| given.relay_id == resolved.relay_id);
        let given = given.map(|at| self.given.remove(at));
        if given.as_ref().is_some_and(|given| is_taken(given, resolved)) {
            return;
        }
        let about = |id: &str| standing.find(id).is_ok_and(|asked| asked.relay.id == resolved.relay_id);
        let open = self.open.len();
        self.open.retain(|(id, _)| !about(id));
        if given.is_some() || self.open.len() < open {
            let told = late(&resolved.relay_id, &instead(resolved));
            if [TIMEOUT, RUN].contains(&resolved.by.as_str()) {
                return notice(&told);
            }
            self.is_refused = true;
            complain(&told);
        }
    }

    /// Says which answers were given and nobody took: what they were to had gone by then.
    pub(crate) fn lament(&mut self) {
        for given in self.given.drain(..) {
            notice(&late(&given.relay_id, OVER));
        }
    }

    /// How far a yes reaches, if that was said.
    fn scope(&self, asked: &Asked, said: &Said) -> Result<Option<Scope>> {
        let Some(scope) = self.always.clone().filter(|_| matches!(said, Said::Yes)) else { return Ok(None) };
        if asked.relay.kind != RelayKind::Permission {
            bail!("{} is asked once: only a permission can be given for longer (--always)", asked.relay.id);
        }
        if scope != Scope::Call && !may_last(&asked.relay) {
            bail!(
                "{} can be allowed for this call only: no rule can be made of it (--always)",
                asked.relay.id
            );
        }
        Ok(Some(scope))
    }

    /// Whether everything that was decided was asked for.
    pub(crate) fn is_used_up(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether somebody else had decided what was decided here.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Says what was decided and never asked for.
    pub(crate) fn complain(&self) {
        if let (false, Some(why)) = (self.open.is_empty(), &self.why) {
            notice(&format!("error: {why}"));
        }
    }

    /// Whether something that was decided here had been decided before.
    pub(crate) fn is_late(&self, standing: &Standing) -> bool {
        self.open.iter().any(|(id, _)| standing.decided(id).is_some())
    }

    /// Why a decision fits nothing that is asked.
    pub(crate) fn why(&self) -> &str {
        self.why.as_deref().unwrap_or("nothing is asked")
    }
}

/// That an answer was not taken.
pub(crate) fn late(relay: &RelayId, why: &str) -> String {
    format!("the answer to {relay} came too late: {why}")
}

/// What was decided instead.
pub(crate) fn instead(resolved: &RelayResolved) -> String {
    match resolved.by.as_str() {
        TIMEOUT => IN_TIME.to_owned(),
        RUN => OVER.to_owned(),
        _ => format!("it was {}", verdict(resolved)),
    }
}

/// Whether what was decided is what was given; a run may put a yes or no into its own words besides.
pub(crate) fn is_taken(given: &RelayResolved, resolved: &RelayResolved) -> bool {
    let answer = given.answer.as_ref().or(resolved.answer.as_ref()).cloned();
    *resolved == RelayResolved { answer, ..given.clone() }
}

/// What a decision comes to for what is asked: where that is yes or no, a word for either is one; the output of work that
/// may have been done takes it as done.
fn understood(asked: &Asked, said: Said) -> Said {
    let may_be_done = || asked.relay.options.iter().flatten().any(|option| option == TAKE_AS_DONE);
    match &said {
        Said::Answer(text) if consent::is_asked(&asked.relay) => match consent::said(text) {
            Some(true) => Said::Yes,
            Some(false) => Said::No,
            None => said,
        },
        Said::Output if may_be_done() => Said::Answer(TAKE_AS_DONE.to_owned()),
        _ => said,
    }
}

fn resolved(asked: &Asked, said: &Said, reason: Option<String>) -> RelayResolved {
    let (approved, answer) = match said {
        Said::Yes => (Some(true), None),
        Said::No => (Some(false), None),
        Said::Answer(text) => (None, Some(value(asked, text))),
        Said::Output => (None, None),
    };
    let reason = reason.filter(|_| matches!(said, Said::No));
    RelayResolved {
        relay_id: asked.relay.id.clone(),
        approved,
        answer,
        input: None,
        scope: None,
        reason,
        by: BY.to_owned(),
    }
}

/// The value that an answer's text stands for.
fn value(asked: &Asked, text: &str) -> Json {
    let schema = asked.relay.schema.as_ref().map(Json::value);
    match schema {
        Some(schema) => typed(text, Some(&schema)),
        None => Json::from(Value::String(text.to_owned())),
    }
}

/// Something that is asked at the terminal.
pub(super) struct Question {
    /// What.
    pub(super) asked: Asked,
    /// Whether there was no room for all of it.
    is_cut: bool,
    /// An answer that needs an output besides.
    chosen: Option<String>,
}

impl Question {
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked, is_cut: false, chosen: None }
    }

    /// The question on so many rows of a terminal, with the prompt for the answer.
    pub(super) fn text(&mut self, page: Page, rows: usize) -> String {
        let (options, width) = (self.options(page.width), page.width.saturating_sub(2));
        let room = rows.saturating_sub(options.len() + 2).max(LINES_MIN);
        let told = request::told(&self.asked.who(), &self.asked.relay, width);
        let (told, is_cut) = request::fitted(told, room, "v shows them");
        self.is_cut = is_cut;
        self.shown(told, options, page)
    }

    /// All of it, if that was asked for and was not there before.
    pub(super) fn whole(&mut self, line: &str, page: Page) -> Option<String> {
        if !(self.is_cut && line.trim().eq_ignore_ascii_case("v")) {
            return None;
        }
        self.is_cut = false;
        let told = request::told(&self.asked.who(), &self.asked.relay, page.width.saturating_sub(2));
        Some(self.shown(told, self.options(page.width), page))
    }

    fn shown(&self, told: Vec<Line>, options: Vec<Line>, page: Page) -> String {
        let marks = std::iter::once("? ").chain(std::iter::repeat("  "));
        let told = marks.zip(told).map(|(mark, line)| Line::new().ink(Ink::Waiting, mark).join(line));
        paint(&told.chain(options).collect::<Vec<_>>(), page.palette) + &self.prompt()
    }

    fn options(&self, width: usize) -> Vec<Line> {
        let options = self.asked.relay.options.iter().flatten().enumerate();
        let option = |(at, option): (usize, &String)| {
            Line::new().plain(format!("  {}) {}", at + 1, unit::one_line(option))).wrap(width)
        };
        options.flat_map(option).collect()
    }

    /// What stands before the answer.
    pub(super) fn prompt(&self) -> String {
        let relay = &self.asked.relay;
        match (&self.chosen, &relay.options) {
            (Some(_), _) => "  output, as JSON or text (empty for none): ".to_owned(),
            (None, Some(options)) => format!("  1-{}: ", options.len()),
            (None, None) if consent::is_asked(relay) => "  yes or no, and why (y/n …): ".to_owned(),
            (None, None) => "  answer: ".to_owned(),
        }
    }

    /// What a typed line decides; nothing if more has to be said.
    pub(super) fn hear(&mut self, line: &str) -> Result<Option<RelayResolved>, String> {
        let line = line.trim();
        if let Some(chosen) = self.chosen.take() {
            let input = (!line.is_empty()).then(|| typed(line, Some(&Value::Bool(true))));
            let answer = resolved(&self.asked, &Said::Answer(chosen), None);
            return Ok(Some(RelayResolved { input, ..answer }));
        }
        if line.is_empty() {
            return Ok(None);
        }
        if let Some(options) = &self.asked.relay.options {
            let nth = line.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?));
            let option = nth.or_else(|| options.iter().find(|option| option.eq_ignore_ascii_case(line)));
            let option = option.ok_or_else(|| format!("answer with one of: {}", options.join(", ")))?.clone();
            if option == TAKE_AS_DONE {
                self.chosen = Some(option);
                return Ok(None);
            }
            return Ok(Some(resolved(&self.asked, &Said::Answer(option), None)));
        }
        if !consent::is_asked(&self.asked.relay) {
            return Ok(Some(resolved(&self.asked, &Said::Answer(line.to_owned()), None)));
        }
        let (word, why) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let said = match consent::said(word) {
            Some(true) => Said::Yes,
            Some(false) => Said::No,
            None => return Err("answer with yes or no".to_owned()),
        };
        let reason = (!why.trim().is_empty()).then(|| why.trim().to_owned());
        Ok(Some(resolved(&self.asked, &said, reason)))
    }
}

#[cfg(test)]
mod tests {
    use antiphon_event::body::request::Relay;
    use serde_json::json;

    use super::*;

    fn asked(relay: Value) -> Asked {
        let mut all = json!({"id": "r/gate:1:1:human", "kind": "approval"});
        all.as_object_mut().expect("an object").extend(relay.as_object().expect("an object").clone());
        let relay: Relay = serde_json::from_value(all).expect("a relay");
        Asked { run: None, node: "gate".to_owned(), relay }
    }

    fn heard(relay: Value, lines: &[&str]) -> String {
        let mut question = Question::new(asked(relay));
        let mut told = String::new();
        for line in lines {
            told = match question.hear(line) {
                Ok(Some(said)) => serde_json::to_string(&said)
                    .expect("JSON")
                    .replace("\"relayId\":\"r/gate:1:1:human\",", ""),
                Ok(None) => "more".to_owned(),
                Err(why) => why,
            };
        }
        told
    }

    #[test]
    fn what_is_typed_becomes_a_decision_or_is_asked_again() {
        let options = json!({"options": ["red", "take as done"]});
        for (relay, lines, told) in [
            (json!({}), &["y"][..], r#"{"approved":true,"by":"user"}"#),
            (json!({}), &["TRUE"], r#"{"approved":true,"by":"user"}"#),
            (json!({}), &["reject not yet"], r#"{"approved":false,"by":"user"}"#),
            (json!({}), &["No, not yet"], "answer with yes or no"),
            (json!({}), &["no not yet"], r#"{"approved":false,"by":"user"}"#),
            (json!({}), &[" "], "more"),
            (options.clone(), &["1"], r#"{"answer":"red","by":"user"}"#),
            (options.clone(), &["RED"], r#"{"answer":"red","by":"user"}"#),
            (options.clone(), &["3"], "answer with one of: red, take as done"),
            (options, &["2", "{\"a\":1}"], r#"{"answer":"take as done","input":{"a":1},"by":"user"}"#),
            (json!({"schema": {"type": "integer"}}), &["7"], r#"{"answer":7,"by":"user"}"#),
            (json!({"kind": "question"}), &["no idea"], r#"{"answer":"no idea","by":"user"}"#),
        ] {
            let reasoned = heard(relay, lines).replace("\"reason\":\"not yet\",", "");
            assert_eq!(reasoned, told, "{lines:?}");
        }
    }
}
