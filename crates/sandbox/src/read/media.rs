//! Pictures and documents: told by how they begin, given as parts a model can look at.

use antiphon_event::Json;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// What a model can look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// What kind of part it is.
    part: &'static str,
    /// Its media type.
    pub(super) media_type: &'static str,
}

/// What a file is by its first bytes, whatever its name says.
pub(super) fn kind(bytes: &[u8]) -> Option<Kind> {
    let image = |media_type| Some(Kind { part: "image", media_type });
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => image("image/png"),
        [0xff, 0xd8, 0xff, ..] => image("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => image("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => image("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some(Kind { part: "document", media_type: "application/pdf" }),
        _ => None,
    }
}

/// The parts of a reply: what it is, and then it.
pub(super) fn parts(kind: Kind, shown: &str, bytes: &[u8]) -> Json {
    let what = format!("`{shown}`: {}, {} bytes", kind.media_type, bytes.len());
    json!([
        {"type": "text", "text": what},
        {"type": kind.part, "mediaType": kind.media_type, "data": STANDARD.encode(bytes)},
    ])
    .into()
}
