//! A page as text, if it is text.

use antiphon_port::ToolFault;
use encoding_rs::Encoding;

use super::client::Page;
use super::html;
use crate::text;

/// How many bytes are searched for the word of a page on its own encoding.
const PRESCAN: usize = 1024;

/// What a page says.
pub(super) fn text(page: Page) -> Result<String, ToolFault> {
    let Page { url, status, media_type, packed, bytes, .. } = page;
    let given = media_type.unwrap_or_default();
    let (kind, parameters) = given.split_once(';').unwrap_or((&given, ""));
    let kind = kind.trim().to_ascii_lowercase();
    let refused = |why: &str| ToolFault::new(format!("`{url}` ({status}) {why}: only text is given"));
    if let Some(packed) = packed.filter(|packed| !packed.eq_ignore_ascii_case("identity")) {
        return Err(refused(&format!("is packed as {packed}, which was not asked for")));
    }
    if !is_text(&kind) || !text::is_text(&bytes) {
        return Err(refused(&format!("is {}", if kind.is_empty() { "no text" } else { &kind })));
    }
    let is_html = matches!(kind.as_str(), "text/html" | "application/xhtml+xml")
        || kind.is_empty() && looks_html(&bytes);
    let (decoded, _, _) = encoding(parameters, &bytes, is_html).decode(&bytes);
    Ok(if is_html { html::to_text(&decoded) } else { decoded.into_owned() })
}

/// Whether content of this kind can be read; what says nothing of itself is looked at.
fn is_text(kind: &str) -> bool {
    let of_application = kind.strip_prefix("application/").is_some_and(|kind| {
        let plain =
            ["json", "xml", "javascript", "yaml", "toml", "x-ndjson", "jsonl", "x-yaml", "x-sh", "graphql"];
        plain.contains(&kind) || kind.ends_with("+json") || kind.ends_with("+xml") || kind.ends_with("+yaml")
    });
    kind.is_empty() || kind.starts_with("text/") || kind == "image/svg+xml" || of_application
}

fn looks_html(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let start = start[..start.len().min(14)].to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// As the server says, or the page, or UTF-8.
fn encoding(parameters: &str, bytes: &[u8], is_html: bool) -> &'static Encoding {
    let named = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    let by_server = named.and_then(|label| Encoding::for_label(label.as_bytes()));
    by_server.or_else(|| is_html.then(|| by_page(bytes)).flatten()).unwrap_or(encoding_rs::UTF_8)
}

fn by_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes[..bytes.len().min(PRESCAN)].to_ascii_lowercase();
    let found = memchr::memmem::find(&start, b"charset=")?;
    let rest = start[found + "charset=".len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:".contains(byte));
    // A page whose first bytes could be read as ASCII is not in an encoding of two bytes, whatever it says.
    Encoding::for_label(&rest[..end.unwrap_or(rest.len())])
        .map(|encoding| if encoding.is_ascii_compatible() { encoding } else { encoding_rs::UTF_8 })
}
