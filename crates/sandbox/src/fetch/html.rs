//! HTML as text. What it is laid out with goes as deep as its tags, so tags that go very deep are only taken out.

use html2text::config;

/// How many bytes are laid out.
const BYTES_MAX: usize = 2 << 20;
/// How deep tags may be to be laid out.
const DEPTH_MAX: usize = 1000;
/// How long lines become.
const WIDTH: usize = 100;
/// Room to go that deep.
const STACK: usize = 256 << 20;

/// Elements that have no end, or that end when the next one begins.
const FLAT: [&str; 29] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "frame", "hr", "img", "input", "li", "link", "meta",
    "optgroup", "option", "p", "param", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr",
    "track", "wbr",
];

/// What a page says to whoever reads it.
pub(super) fn to_text(html: &str) -> String {
    let html = &html[..html.floor_char_boundary(BYTES_MAX)];
    let laid_out = if depth(html) <= DEPTH_MAX { lay_out(html) } else { None };
    laid_out.unwrap_or_else(|| strip(html))
}

fn lay_out(html: &str) -> Option<String> {
    let html = html.to_owned();
    let work = move || config::plain().no_table_borders().string_from_read(html.as_bytes(), WIDTH).ok();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).ok()?;
    // One that broke down is as one that could not.
    thread.join().ok()?.map(|text| text.trim().to_owned())
}

/// How deep elements are in one another, rather too deep than not deep enough.
fn depth(html: &str) -> usize {
    let mut open: Vec<String> = Vec::new();
    let mut deepest = 0;
    for (start, _) in html.match_indices('<') {
        let rest = &html[start + 1..];
        let (is_end, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if name.is_empty() || FLAT.contains(&name.as_str()) {
            continue;
        }
        if is_end {
            // Only one of its own name is surely over; what was left open inside may live on.
            if let Some(index) = open.iter().rposition(|other| *other == name) {
                open.remove(index);
            }
        } else {
            open.push(name);
            deepest = deepest.max(open.len());
        }
        if deepest > DEPTH_MAX {
            break;
        }
    }
    deepest
}

/// The text without its tags, each a gap.
fn strip(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
