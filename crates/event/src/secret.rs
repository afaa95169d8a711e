//! What looks like a secret, and how it is kept out of events.
//!
//! In: names and values of variables. Out: whether they are secrets; JSON, or text, with a reference in the place of each.
//! Start reading at [`redact`], and at [`Secrets`] for what programs print.

use std::borrow::Cow;

use serde_json::Value;

/// How the words of a name end that stands for a secret.
const SECRET_ENDS: [&str; 13] = [
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "CREDENTIAL",
    "CREDENTIALS",
    "COOKIE",
];

/// How values begin that are secrets whatever they are called.
const SECRET_STARTS: [&str; 9] =
    ["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "-----BEGIN"];

/// Puts a reference in the place of every secret among the variables of programs: `{"env": {"API_TOKEN": "…"}}` becomes
/// `{"env": {"API_TOKEN": "$API_TOKEN"}}`, which whoever starts the program takes from the environment.
pub fn redact(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("env", Value::Object(variables)) => refer(variables),
                    (_, value) => redact(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn refer(variables: &mut serde_json::Map<String, Value>) {
    for (name, value) in variables {
        if let Value::String(text) = value
            && reference(text).is_none()
            && (names_secret(name) || is_secret(text))
        {
            *text = format!("${name}");
        }
    }
}

/// How many bytes a value has at least that is looked for in what programs print: shorter ones are found by chance.
const VALUE_MIN: usize = 8;

/// The secrets that a program was given, to be kept out of what it prints.
///
/// ```
/// # use antiphon_event::secret::Secrets;
/// let secrets = Secrets::of([("API_KEY".to_owned(), "0123456789".to_owned())]);
/// assert_eq!(secrets.hide("key=0123456789"), "key=$API_KEY");
/// ```
#[derive(Debug, Default)]
pub struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Those among variables, by their name or by what they look like.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_one = |(name, value): &(String, String)| {
            value.len() >= VALUE_MIN && (names_secret(name) || is_secret(value))
        };
        let mut secrets: Vec<_> = variables.into_iter().filter(is_one).collect();
        // One may be a part of another.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Self(secrets)
    }

    /// A text with references in their place.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for (name, value) in &self.0 {
            if clean.contains(value) {
                clean = Cow::Owned(clean.replace(value, &format!("${name}")));
            }
        }
        clean
    }

    /// How long the longest of them is.
    pub fn longest(&self) -> usize {
        self.0.first().map_or(0, |(_, value)| value.len())
    }

    /// How many bytes at the end of a text may be the beginning of one of which the rest is to come.
    pub fn begun(&self, text: &[u8]) -> usize {
        let begun = |value: &[u8]| (1..value.len()).rev().find(|length| text.ends_with(&value[..*length]));
        self.0.iter().filter_map(|(_, value)| begun(value.as_bytes())).max().unwrap_or(0)
    }
}

/// The variable of the environment that a value refers to: `$NAME`.
pub fn reference(value: &str) -> Option<&str> {
    let name = value.strip_prefix('$')?;
    let mut letters = name.chars();
    let first = letters.next()?;
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then_some(name)
}

/// Whether what has this name is probably a secret.
pub fn names_secret(name: &str) -> bool {
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    name.ends_with("_AUTH")
        || words.any(|word| word == "PWD" || SECRET_ENDS.iter().any(|end| word.ends_with(end)))
}

/// Whether this is probably a secret, whatever it is called.
pub fn is_secret(value: &str) -> bool {
    SECRET_STARTS.iter().any(|start| value.starts_with(start)) || holds_password(value)
}

/// Whether a value is an address with a password in it: `scheme://name:password@host`.
fn holds_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..host_end].rsplit_once('@').is_some_and(|(who, _)| who.contains(':'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_become_references_and_the_rest_stays() {
        let mut value = json!({"nodes": {"a": {"command": {
            "run": ["sh", "-c", "echo API_TOKEN"],
            "env": {"API_TOKEN": "t0p", "COLOUR": "red", "URL": "https://me:word@host/", "KEY": "$OTHER"},
        }}}});
        redact(&mut value);
        assert_eq!(
            value["nodes"]["a"]["command"]["env"],
            json!({"API_TOKEN": "$API_TOKEN", "COLOUR": "red", "URL": "$URL", "KEY": "$OTHER"})
        );
    }

    #[test]
    fn secrets_are_kept_out_of_what_is_printed_and_their_beginnings_are_known() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let secrets = Secrets::of([
            pair("PIN_KEY", "12345678"),
            pair("LONG_TOKEN", "12345678-more"),
            pair("SHORT_KEY", "abc"),
            pair("COLOUR", "red and green"),
            pair("PLAIN", "sk-0123456789"),
        ]);
        let rows = [
            ("abc red and green", "abc red and green", 0),
            ("<12345678-more> 12345678", "<$LONG_TOKEN> $PIN_KEY", 8),
            ("sk-0123456789!", "$PLAIN!", 0),
            ("it is sk-01", "it is sk-01", 5),
        ];
        for (text, hidden, begun) in rows {
            assert_eq!((&*secrets.hide(text), secrets.begun(text.as_bytes())), (hidden, begun), "{text}");
        }
    }

    #[test]
    fn a_reference_is_a_name_and_nothing_else() {
        let names = ["$HOME", "$_x1", "$", "$1", "$A-B", "A", "$A B"].map(reference);
        assert_eq!(names, [Some("HOME"), Some("_x1"), None, None, None, None, None]);
    }
}
