//! Messages as Anthropic speaks them.
//!
//! In: a prompt. Out: deltas. An answer that has to fit a schema is asked for as the arguments of a tool that is made up
//! for it: that works with every model and every server that speaks this format, and it can be streamed; the arguments
//! come out as text. Start reading at [`Anthropic::call`](Model::call), then `request` and `reply`.

mod reply;
mod request;

use std::sync::Arc;

use antiphon_agent::{Delta, Fault, ModelUse, Price, Prompt};
use antiphon_port::Model;
use futures_util::stream::BoxStream;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};

use crate::Refused;
use crate::http::{Endpoint, Patience};
use crate::key::Key;

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
        let form = prompt.output.as_ref().map(|schema| request::Form::of(schema, &prompt.tools));
        let body = request::body(&self.settings, &prompt, form.as_ref());
        self.endpoint.clone().ask(body, reply::Reply::new(form), prompt.tokens_estimated())
    }
}
