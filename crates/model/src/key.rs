//! [`Key`]: what a vendor knows its customer by, from the environment or a file, seen by nobody else.

use std::path::Path;

use antiphon_agent::ModelUse;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use crate::Refused;
use crate::redact::SECRET;

/// How many bytes a file with a key may have.
const FILE_MAX: u64 = 64 * 1024;
/// A key shorter than this is a word that stands for none, and is part of too many other words.
const SHORT: usize = 4;

/// Where variables of the environment come from.
pub(crate) type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A key. Shown to nobody.
#[derive(Clone, Debug)]
pub(crate) struct Key(SecretString);

impl Key {
    /// The key that the settings name, else the one in the provider's usual variable. Where it is `optional`, only one
    /// that the settings name is taken, so that nobody else is sent it.
    pub(crate) fn find(
        settings: &ModelUse,
        (provider, usual): (&'static str, &str),
        environment: &Environment,
        optional: bool,
    ) -> Result<Option<Self>, Refused> {
        let refused = |why: String| Refused::Key { provider, why };
        let found = match (&settings.api_key_file, &settings.api_key_env) {
            (Some(file), _) => read(Path::new(file)).map_err(refused)?,
            (None, Some(variable)) => environment(variable)
                .ok_or_else(|| refused(format!("the variable `{variable}` of the environment is not set")))?,
            (None, None) if optional => return Ok(None),
            (None, None) => environment(usual).ok_or_else(|| {
                refused(format!(
                    "set `{usual}`, or name a variable with `api_key_env` or a file with `api_key_file`"
                ))
            })?,
        };
        let key = found.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refused("what was found is empty, or not one word of plain ASCII".to_owned()));
        }
        Ok(Some(Self(SecretString::from(key))))
    }

    /// As a header, after a word such as `Bearer`.
    pub(crate) fn header(&self, word: &str) -> HeaderValue {
        let mut header = HeaderValue::try_from(format!("{word}{}", self.0.expose_secret()))
            .expect("a key is plain ASCII, which was checked when it was read");
        header.set_sensitive(true);
        header
    }

    /// The text without the key.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let key = self.0.expose_secret();
        if key.len() < SHORT { text.to_owned() } else { text.replace(key, SECRET) }
    }
}

fn read(file: &Path) -> Result<String, String> {
    let tell = |error: std::io::Error| format!("the file `{}`: {error}", file.display());
    let size = std::fs::metadata(file).map_err(tell)?.len();
    if size > FILE_MAX {
        return Err(format!("the file `{}` has {size} bytes; it may have {FILE_MAX}", file.display()));
    }
    std::fs::read_to_string(file).map_err(tell)
}
