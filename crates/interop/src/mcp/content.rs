//! What a call came to, as output that a model can look at.
//!
//! In: the result of a call. Out: the value if the tool gives one, else text, else parts if there are images or
//! documents. What nobody can look at is named instead.

use antiphon_event::Json;
use antiphon_port::{ToolFault, ToolReply};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::fault::cut;

/// Images that models commonly see.
const IMAGES: &[&str] = &["image/gif", "image/jpeg", "image/png", "image/webp"];

/// The longest text of a call that failed, in bytes.
const ERROR_MAX: usize = 16 * 1024;

/// One thing that a tool gave.
enum Piece {
    Text(String),
    Media { kind: &'static str, media_type: String, data: String },
}

/// What a call came to.
pub(super) fn reply(result: CallToolResult) -> Result<ToolReply, ToolFault> {
    let pieces: Vec<Piece> = result.content.into_iter().map(piece).collect();
    if result.is_error == Some(true) {
        let text = text(&pieces);
        let text = match (text.is_empty(), result.structured_content) {
            (false, _) => text,
            (true, Some(value)) => value.to_string(),
            (true, None) => "the tool failed and did not say why".to_owned(),
        };
        return Err(ToolFault::new(cut(&text, ERROR_MAX)));
    }
    let has_media = pieces.iter().any(|piece| matches!(piece, Piece::Media { .. }));
    let output = match result.structured_content {
        Some(value) if !has_media => value,
        _ if has_media => pieces.into_iter().map(part).collect(),
        _ => text(&pieces).into(),
    };
    // A value that came over the wire may be nested deeper than an event may.
    let output: Json = serde_json::from_str(&output.to_string())
        .map_err(|error| ToolFault::new(format!("the tool gave a value that cannot be kept: {error}")))?;
    Ok(ToolReply::new(output))
}

fn text(pieces: &[Piece]) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Media { media_type, .. } => format!("[{media_type}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn part(piece: Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Media { kind, media_type, data } => {
            json!({"type": kind, "mediaType": media_type, "data": data})
        }
    }
}

fn piece(block: ContentBlock) -> Piece {
    match block {
        ContentBlock::Text(text) => Piece::Text(text.text),
        ContentBlock::Image(image) => media(image.mime_type, image.data, "image"),
        ContentBlock::Audio(audio) => media(audio.mime_type, audio.data, "audio"),
        ContentBlock::Resource(resource) => resource_piece(resource.resource),
        ContentBlock::ResourceLink(link) => {
            let what = link.description.or(link.title).unwrap_or(link.name);
            Piece::Text(format!("[resource {}: {what}]", link.uri))
        }
        _ => Piece::Text("[content of a kind that is not known]".to_owned()),
    }
}

fn resource_piece(resource: ResourceContents) -> Piece {
    match resource {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            Piece::Text(format!("[resource {uri}]\n{text}"))
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            media(mime_type.unwrap_or_default(), blob, &format!("resource {uri}"))
        }
        _ => Piece::Text("[a resource of a kind that is not known]".to_owned()),
    }
}

/// Data, if models can look at it; else what there was.
fn media(media_type: String, data: String, what: &str) -> Piece {
    let kind = match media_type.as_str() {
        known if IMAGES.contains(&known) => Some("image"),
        "application/pdf" => Some("document"),
        _ => None,
    };
    // A vendor would refuse the whole conversation for data that is no base64, now and ever after.
    let bytes = STANDARD.decode(&data).map(|bytes| bytes.len());
    match (kind, bytes) {
        (Some(kind), Ok(_)) => Piece::Media { kind, media_type, data },
        (_, Ok(bytes)) => Piece::Text(format!("[{what}, {}, {bytes} bytes]", named(&media_type))),
        (_, Err(_)) => Piece::Text(format!("[{what}, {}, broken]", named(&media_type))),
    }
}

fn named(media_type: &str) -> &str {
    if media_type.is_empty() { "of an unknown type" } else { media_type }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use rmcp::model::CallToolResult;
    use serde_json::{Value, json};

    use super::reply;

    fn check(result: Value, expected: Expect) {
        let result: CallToolResult = serde_json::from_value(result).expect("the test writes results");
        let text = match reply(result) {
            Ok(reply) => reply.output.to_string(),
            Err(fault) => format!("failed: {fault}"),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn text_is_text_and_a_value_is_a_value() {
        let texts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        check(json!({"content": texts}), expect![[r#""a\nb""#]]);
        check(json!({"content": []}), expect![[r#""""#]]);
        check(json!({"content": texts, "structuredContent": {"n": 1}}), expect![[r#"{"n":1}"#]]);
    }

    #[test]
    fn what_a_model_can_look_at_comes_as_parts() {
        check(
            json!({"content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "x:1", "mimeType": "application/pdf", "blob": "aGk="}},
                {"type": "resource", "resource": {"uri": "x:2", "text": "inside"}},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
                {"type": "resource_link", "uri": "x:3", "name": "three"},
                {"type": "image", "data": "no base64!", "mimeType": "image/png"},
                {"type": "image", "data": "aGk=", "mimeType": "image/tiff"},
            ], "structuredContent": {"n": 1}}),
            expect![[
                r#"[{"type":"text","text":"a"},{"type":"image","mediaType":"image/png","data":"aGk="},{"type":"document","mediaType":"application/pdf","data":"aGk="},{"type":"text","text":"[resource x:2]\ninside"},{"type":"text","text":"[audio, audio/wav, 2 bytes]"},{"type":"text","text":"[resource x:3: three]"},{"type":"text","text":"[image, image/png, broken]"},{"type":"text","text":"[image, image/tiff, 2 bytes]"}]"#
            ]],
        );
    }

    #[test]
    fn a_call_that_failed_says_why() {
        let said = |text: &str| json!({"isError": true, "content": [{"type": "text", "text": text}]});
        check(said("no such file"), expect!["failed: no such file"]);
        check(
            json!({"isError": true, "content": []}),
            expect!["failed: the tool failed and did not say why"],
        );
        check(
            json!({"isError": true, "content": [], "structuredContent": {"n": 1}}),
            expect![[r#"failed: {"n":1}"#]],
        );
        let long: CallToolResult = serde_json::from_value(said(&"x".repeat(100_000))).expect("a result");
        assert_eq!(reply(long).expect_err("it failed").message.len(), super::ERROR_MAX + '…'.len_utf8());
    }

    #[test]
    fn a_value_too_deep_for_an_event_is_refused() {
        let deep = (0..110).fold(json!({}), |inner, _| json!({"x": inner}));
        check(
            json!({"content": [], "structuredContent": deep}),
            expect!["failed: the tool gave a value that cannot be kept: nested deeper than 100 levels"],
        );
    }
}
