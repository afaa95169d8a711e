//! What a box says, and how large that makes it.
//!
//! Labels are short and clean: one line, no control characters, cut at [`LABEL_MAX`] columns, so that a box
//! soon has its size while its text still streams.

use antiphon_event::{Body, Json, Kind};
use antiphon_graph::Node;

use super::layout::NodeKind;

/// How many columns a label has at most, with the mark that it was cut.
pub(super) const LABEL_MAX: usize = 80;
/// How many columns a line in a box has, and one of code, whose letters are all as wide as the widest.
pub(super) const LINE_MAX: usize = 38;
const CODE_LINE_MAX: usize = 34;
/// How many columns a label in a small box has at most.
const SMALL_MAX: usize = 26;
/// The width of a box, and of a small one.
pub(super) const WIDTH: i64 = 260;
const SMALL_WIDTH: i64 = 176;
/// The height of a small box, of the caption of another, and of each line in it.
pub(super) const SMALL_HEIGHT: i64 = 22;
pub(super) const CAPTION: i64 = 28;
pub(super) const LINE: i64 = 15;
/// The height of a box that says what came of a call, if that is too long for a label.
pub(super) const RESULT_HEIGHT: i64 = CAPTION + LABEL_MAX.div_ceil(CODE_LINE_MAX) as i64 * LINE + 7;
/// How long a word may be, with the space before it, to be left out rather than cut.
const WORD_MAX: usize = 12;
/// Payloads larger than this are not looked into.
const PAYLOAD_MAX: usize = 4096;

