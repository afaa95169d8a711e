//! A [`Rule`] as text: the long form, the short form, and the file that holds many.
//!
//! In: YAML or JSON by way of serde. Out: checked rules, or what is wrong and what to write instead. Start reading at
//! [`Long`].

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use antiphon_event::Provenance;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::text::shown;
use super::{Action, Rule, RuleError};

/// A file with rules, a project's or a person's own: `{permissions: […]}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The rules, the first that fits first.
    #[serde(default)]
    pub permissions: Vec<Rule>,
}

/// The long form.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Long {
    #[serde(skip_serializing_if = "Option::is_none")]
    allow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<OneOrMany<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<OneOrMany<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<OneOrMany<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<OneOrMany<Provenance>>,
}

/// One, or a list.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn of(mut list: Vec<T>) -> Option<Self> {
        match list.len() {
            0 => None,
            1 => list.pop().map(Self::One),
            _ => Some(Self::Many(list)),
        }
    }

    fn list(this: Option<Self>, name: &str) -> Result<Vec<T>, String> {
        match this {
            None => Ok(Vec::new()),
            Some(Self::One(one)) => Ok(vec![one]),
            Some(Self::Many(many)) if many.is_empty() => {
                Err(format!("`{name}` is empty and fits nothing: leave it out, or name something"))
            }
            Some(Self::Many(many)) => Ok(many),
        }
    }
}

impl TryFrom<Long> for Rule {
    type Error = RuleError;

    fn try_from(long: Long) -> Result<Self, RuleError> {
        let said = [(Action::Allow, &long.allow), (Action::Ask, &long.ask), (Action::Deny, &long.deny)];
        let said: Vec<_> =
            said.into_iter().filter_map(|(action, tool)| Some((action, tool.as_deref()?))).collect();
        let [(action, tool)] = said[..] else {
            let why = "write exactly one of `allow`, `ask` and `deny`, with the tool: `{allow: read}`";
            return Err(RuleError { rule: "{…}".to_owned(), why: why.to_owned() });
        };
        let rule = Rule::new(action, tool);
        let name = rule.to_string();
        long.fill(rule).map_err(|why| RuleError { rule: name, why }).and_then(checked)
    }
}

impl Long {
    fn fill(self, rule: Rule) -> Result<Rule, String> {
        Ok(Rule {
            command: OneOrMany::list(self.command, "command")?,
            path: OneOrMany::list(self.path, "path")?,
            url: OneOrMany::list(self.url, "url")?,
            input: match self.input {
                Some(input) if input.is_empty() => return Err("`input` is empty: leave it out".to_owned()),
                input => input.unwrap_or_default(),
            },
            from: OneOrMany::list(self.from, "from")?,
            ..rule
        })
    }
}

fn checked(rule: Rule) -> Result<Rule, RuleError> {
    rule.check().map(|()| rule)
}

/// What the pattern of a short rule is about, by tool.
const SHORT: &[(&str, &[&str])] =
    &[("command", &["bash", "exec"]), ("path", &["read", "write", "patch", "search"]), ("url", &["fetch"])];

impl FromStr for Rule {
    type Err = RuleError;

    /// Reads `allow read`, or with a pattern for what the tool touches `allow bash: git status`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |why: &str| RuleError { rule: format!("`{}`", shown(text)), why: why.to_owned() };
        let form = "write `allow read`, `deny write: /etc/**`, or the long form";
        let (action, rest) = text.trim().split_once(' ').ok_or_else(|| wrong(form))?;
        let action =
            Action::ALL.into_iter().find(|known| known.name() == action).ok_or_else(|| wrong(form))?;
        let (tool, pattern) = match rest.split_once(": ") {
            Some((tool, pattern)) => (tool.trim(), Some(pattern.trim().to_owned())),
            None => (rest.trim(), None),
        };
        if tool.is_empty() || tool.ends_with(':') || tool.contains(char::is_whitespace) {
            return Err(wrong(form));
        }
        let mut rule = Rule::new(action, tool);
        let about = SHORT.iter().find(|(_, tools)| tools.contains(&tool)).map(|(about, _)| *about);
        match (pattern, about) {
            (None, _) => {}
            (Some(pattern), Some("command")) => rule.command.push(pattern),
            (Some(pattern), Some("path")) => rule.path.push(pattern),
            (Some(pattern), Some(_)) => rule.url.push(pattern),
            (Some(_), None) => {
                return Err(wrong("say what the pattern is about: `{allow: tool, path: …}`"));
            }
        }
        checked(rule)
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let said = |action| (self.action == action).then(|| self.tool.clone());
        Long {
            allow: said(Action::Allow),
            ask: said(Action::Ask),
            deny: said(Action::Deny),
            command: OneOrMany::of(self.command.clone()),
            path: OneOrMany::of(self.path.clone()),
            url: OneOrMany::of(self.url.clone()),
            input: (!self.input.is_empty()).then(|| self.input.clone()),
            from: OneOrMany::of(self.from.clone()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Form)
    }
}

/// Reads either form.
struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Rule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule: `allow read`, or `{allow: bash, command: git status}`")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Rule, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rule, A::Error> {
        let long = Long::deserialize(MapAccessDeserializer::new(map))?;
        Rule::try_from(long).map_err(A::Error::custom)
    }
}
