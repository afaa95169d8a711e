//! What commands see of the environment: everything but what looks like a secret.

use std::ffi::OsString;

use crate::workspace::Variables;

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

/// Not for a shell that nobody sits at: files it would run first, and what would make it wait for somebody.
const SET: [(&str, &str); 4] =
    [("TERM", "dumb"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

/// The variables for a command.
pub(super) fn given(variables: &Variables) -> Vec<(OsString, OsString)> {
    let ours = std::env::vars_os().filter(|(name, value)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        is_given(&name, &value, variables)
    });
    ours.chain(SET.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

fn is_given(name: &str, value: &str, variables: &Variables) -> bool {
    if variables.hidden.contains(name) || matches!(name, "BASH_ENV" | "ENV") {
        return false;
    }
    variables.kept.contains(name) || !(names_secret(name) || is_secret(value))
}

fn names_secret(name: &str) -> bool {
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    name.ends_with("_AUTH")
        || words.any(|word| word == "PWD" || SECRET_ENDS.iter().any(|end| word.ends_with(end)))
}

fn is_secret(value: &str) -> bool {
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
    use expect_test::expect;

    use super::is_given;
    use crate::workspace::Variables;

    #[test]
    fn what_looks_like_a_secret_stays_here() {
        let variables = Variables {
            kept: ["MY_TOKEN".to_owned()].into(),
            hidden: ["PLAIN".to_owned(), "BOTH_KEY".to_owned()].into(),
        };
        let rows = [
            ("PATH", "/bin"),
            ("PWD", "/"),
            ("HOME", "/"),
            ("LANG", "C"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("KEYBOARD", "us"),
            ("TOKENIZERS_PARALLELISM", "1"),
            ("HTTP_PROXY", "http://proxy:3128"),
            ("REPO", "https://host/a@b:c"),
            ("OPENAI_API_KEY", "x"),
            ("api_key", "x"),
            ("GITHUB_TOKEN", "x"),
            ("PGPASSWORD", "x"),
            ("MYSQL_PWD", "x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("DB_PASS", "x"),
            ("NPM_CONFIG__AUTH", "x"),
            ("TOKEN_FILE", "x"),
            ("DATABASE_URL", "postgres://me:pw@host/db"),
            ("INNOCENT", "sk-abc"),
            ("CERT", "-----BEGIN PRIVATE KEY-----"),
            ("MY_TOKEN", "kept"),
            ("PLAIN", "hidden"),
            ("BASH_ENV", "file"),
        ];
        let table: String = rows
            .iter()
            .map(|(name, value)| {
                format!(
                    "{} {name}={value}\n",
                    if is_given(name, value, &variables) { "given " } else { "hidden" }
                )
            })
            .collect();
        expect![[r#"
            given  PATH=/bin
            given  PWD=/
            given  HOME=/
            given  LANG=C
            given  SSH_AUTH_SOCK=/run/agent
            given  KEYBOARD=us
            given  TOKENIZERS_PARALLELISM=1
            given  HTTP_PROXY=http://proxy:3128
            given  REPO=https://host/a@b:c
            hidden OPENAI_API_KEY=x
            hidden api_key=x
            hidden GITHUB_TOKEN=x
            hidden PGPASSWORD=x
            hidden MYSQL_PWD=x
            hidden AWS_SECRET_ACCESS_KEY=x
            hidden DB_PASS=x
            hidden NPM_CONFIG__AUTH=x
            hidden TOKEN_FILE=x
            hidden DATABASE_URL=postgres://me:pw@host/db
            hidden INNOCENT=sk-abc
            hidden CERT=-----BEGIN PRIVATE KEY-----
            given  MY_TOKEN=kept
            hidden PLAIN=hidden
            hidden BASH_ENV=file
        "#]]
        .assert_eq(&table);
    }
}
