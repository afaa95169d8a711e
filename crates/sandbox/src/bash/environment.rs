//! What commands see of the environment: everything but what looks like a secret.

use std::ffi::OsString;

use antiphon_event::secret::{is_secret, names_secret};

use crate::workspace::Variables;

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
