//! [`Refused`]: why a model could not be opened.

/// Why a model could not be opened: what its settings lack, or say wrongly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nobody is called so.
    #[error("there is no provider `{name}`{}; there are {}", did_you_mean(nearest.as_deref()), crate::PROVIDERS.join(", "))]
    Provider {
        /// What was asked for.
        name: String,
        /// What was meant, perhaps.
        nearest: Option<&'static str>,
    },
    /// The vendor has many models and none was named.
    #[error("the provider `{provider}` needs `model`: the name of the model, as its vendor calls it")]
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// There is no key.
    #[error("no key for the provider `{provider}`: {why}")]
    Key {
        /// The provider.
        provider: &'static str,
        /// Where it was looked for and what to do. Never a key.
        why: String,
    },
    /// A setting says something that cannot be.
    #[error("`{setting}` of a model: {why}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A file of prices cannot be read.
    #[error("prices in `{file}`: {why}")]
    Prices {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(", did you mean `{nearest}`?"))
}
