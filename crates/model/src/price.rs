//! [`Prices`]: what models cost. A table comes with the program; a file of the user's stands above it.

use std::collections::BTreeMap;
use std::path::Path;

use antiphon_agent::{Price, PriceUse};
use serde::Deserialize;

use crate::Refused;

/// How many bytes a file of prices may have.
const FILE_MAX: u64 = 1024 * 1024;

/// Prices of models by name.
///
/// ```
/// let prices = antiphon_model::Prices::built_in();
/// assert_eq!(prices.of("openai/gpt-4.1-2025-04-14").expect("in the table").output, 8.0);
/// assert_eq!(prices.of("gpt-4.1-turbo"), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, PriceUse>,
}

/// What a file says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// When somebody last looked.
    #[serde(default, rename = "date")]
    _date: Option<String>,
    #[serde(default)]
    models: BTreeMap<String, PriceUse>,
}

impl Prices {
    /// The table that comes with the program: well-known models, with the date it is of in the file `prices.toml`.
    pub fn built_in() -> Self {
        Self::parse(include_str!("prices.toml")).expect("the table in the program is well formed")
    }

    /// The table of the program, and above it a file in the same form: `[models]`, then `"name" = { input = 1.0,
    /// output = 2.0, cache_read = 0.1, cache_creation = 1.25 }` in US dollars for a million tokens.
    pub fn load(file: &Path) -> Result<Self, Refused> {
        let refused = |why: String| Refused::Prices { file: file.display().to_string(), why };
        let size = std::fs::metadata(file).map_err(|error| refused(error.to_string()))?.len();
        if size > FILE_MAX {
            return Err(refused(format!("it has {size} bytes; it may have {FILE_MAX}")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
        let mut prices = Self::built_in();
        prices.models.extend(Self::parse(&text).map_err(refused)?.models);
        Ok(prices)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        match file.models.iter().find(|(_, price)| !is_price(price)) {
            Some((name, _)) => Err(format!("the price of `{name}` is not a number of dollars, 0 or more")),
            None => Ok(Self { models: file.models }),
        }
    }

    /// What a model costs: by its name, else by its name without the vendor before it or the date after it. Some
    /// write `4.5` where others write `4-5`.
    pub fn of(&self, model: &str) -> Option<Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let exact = || self.models.get(model).or_else(|| self.models.get(bare));
        let plain = bare.replace('.', "-");
        let alike = || {
            let rest = |name: &str| plain.strip_prefix(&name.replace('.', "-")).map(str::to_owned);
            let fits = |name: &str| rest(name).is_some_and(|rest| rest.is_empty() || is_date(&rest));
            self.models.iter().rev().find(|(name, _)| fits(name)).map(|(_, price)| price)
        };
        exact().or_else(alike).map(price_of)
    }
}

/// What a file or a setting says, with what follows from it.
pub(crate) fn price_of(price: &PriceUse) -> Price {
    Price {
        input: price.input,
        output: price.output,
        cache_read: price.cache_read.unwrap_or(price.input / 10.0),
        cache_creation: price.cache_creation.unwrap_or(price.input * 1.25),
    }
}

/// Whether nothing in it is below zero or no number at all.
pub(crate) fn is_price(price: &PriceUse) -> bool {
    let all = [Some(price.input), Some(price.output), price.cache_read, price.cache_creation];
    all.into_iter().flatten().all(|dollars| dollars.is_finite() && dollars >= 0.0)
}

/// Whether this is what vendors put after a name: `-latest`, `-20250929`, `-2025-04-14`, `@20250929`.
fn is_date(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(['-', '@', ':']) else {
        return false;
    };
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    rest == "latest" || digits >= 6 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::Prices;

    #[track_caller]
    fn check(file: &str, models: &[&str], expected: Expect) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("prices.toml");
        std::fs::write(&path, file).expect("written");
        let told = match Prices::load(&path) {
            Ok(prices) => models
                .iter()
                .map(|model| match prices.of(model) {
                    Some(price) => {
                        let parts = [price.input, price.output, price.cache_read, price.cache_creation];
                        format!("{model}: {parts:?}\n")
                    }
                    None => format!("{model}: nobody knows\n"),
                })
                .collect(),
            Err(refused) => refused.to_string().replace(&*folder.path().to_string_lossy(), "…"),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn a_dated_name_and_a_vendor_before_it_are_the_same_model() {
        let models = [
            "gpt-4.1",
            "gpt-4.1-2025-04-14",
            "openai/gpt-4.1-mini",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-20250514",
            "anthropic/claude-opus-5.5",
            "claude-sonnet-5-latest",
            "gpt-4.1-huge",
            "llama",
            "",
        ];
        check(
            "",
            &models,
            expect![[r#"
                gpt-4.1: [2.0, 8.0, 0.5, 2.0]
                gpt-4.1-2025-04-14: [2.0, 8.0, 0.5, 2.0]
                openai/gpt-4.1-mini: [0.4, 1.6, 0.1, 0.4]
                claude-sonnet-4-5-20250929: [3.0, 15.0, 0.3, 3.75]
                claude-sonnet-4-20250514: [3.0, 15.0, 0.3, 3.75]
                anthropic/claude-opus-5.5: [4.0, 20.0, 0.2, 5.0]
                claude-sonnet-5-latest: [2.0, 10.0, 0.2, 2.5]
                gpt-4.1-huge: nobody knows
                llama: nobody knows
                : nobody knows
            "#]],
        );
    }

    #[test]
    fn a_file_stands_above_the_table() {
        check(
            "[models]\nllama = {input = 1, output = 2}\n\"gpt-4.1\" = {input = 0.0, output = 0.0}\n",
            &["llama", "gpt-4.1", "gpt-4.1-mini"],
            expect![[r#"
                llama: [1.0, 2.0, 0.1, 1.25]
                gpt-4.1: [0.0, 0.0, 0.0, 0.0]
                gpt-4.1-mini: [0.4, 1.6, 0.1, 0.4]
            "#]],
        );
    }

    #[test]
    fn a_file_that_makes_no_sense_is_refused() {
        check(
            "[models]\nllama = {input = -1, output = 2}\n",
            &[],
            expect!["prices in `…/prices.toml`: the price of `llama` is not a number of dollars, 0 or more"],
        );
        check(
            "[model]\n",
            &[],
            expect![[r#"
                prices in `…/prices.toml`: TOML parse error at line 1, column 2
                  |
                1 | [model]
                  |  ^^^^^
                unknown field `model`, expected `date` or `models`
            "#]],
        );
    }
}
