//! Guardrails of a file.

use super::format::CHECKS;
use super::node::{count, schema, text};
use super::tree::Tree;
use crate::guard::{Action, Check, Guard, Pattern};

/// The guardrails of a list.
pub(super) fn guards(tree: &Tree) -> Vec<Guard> {
    let guards = tree.items().iter().enumerate();
    guards.map(|(place, tree)| guard(tree).unwrap_or_else(|| nothing(place))).collect()
}

/// In place of one that could not be read, which has been told, so that the others keep their places.
fn nothing(place: usize) -> Guard {
    let check = Check::Length { min: None, max: None };
    Guard { id: format!("unread {place}"), check, action: Action::Block }
}

fn guard(tree: &Tree) -> Option<Guard> {
    if let Some(word) = tree.text() {
        return Some(Guard { id: word.to_owned(), check: plain(word)?, action: Action::Block });
    }
    let (name, value) = tree.members().iter().find(|(name, _)| CHECKS.contains(&name.text.as_str()))?;
    let check = match name.text.as_str() {
        "must_match" => Check::MustMatch(Pattern::parse(value.text()?).ok()?),
        "must_not_match" => Check::MustNotMatch(Pattern::parse(value.text()?).ok()?),
        "schema" => Check::Schema(schema(value)?),
        "length" => {
            let bound = |name| value.get(name).and_then(count).map(|bound| bound as usize);
            Check::Length { min: bound("min"), max: bound("max") }
        }
        other => plain(other)?,
    };
    let action = match tree.get("action").and_then(Tree::text) {
        Some("warn") => Action::Warn,
        Some("sanitize") => Action::Sanitize,
        Some("reroute") => Action::Reroute(tree.get("to").and_then(text)?),
        _ => Action::Block,
    };
    let id = tree.get("id").and_then(text).unwrap_or_else(|| name.text.clone());
    Some(Guard { id, check, action })
}

fn plain(word: &str) -> Option<Check> {
    match word {
        "secrets" => Some(Check::Secrets),
        "personal" => Some(Check::Personal),
        _ => None,
    }
}
