//! A server at an address: streamable HTTP.
//!
//! In: an address, and the variable with the token. Out: a transport. Start reading at [`open`].

mod body;
mod client;

use std::error::Error;
use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use rmcp::RoleClient;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use client::Bounded;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How often a server may send us elsewhere.
const REDIRECTS_MAX: usize = 5;

/// Opens a transport to an address; nothing is sent yet.
pub(super) fn open(
    url: &str,
    token_env: Option<&str>,
    message_bytes: usize,
) -> Result<impl Transport<RoleClient, Error: Error + Send + Sync> + 'static, String> {
    let address = reqwest::Url::parse(url).map_err(|error| format!("has no address: `{url}`: {error}"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(format!("has an address that is neither http nor https: `{url}`"));
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(message_bytes);
    if let Some(name) = token_env {
        let token = std::env::var(name).ok().filter(|token| !token.trim().is_empty());
        let token = token.ok_or_else(|| format!("needs a token: set the variable `{name}`"))?;
        config = config.auth_header(token.trim());
    }
    // Whoever came first has chosen what does the arithmetic of TLS; this is for when nobody has.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(0)
        .redirect(Policy::custom(follow))
        .build()
        .map_err(|error| format!("cannot be reached, there is no HTTP here: {error}"))?;
    Ok(StreamableHttpClientTransport::with_client(Bounded(client), config))
}

/// Whether a server said that it will not have us.
pub(super) fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => said.starts_with("HTTP 4"),
        _ => false,
    }
}

/// Redirects are followed where they keep the message, and within the origin: no other place gets to see it.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_message = matches!(attempt.status().as_u16(), 307 | 308);
    let at_home = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_message && at_home && attempt.previous().len() <= REDIRECTS_MAX {
        attempt.follow()
    } else {
        attempt.stop()
    }
}
