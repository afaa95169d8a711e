//! [`Client`]: asks for pages, follows redirects within a host, and reaches only addresses that are open.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use antiphon_port::ToolFault;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Response, Url, redirect};

use super::address;
use crate::Workspace;
use crate::workspace::Reach;

/// How many redirects are followed.
const REDIRECTS_MAX: usize = 5;
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// What is asked for.
const ACCEPTED: &str =
    "text/html, application/xhtml+xml, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5";

/// What there is at an address.
pub(super) enum Found {
    /// A page.
    Page(Page),
    /// A word that it is at another host.
    Elsewhere { from: Url, to: Url },
}

/// A page as it came.
pub(super) struct Page {
    /// Where it was in the end.
    pub(super) url: Url,
    /// What the server said of it: the code and its meaning.
    pub(super) status: String,
    /// What kind of content it is, if the server says so.
    pub(super) media_type: Option<String>,
    /// How it is packed, if it is.
    pub(super) packed: Option<String>,
    /// The content.
    pub(super) bytes: Vec<u8>,
    /// Whether there was more of it.
    pub(super) is_cut: bool,
}

/// Asks for pages.
pub(super) struct Client {
    reach: Arc<Reach>,
    bytes_max: usize,
    inner: OnceLock<Result<reqwest::Client, String>>,
}

impl Client {
    pub(super) fn new(workspace: &Workspace) -> Self {
        let bytes_max = workspace.bounds().fetch_bytes;
        Self { reach: Arc::clone(&workspace.reach), bytes_max, inner: OnceLock::new() }
    }

    /// What there is at an address.
    pub(super) async fn get(&self, mut url: Url) -> Result<Found, ToolFault> {
        for _ in 0..=REDIRECTS_MAX {
            check(&url, &self.reach)?;
            let request = self.inner()?.get(url.clone()).header(ACCEPT, ACCEPTED);
            let response = request.send().await.map_err(|error| failed(&url, &error))?;
            let Some(next) = target(&url, &response)? else {
                return self.page(url, response).await.map(Found::Page);
            };
            if !is_same_host(&url, &next) {
                check(&next, &self.reach)?;
                return Ok(Found::Elsewhere { from: url, to: next });
            }
            url = next;
        }
        Err(ToolFault::new(format!("`{url}` is the end of more than {REDIRECTS_MAX} redirects")))
    }

    async fn page(&self, url: Url, mut response: Response) -> Result<Page, ToolFault> {
        let mut bytes = Vec::new();
        while bytes.len() <= self.bytes_max {
            let Some(piece) = response.chunk().await.map_err(|error| failed(&url, &error))? else { break };
            bytes.extend_from_slice(&piece);
        }
        let is_cut = bytes.len() > self.bytes_max;
        bytes.truncate(self.bytes_max);
        let headers = response.headers();
        let (media_type, packed) = (header(headers, CONTENT_TYPE), header(headers, CONTENT_ENCODING));
        Ok(Page { url, status: response.status().to_string(), media_type, packed, bytes, is_cut })
    }

    /// Made when it is first needed: it reads which authorities this machine trusts.
    fn inner(&self) -> Result<&reqwest::Client, ToolFault> {
        let inner = self.inner.get_or_init(|| build(Arc::clone(&self.reach)).map_err(|error| reason(&error)));
        inner.as_ref().map_err(|why| ToolFault::new(format!("nothing can be fetched: {why}")))
    }
}

fn build(reach: Arc<Reach>) -> reqwest::Result<reqwest::Client> {
    // Somebody else may have chosen one before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A proxy would look names up itself, out of our sight.
    reqwest::Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .user_agent(concat!("antiphon/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(Arc::new(Checked(reach)))
        .build()
}

/// Refuses addresses that no request may go to. Names are looked up, and checked, where the connection is made.
fn check(url: &Url, reach: &Reach) -> Result<(), ToolFault> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ToolFault::new(format!("`{url}` is neither http nor https")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolFault::new("an address with a name or a password in it is not fetched"));
    }
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match literal {
        Ok(address) if !address::is_open(address, reach) => {
            Err(ToolFault::new(format!("`{url}`: {}", Closed(address))))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Looks names up and gives only addresses that may be reached: what was checked is what is connected to.
struct Checked(Arc<Reach>);

/// A name that stands for an address that may not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not a public address and may not be reached")]
struct Closed(IpAddr);

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = Arc::clone(&self.0);
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // One that is closed among them is a trick or a mistake: none of them is used.
            if let Some(closed) = found.iter().find(|found| !address::is_open(found.ip(), &reach)) {
                return Err(Closed(closed.ip()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Where a redirect leads.
fn target(url: &Url, response: &Response) -> Result<Option<Url>, ToolFault> {
    let Some(location) = header(response.headers(), LOCATION).filter(|_| response.status().is_redirection())
    else {
        return Ok(None);
    };
    let target = url.join(&location);
    target
        .map(Some)
        .map_err(|_| ToolFault::new(format!("`{url}` redirects to `{location}`, which is no address")))
}

/// Whether a redirect stays where a rule that allowed the first address would expect it: the same host, or its
/// variant with `www.`, on the same port or from http to https.
fn is_same_host(from: &Url, to: &Url) -> bool {
    let host = |url: &Url| url.host_str().map(|host| host.strip_prefix("www.").unwrap_or(host).to_owned());
    let ports = (from.port_or_known_default(), to.port_or_known_default());
    host(from) == host(to)
        && (ports.0 == ports.1 && from.scheme() == to.scheme() || ports == (Some(80), Some(443)))
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn failed(url: &Url, error: &reqwest::Error) -> ToolFault {
    ToolFault::new(format!("cannot fetch `{url}`: {}", reason(error)))
}

/// The error that began it all.
fn reason(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
