//! [`Piece`]: a part of a message, as vendors can be shown it.

use antiphon_agent::Content;
use antiphon_event::body::content::{Part, PartKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text; a document that is text is, too.
    Text(String),
    /// An image in base64.
    Image { media_type: String, data: String },
    /// A document in base64.
    Document { media_type: String, data: String, name: String },
}

/// What the JSON of a part may have besides its kind.
#[derive(Deserialize)]
struct Members {
    data: Option<String>,
    name: Option<String>,
}

/// The parts of a message that there is anything in.
pub(crate) fn pieces(content: &Content) -> Vec<Piece> {
    let all: Vec<_> = match content {
        Content::Text(text) => vec![Piece::Text(text.clone())],
        Content::Parts(parts) => parts.iter().map(piece).collect(),
    };
    all.into_iter().filter(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty())).collect()
}

fn piece(part: &Part) -> Piece {
    let members = serde_json::from_str(part.json.as_str());
    let Members { data, name } = members.unwrap_or(Members { data: None, name: None });
    match (&part.kind, data) {
        (PartKind::Text { text }, _) => Piece::Text(text.clone()),
        (PartKind::Image { media_type }, Some(data)) => Piece::Image { media_type: media_type.clone(), data },
        (PartKind::Document { media_type }, Some(data)) => document(media_type, data, name),
        (PartKind::Image { media_type } | PartKind::Document { media_type }, None) => {
            Piece::Text(format!("[{media_type} without its data]"))
        }
        (PartKind::Other, _) => Piece::Text("[a part that cannot be shown]".to_owned()),
    }
}

fn document(media_type: &str, data: String, name: Option<String>) -> Piece {
    let is_text = media_type.starts_with("text/") || media_type == "application/json";
    let text = || STANDARD.decode(&data).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(text) = is_text.then(text).flatten() {
        return Piece::Text(name.map_or(text.clone(), |name| format!("{name}:\n{text}")));
    }
    let name = name.unwrap_or_else(|| "document".to_owned());
    Piece::Document { media_type: media_type.to_owned(), data, name }
}
