//! Chat completions as OpenAI speaks them, and many others: by their address.
//!
//! In: a prompt. Out: deltas. Start reading at [`OpenAi::call`](Model::call), then `request` and `reply`.

mod reply;
mod request;
mod words;

use std::sync::Arc;

use antiphon_agent::{Delta, Fault, ModelUse, Price, Prompt};
use antiphon_port::Model;
use futures_util::stream::BoxStream;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap};

use crate::Refused;
use crate::http::{Endpoint, Patience};
use crate::key::Key;

/// The provider's name and the variable with its key.
pub(crate) const NAMES: (&str, &str) = ("openai", "OPENAI_API_KEY");
/// Where it is if nobody says otherwise.
pub(crate) const BASE: &str = "https://api.openai.com/v1";

/// A model behind chat completions.
pub(crate) struct OpenAi {
    settings: ModelUse,
    name: String,
    price: Option<Price>,
    host: request::Host,
    endpoint: Arc<Endpoint>,
}

impl OpenAi {
    pub(crate) fn new(
        settings: &ModelUse,
        name: String,
        price: Option<Price>,
        (base, key, patience): (&Url, Option<Key>, &Patience),
    ) -> Result<Self, Refused> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            headers.insert(AUTHORIZATION, key.header("Bearer "));
        }
        let mut url = base.clone();
        let path = base.path().trim_end_matches('/');
        if !path.ends_with("/chat/completions") {
            url.set_path(&format!("{path}/chat/completions"));
        }
        let endpoint = Endpoint::new(settings, url, patience, key, headers)?;
        Ok(Self { settings: settings.clone(), name, price, host: request::Host::of(base), endpoint })
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        let body = request::body(&self.settings, self.host, &prompt);
        self.endpoint.clone().ask(body, reply::Reply::default(), prompt.tokens_estimated())
    }
}
