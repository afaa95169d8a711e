//! [`Address`]: the pattern of a rule for addresses on the web.
//!
//! In: `https://docs.rs/**`. Out: whether an address fits. Addresses are read strictly: one with a password, an escaped
//! dot, a backslash or letters beyond ASCII in its host fits nothing. Start reading at [`Address::fits`].

use super::glob::{Glob, escape};

/// The longest address that is looked at, in bytes.
const ADDRESS_MAX: usize = 8192;

/// A pattern for addresses.
#[derive(Debug, Clone)]
pub(super) struct Address {
    scheme: &'static str,
    host: Glob,
    port: u16,
    rest: Glob,
}

impl Address {
    /// Reads `https://docs.rs/**`. Without a path all of the host fits; `*.` stands for any names before the rest.
    pub(super) fn read(pattern: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{pattern}` is no address: write `https://docs.rs/**`, or `https://*.rs` for all names in it"
            )
        };
        let (scheme, authority, rest) = split(pattern).ok_or_else(wrong)?;
        let (host, port) = host_and_port(authority, scheme).ok_or_else(wrong)?;
        if !host.chars().all(|c| is_of_host(c) || c == '*') {
            return Err(wrong());
        }
        let rest = if rest.is_empty() { "/**" } else { rest };
        Ok(Self { scheme, host: Glob::word(&host), port, rest: Glob::new(rest, &['/', '?']) })
    }

    pub(super) fn fits(&self, seen: &Seen) -> bool {
        self.scheme == seen.scheme
            && self.port == seen.port
            && self.host.fits(&seen.host)
            && self.rest.fits(&seen.rest)
    }
}

impl Address {
    /// Whether it is about this very address.
    pub(super) fn names(&self, seen: &Seen) -> bool {
        self.fits(seen) && self.host.is(&seen.host) && self.rest.is(&seen.rest)
    }
}

/// An address that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    scheme: &'static str,
    host: String,
    port: u16,
    /// The path and what follows `?`.
    rest: String,
}

impl Seen {
    /// Reads an address; nothing if there is any doubt where it leads.
    pub(super) fn read(url: &str) -> Option<Self> {
        if url.len() > ADDRESS_MAX || !url.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
            return None;
        }
        let (scheme, authority, rest) = split(url)?;
        let (host, port) = host_and_port(authority, scheme)?;
        let is_host = !host.is_empty() && host.chars().all(is_of_host);
        let rest = rest.split('#').next().unwrap_or(rest);
        let path = rest.split('?').next().unwrap_or(rest);
        let is_dotted = |part: &str| matches!(part, "." | "..") || part.to_ascii_lowercase().contains("%2e");
        if !is_host || path.split('/').any(is_dotted) || path.to_ascii_lowercase().contains("%2f") {
            return None;
        }
        let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        Some(Self { scheme, host, port, rest })
    }

    /// The pattern for all of its host.
    pub(super) fn host_pattern(&self) -> String {
        format!("{}/**", self.host_part())
    }

    /// The pattern for itself alone.
    pub(super) fn exact_pattern(&self) -> String {
        format!("{}{}", self.host_part(), escape(&self.rest))
    }

    fn host_part(&self) -> String {
        let is_usual = Some(self.port) == usual_port(self.scheme);
        let port = if is_usual { String::new() } else { format!(":{}", self.port) };
        format!("{}://{}{port}", self.scheme, self.host)
    }
}

/// The scheme, the host with its port, and the rest.
fn split(url: &str) -> Option<(&'static str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some((scheme, &rest[..end], &rest[end..]))
}

fn host_and_port(authority: &str, scheme: &str) -> Option<(String, u16)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let is_number = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
            (host, is_number.then(|| port.parse().ok())??)
        }
        Some(_) | None => (authority, usual_port(scheme)?),
    };
    // A dot at the end names the same host.
    let host = host.strip_suffix('.').unwrap_or(host);
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), port))
}

fn usual_port(scheme: &str) -> Option<u16> {
    [("http", 80), ("https", 443)].into_iter().find(|(known, _)| *known == scheme).map(|(_, port)| port)
}

fn is_of_host(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '[' | ']' | ':' | '_')
}
