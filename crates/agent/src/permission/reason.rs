//! Why a call is asked or denied: which part of it, by which rule, from where.

use super::matching::{Decision, Part};
use super::shell::Beyond;
use super::text::shown;
use super::{Action, Ask, Decided, Verdict};

impl Decided<'_> {
    /// What this comes to, with its reason.
    pub(super) fn verdict(&self, ask: &Ask<'_>, part: &Part<'_>) -> Verdict {
        let (tool, part) = (shown(ask.tool), described(part));
        let by = self.by.map(|by| by.name());
        let from = self.because_of(ask);
        match (self.decision, by) {
            (Decision::Says(Action::Allow), _) => Verdict::Allow,
            (Decision::Says(Action::Ask), None) => Verdict::Ask(format!("{tool}: no rule allows {part}")),
            (Decision::Says(Action::Ask), Some(by)) => {
                Verdict::Ask(format!("{tool}: {by} asks about {part}{from}"))
            }
            (Decision::MayDeny, by) => {
                let by = by.unwrap_or_default();
                Verdict::Ask(format!("{tool}: {part} may be what {by} denies{from}"))
            }
            (Decision::Says(Action::Deny), by) => {
                let by = by.unwrap_or_default();
                Verdict::Deny(format!("{tool}: {by} denies {part}{from}"))
            }
        }
    }

    /// The sources that made the rule fit.
    fn because_of(&self, ask: &Ask<'_>) -> String {
        let asking = self.by.map(|by| &by.rule.from).into_iter().flatten();
        let names: Vec<_> =
            asking.filter(|from| ask.sources.contains(from)).map(|from| from.as_str()).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("; its arguments came from {}", names.join(", "))
        }
    }
}

/// A part of a call in words.
fn described(part: &Part<'_>) -> String {
    match part {
        Part::Call => "this call".to_owned(),
        Part::Command { command, is_alone: true } => format!("`{}`", shown(command.text)),
        Part::Command { command, is_alone: false } => {
            format!("`{}` (a part of the line)", shown(command.text))
        }
        Part::Beyond(beyond) => format!("`{}` ({})", shown(beyond.text), beyond.what),
        Part::Hidden(Beyond { what, text }) if text.trim().is_empty() => {
            format!("a line that cannot be read ({what})")
        }
        Part::Hidden(Beyond { what, text }) => {
            format!("a line that cannot be read from `{}` on ({what})", shown(text))
        }
        Part::Path { given, resolved, writes } => {
            let does = if *writes { "writing" } else { "reading" };
            let given = shown(given);
            match resolved {
                Some(path) if shown(path).trim_start_matches('/') == given.trim_start_matches('/') => {
                    format!("{does} `{given}`")
                }
                Some(path) => format!("{does} `{given}` (really `{}`)", shown(path)),
                None => format!("{does} `{given}` (it could not be found)"),
            }
        }
        Part::Url { given, seen: Some(_) } => format!("`{}`", shown(given)),
        Part::Url { given, seen: None } => format!("`{}` (no plain address)", shown(given)),
    }
}
