//! [`Models`]: opens models by their settings.
//!
//! In: a [`ModelUse`], the environment, prices. Out: a model, or why not. Start reading at [`Models::open`].

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::{ModelUse, Price};
use antiphon_port::Model;
use reqwest::Url;

use crate::anthropic::{self, Anthropic};
use crate::http::{Patience, is_loopback};
use crate::key::{Environment, Key};
use crate::openai::{self, OpenAi};
use crate::price::{is_price, price_of};
use crate::{Prices, Refused, Replay, Script};

/// Who serves models.
pub const PROVIDERS: &[&str] = &["openai", "anthropic", "scripted", "replay"];

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a vendor may say nothing.
const IDLE: Duration = Duration::from_mins(2);

/// Opens a model: with the variables of this process and the prices that come with the program.
///
/// ```
/// # use antiphon_agent::ModelUse;
/// let settings = ModelUse { provider: "opnai".into(), ..ModelUse::default() };
/// let refused = antiphon_model::open(&settings).err().expect("there is none");
/// assert!(refused.to_string().contains("did you mean `openai`?"));
/// ```
pub fn open(settings: &ModelUse) -> Result<Arc<dyn Model>, Refused> {
    Models::new().open(settings)
}

/// Opens models by their settings.
pub struct Models {
    prices: Prices,
    environment: Box<Environment>,
}

impl Default for Models {
    fn default() -> Self {
        Self::new()
    }
}

impl Models {
    /// With the variables of this process and the prices that come with the program.
    pub fn new() -> Self {
        let environment = Box::new(|name: &str| std::env::var(name).ok());
        Self { prices: Prices::built_in(), environment }
    }

    /// What models cost, instead of what comes with the program.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Where keys come from, instead of this process's variables.
    #[must_use]
    pub fn environment(mut self, find: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.environment = Box::new(find);
        self
    }

    /// Opens a model. Nothing is sent yet.
    pub fn open(&self, settings: &ModelUse) -> Result<Arc<dyn Model>, Refused> {
        Ok(match settings.provider.as_str() {
            "openai" => {
                let (name, base) = (named(settings, openai::NAMES.0)?, base(settings, openai::BASE)?);
                let (key, patience) = (self.key(settings, openai::NAMES, &base)?, patience(settings)?);
                let price = self.price(settings)?;
                Arc::new(OpenAi::new(settings, name, price, (&base, key, &patience))?)
            }
            "anthropic" => {
                let (name, base) = (named(settings, anthropic::NAMES.0)?, base(settings, anthropic::BASE)?);
                let (key, patience) = (self.key(settings, anthropic::NAMES, &base)?, patience(settings)?);
                let price = self.price(settings)?;
                Arc::new(Anthropic::new(settings, name, price, (&base, key, &patience))?)
            }
            "scripted" => Arc::new(self.script(settings)?.model()),
            "replay" => {
                let missing =
                    || wrong("fixtures", "the provider `replay` needs a folder with recorded exchanges");
                let folder = settings.fixtures.as_ref().ok_or_else(missing)?;
                let name = settings.model.clone().or_else(|| settings.name.clone());
                let name = name.unwrap_or_else(|| "replay".to_owned());
                Arc::new(Replay::open(folder)?.named(name).priced(self.price(settings)?))
            }
            other => {
                let far = |name: &&&str| strsim::damerau_levenshtein(other, name);
                let nearest = PROVIDERS.iter().min_by_key(far).filter(|name| far(name) <= 3).copied();
                return Err(Refused::Provider { name: other.to_owned(), nearest });
            }
        })
    }

    fn script(&self, settings: &ModelUse) -> Result<Script, Refused> {
        let script = settings.replies.as_ref().map_or_else(|| Ok(Script::new()), Script::parse);
        let mut script = script?;
        if let Some(name) = &settings.model {
            script = script.name(name);
        }
        if settings.price.is_some()
            && let Some(price) = self.price(settings)?
        {
            script = script.price(price);
        }
        Ok(script)
    }

    fn price(&self, settings: &ModelUse) -> Result<Option<Price>, Refused> {
        match &settings.price {
            Some(price) if !is_price(price) => {
                Err(wrong("price", "dollars for a million tokens are a number, 0 or more"))
            }
            Some(price) => Ok(Some(price_of(price))),
            None => Ok(settings.model.as_deref().and_then(|model| self.prices.of(model))),
        }
    }

    fn key(
        &self,
        settings: &ModelUse,
        names: (&'static str, &str),
        base: &Url,
    ) -> Result<Option<Key>, Refused> {
        // A server on this machine needs none. One that is spoken to in the clear is not sent a key unasked.
        let optional = is_loopback(base) || base.scheme() == "http";
        Key::find(settings, names, &*self.environment, optional)
    }
}

fn wrong(setting: &'static str, why: impl Into<String>) -> Refused {
    Refused::Setting { setting, why: why.into() }
}

fn named(settings: &ModelUse, provider: &'static str) -> Result<String, Refused> {
    let model = settings.model.clone().filter(|model| !model.trim().is_empty());
    model.ok_or(Refused::NoModel { provider })
}

fn base(settings: &ModelUse, usual: &str) -> Result<Url, Refused> {
    let text = settings.base_url.as_deref().unwrap_or(usual);
    let url = Url::parse(text).map_err(|error| wrong("base_url", format!("it is no address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("base_url", "expected an address that begins with `http://` or `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("base_url", "it has a name or a password in it; name a key with `api_key_env`"));
    }
    Ok(url)
}

fn patience(settings: &ModelUse) -> Result<Patience, Refused> {
    let read = |setting: &'static str, text: &Option<String>, usual: Duration| match text {
        None => Ok(usual),
        Some(text) => duration(text).ok_or_else(|| {
            wrong(setting, format!("`{text}` is no time; expected one such as `250ms`, `5s` or `2m`"))
        }),
    };
    Ok(Patience {
        connect: read("connect_timeout", &settings.connect_timeout, CONNECT)?,
        idle: read("idle_timeout", &settings.idle_timeout, IDLE)?,
    })
}

/// `250ms`, `5s`, `2m`, `1h`: more than nothing, and up to a day.
fn duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let total = number.parse::<u64>().ok()?.checked_mul(millis)?;
    (1..=86_400_000).contains(&total).then(|| Duration::from_millis(total))
}
