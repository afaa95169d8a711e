//! Messages as Anthropic speaks them.
//!
//! In: a prompt. Out: deltas. Start reading at [`Anthropic::call`](Model::call), then `request` and `reply`; `generation`
//! says what which models can be told, `shape` how an answer is made to fit a schema.

mod generation;
mod reply;
mod request;
mod shape;

use std::sync::Arc;

use antiphon_agent::{Delta, Fault, ModelUse, Price, Prompt};
use antiphon_port::Model;
use futures_util::stream::BoxStream;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};

use crate::Refused;
use crate::http::{Endpoint, Patience};
use crate::key::Key;

use generation::Generation;
use shape::Shape;

/// The provider's name and the variable with its key.
pub(crate) const NAMES: (&str, &str) = ("anthropic", "ANTHROPIC_API_KEY");
/// Where it is if nobody says otherwise.
pub(crate) const BASE: &str = "https://api.anthropic.com/v1";
/// The version of the format.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// What stands before what a vendor thought and will not show: it is kept and sent back where a signature is.
const REDACTED: &str = "redacted:";

/// A model behind messages.
pub(crate) struct Anthropic {
    settings: ModelUse,
    name: String,
    price: Option<Price>,
    endpoint: Arc<Endpoint>,
}

impl Anthropic {
    pub(crate) fn new(
        settings: &ModelUse,
        name: String,
        price: Option<Price>,
        (base, key, patience): (&Url, Option<Key>, &Patience),
    ) -> Result<Self, Refused> {
        let mut headers = HeaderMap::from_iter([("anthropic-version".parse().expect("a name"), VERSION)]);
        if let Some(key) = &key {
            headers.insert("x-api-key", key.header(""));
        }
        let mut url = base.clone();
        let path = base.path().trim_end_matches('/');
        if !path.ends_with("/messages") {
            let version = if path.ends_with("/v1") { "" } else { "/v1" };
            url.set_path(&format!("{path}{version}/messages"));
        }
        let endpoint = Endpoint::new(settings, url, patience, key, headers)?;
        Ok(Self { settings: settings.clone(), name, price, endpoint })
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        let generation = Generation::of(&self.name);
        let shape = Shape::of(&prompt, generation);
        let body = request::body(&self.settings, &prompt, generation, &shape);
        self.endpoint.clone().ask(body, reply::Reply::new(shape), prompt.tokens_estimated())
    }
}