/// What a box says, and whether more of its text would change that.
pub(super) struct Label {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// What kind of box a node gets.
pub(super) fn kind_of(kind: Kind) -> NodeKind {
    match kind {
        Kind::User => NodeKind::User,
        Kind::Text => NodeKind::Text,
        Kind::Reasoning => NodeKind::Reasoning,
        Kind::ToolCall => NodeKind::ToolCall,
        Kind::ToolProgress => NodeKind::ToolProgress,
        Kind::ToolResult => NodeKind::ToolResult,
        Kind::Relay => NodeKind::Relay,
        Kind::ReplInput => NodeKind::Repl,
        Kind::ReplProgress | Kind::ReplOutput => NodeKind::ReplOutput,
        Kind::Error => NodeKind::Error,
        _ => NodeKind::Structural,
    }
}

/// What the box of a node says; `text` is the part of a stream that its block covers.
pub(super) fn label(node: &Node, text: Option<&str>) -> Label {
    let columns = if kind_of(node.kind()) == NodeKind::Structural { SMALL_MAX } else { LABEL_MAX };
    match text {
        Some(text) => clean(text, columns),
        None => clean(&words(node), columns),
    }
}

/// How wide and how high a box is.
pub(super) fn size(kind: NodeKind, label: &str) -> (i64, i64) {
    if kind == NodeKind::Structural {
        return (SMALL_WIDTH, SMALL_HEIGHT);
    }
    let lines = lines(kind, label).len().max(1) as i64;
    (WIDTH, CAPTION + lines * LINE + 7)
}

/// The lines in a box.
pub(super) fn lines(kind: NodeKind, label: &str) -> Vec<&str> {
    let is_code = matches!(
        kind,
        NodeKind::ToolCall
            | NodeKind::ToolProgress
            | NodeKind::ToolResult
            | NodeKind::Repl
            | NodeKind::ReplOutput
    );
    wrap(label, if is_code { CODE_LINE_MAX } else { LINE_MAX })
}

fn words(node: &Node) -> String {
    let flow_node = node.flow_node().map_or("", |id| id.as_str());
    let times = |execution: u32| if execution > 1 { format!(" #{execution}") } else { String::new() };
    match node.body() {
        Body::User(user) => user.content.to_text().into_owned(),
        Body::ToolCall(call) => called(&call.name, Some(&call.input)),
        Body::ToolProgress(progress) => shown(&progress.content),
        Body::ToolResult(result) => shown(&result.output),
        Body::Relay(relay) => match (&relay.prompt, &relay.tool) {
            (Some(prompt), _) => prompt.clone(),
            (None, Some(tool)) => called(tool, relay.params.as_ref()),
            (None, None) => relay.kind.as_str().to_owned(),
        },
        Body::Error(error) => error.message.clone(),
        Body::ReplInput(input) => input.code.clone(),
        Body::ReplOutput(output) => match (&output.error, output.done) {
            (Some(error), _) => error.clone(),
            (None, true) if output.stdout.is_empty() => "final answer".to_owned(),
            (None, false) if output.stdout.is_empty() => "no output".to_owned(),
            (None, _) => output.stdout.clone(),
        },
        Body::HarnessStart(start) => match &start.agent_id {
            Some(agent) => format!("run start · {agent}"),
            None => "run start".to_owned(),
        },
        Body::HarnessEnd(end) => match &end.reason {
            Some(reason) => format!("run end · {}", reason.as_str()),
            None => "run end".to_owned(),
        },
        Body::Usage(usage) => format!("usage {}→{}", usage.input_tokens, usage.output_tokens),
        Body::RunStart(start) => format!("flow start · {}", start.graph_id),
        Body::RunEnd(end) => match &end.status {
            Some(status) => format!("flow end · {}", status.as_str()),
            None => "flow end".to_owned(),
        },
        Body::NodeStart(start) => format!("▶ {flow_node}{}", times(start.execution)),
        Body::NodeEnd(end) => format!("■ {flow_node}{} {}", times(end.execution), end.status.as_str()),
        Body::NodeSkipped(skipped) => format!("skipped {flow_node}{}", times(skipped.execution)),
        Body::EdgeTransition(edge) => format!("{} → {}", edge.source_id, edge.target_id),
        Body::LayerStart(layer) => format!("layer {} start", layer.layer),
        Body::LayerEnd(layer) => format!("layer {} end", layer.layer),
        Body::Handoff(handoff) => format!("{} ⇒ {}", handoff.from_node_id, handoff.to_node_id),
        Body::ModelRetry(retry) => format!("retry {} · {}", retry.attempt, retry.reason),
        body => body.tag().replace(['_', ':'], " "),
    }
}

/// A call as people write one: `bash(command: ls -l)`.
fn called(name: &str, input: Option<&Json>) -> String {
    let Some(input) = input.filter(|input| !matches!(input.as_str(), "null" | "{}")) else {
        return name.to_owned();
    };
    if input.as_str().len() > PAYLOAD_MAX {
        return format!("{name}({})", input.as_str());
    }
    let arguments = match input.value() {
        serde_json::Value::Object(members) => {
            let pair = |(name, value): (&String, &serde_json::Value)| match value {
                serde_json::Value::String(text) => format!("{name}: {text}"),
                value => format!("{name}: {value}"),
            };
            members.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
        _ => input.to_text().into_owned(),
    };
    format!("{name}({arguments})")
}

/// A payload as people read one: a text, or the text in it that a tool gave as what it found.
fn shown(output: &Json) -> String {
    if output.as_str().starts_with('{') && output.as_str().len() <= PAYLOAD_MAX {
        let value = output.value();
        let texts = ["context", "result", "text", "content", "output"];
        if let Some(text) = texts.iter().find_map(|name| value.get(name).and_then(|text| text.as_str())) {
            return text.to_owned();
        }
    }
    output.to_text().into_owned()
}

/// The text on one line, without anything that does not print, at most so many columns wide.
///
/// A text of nothing but white space is not read to its end each time it grows.
pub(super) fn clean(text: &str, columns: usize) -> Label {
    let mut out = String::new();
    let (mut used, mut fits) = (0, 0);
    let mut gap = false;
    for (read, c) in text.chars().enumerate() {
        let joins_nothing = is_joiner(c) && (gap || out.is_empty());
        let blank = c.is_whitespace() || c.is_control() || is_hidden(c) || joins_nothing;
        if blank && used < columns {
            fits = out.len();
        }
        for c in gap.then_some(' ').into_iter().chain([c]).filter(|_| !blank) {
            if used < columns && !is_one(out.chars().next_back(), c) {
                fits = out.len();
            }
            out.push(c);
            used += width(c);
        }
        gap = blank && !out.is_empty();
        if used > columns || read >= columns * 8 {
            out.truncate(whole_words(&out[..fits]));
            out.push('…');
            return Label { text: out, is_cut: true };
        }
    }
    Label { text: out, is_cut: false }
}

/// How much of a text is left without the word that was cut; all of it where that word is long.
fn whole_words(text: &str) -> usize {
    match text.rfind(' ') {
        Some(space) if text.len() - space <= WORD_MAX => space,
        _ => text.len(),
    }
}

/// Whether a character shows nothing itself and is not needed to show others as they are written.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character says how the one before it is shown, or that it is joined to the next or kept from it. Persian
/// words and emoji are written with them.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | JOINER | '\u{fe00}'..='\u{fe0f}')
}

/// Makes one picture of the characters on both sides of it.
const JOINER: char = '\u{200d}';

/// Whether a character is shown as one with the one before it, so that a text is not cut between them.
pub(super) fn is_one(before: Option<char>, c: char) -> bool {
    before.is_some_and(|before| before == JOINER || width(c) == 0 || matches!(c, '\u{1f3fb}'..='\u{1f3ff}'))
}

/// How many columns a character takes.
pub(super) fn width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' => 0,
        c if is_joiner(c) => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// The beginning of a text that is at most so many columns wide.
pub(super) fn cut(text: &str, columns: usize) -> &str {
    let (mut used, mut fits, mut before) = (0, 0, None);
    for (at, c) in text.char_indices() {
        if !is_one(before, c) {
            fits = at;
        }
        used += width(c);
        if used > columns {
            return &text[..fits];
        }
        before = Some(c);
    }
    text
}

/// The lines of a label, broken between words where that is possible.
pub(super) fn wrap(label: &str, columns: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    // Where the line begins, where it could be broken, and how many columns there are up to both.
    let (mut start, mut used) = (0, 0);
    let mut space: Option<(usize, usize)> = None;
    // The same of the latest character, with those that are shown as one with it.
    let (mut whole, mut last) = ((0, 0), None);
    for (at, c) in label.char_indices() {
        if c == ' ' {
            space = Some((at, used));
        }
        if !is_one(last, c) {
            whole = (at, used);
        }
        if used + width(c) > columns && c != ' ' {
            let (end, next, before) = match space {
                Some((space, before)) => (space, space + 1, before + 1),
                None if whole.0 > start => (whole.0, whole.0, whole.1),
                None => (at, at, used),
            };
            lines.push(&label[start..end]);
            (start, used, space) = (next, used - before, None);
            whole.1 = whole.1.saturating_sub(before);
        }
        used += width(c);
        last = Some(c);
    }
    if start < label.len() {
        lines.push(&label[start..]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_clean_line_and_says_when_it_was_cut() {
        let rows = [
            ("", "", false),
            (" \n\t ", "", false),
            ("a\nb\r\n\tc ", "a b c", false),
            ("a\u{1b}[1m \u{202e}b", "a [1m b", false),
            ("exactly ten", "exactly…", true),
            ("averyveryverylong", "averyvery…", true),
            ("ten chars!", "ten chars!", false),
            ("ten chars!\n", "ten chars!", false),
            ("日本語日本語", "日本語日…", true),
            ("日本語日本", "日本語日本", false),
            ("on two = xyz", "on two =…", true),
            ("می\u{200c}خواهم", "می\u{200c}خواهم", false),
            ("🏳\u{fe0f}\u{200d}🌈 \u{200d} ok", "🏳\u{fe0f}\u{200d}🌈 ok", false),
            ("12345678👩\u{200d}👩", "12345678…", true),
            ("12345 👩🏽\u{200d}👧", "12345…", true),
            ("e\u{301}e\u{301}", "e\u{301}e\u{301}", false),
        ];
        for (text, wanted, cut) in rows {
            let label = clean(text, 10);
            assert_eq!((label.text.as_str(), label.is_cut), (wanted, cut), "{text:?}");
        }
        assert_eq!(clean(&" ".repeat(1000), 10).text, "…");
    }

    #[test]
    fn lines_break_between_words_and_inside_of_those_that_are_too_long() {
        assert_eq!(wrap("to be or not", 5), ["to be", "or", "not"]);
        assert_eq!(wrap("antidisestablished", 7), ["antidis", "establi", "shed"]);
        assert_eq!(wrap("", 5), [""; 0]);
        assert_eq!(wrap("1234👩\u{200d}👧👦", 6), ["1234", "👩\u{200d}👧👦"]);
        assert_eq!(wrap("👩\u{200d}👩\u{200d}👧\u{200d}👦", 6), ["👩\u{200d}👩\u{200d}👧\u{200d}", "👦"]);
    }
}
