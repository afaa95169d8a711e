//! Bodies of answers, within bounds.

use std::future::ready;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sse_stream::{Error, Sse, SseStream};

/// A body is larger than is allowed.
#[derive(Debug, thiserror::Error)]
#[error("the answer is larger than the {0} bytes that are allowed: ask for less")]
pub(super) struct TooLarge(pub(super) usize);

/// Why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
}

/// All of a body.
pub(super) async fn whole(response: reqwest::Response, bytes_max: usize) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        if body.len() + piece.len() > bytes_max {
            return Err(TooLarge(bytes_max).into());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The events in a body. One that is too large is the last, and `instead` comes in its place.
pub(super) fn events(
    response: reqwest::Response,
    bytes_max: usize,
    instead: impl FnOnce(&TooLarge) -> String + Send + 'static,
) -> BoxStream<'static, Result<Sse, Error>> {
    let mut meter = Meter::default();
    let pieces = response.bytes_stream().map(move |piece| {
        let piece = piece?;
        match meter.most_after(&piece) {
            most if most > bytes_max => Err(Unread::TooLarge(TooLarge(bytes_max))),
            _ => Ok(piece),
        }
    });
    let events = SseStream::from_bytes_stream(pieces);
    let ended = events.scan(Some(instead), |instead, event| ready(bounded(event, instead)));
    ended.boxed()
}

fn bounded<F: FnOnce(&TooLarge) -> String>(
    event: Result<Sse, Error>,
    instead: &mut Option<F>,
) -> Option<Result<Sse, Error>> {
    let too_large = match &event {
        Err(Error::Body(error)) => match error.downcast_ref() {
            Some(Unread::TooLarge(error)) => Some(error),
            Some(Unread::Broken(_)) | None => None,
        },
        _ => None,
    };
    match (too_large, instead.is_some()) {
        (None, true) => Some(event),
        (None, false) => None,
        (Some(error), _) => Some(Ok(Sse::default().data(instead.take()?(error)))),
    }
}

/// How much of an event was seen: an empty line ends it.
#[derive(Debug, Default)]
struct Meter {
    bytes: usize,
    /// The line so far is empty.
    is_empty: bool,
}

impl Meter {
    /// How large an event got by a piece.
    fn most_after(&mut self, piece: &[u8]) -> usize {
        let mut most = 0;
        for byte in piece {
            self.bytes += 1;
            most = most.max(self.bytes);
            match byte {
                b'\n' if self.is_empty => self.bytes = 0,
                b'\n' => self.is_empty = true,
                b'\r' => {}
                _ => self.is_empty = false,
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::Meter;

    #[test]
    fn an_empty_line_ends_an_event_wherever_it_is_cut() {
        let rows: &[(&[&str], usize)] = &[
            (&["data: ab\n\ndata: ab\n\n"], 10),
            (&["data: ab\r\n", "\r", "\ndata: ab\r\n\r\n"], 12),
            (&["data: ab\ndata: ab\n"], 18),
            (&[&"x".repeat(50), &"x".repeat(50)], 100),
        ];
        for (pieces, expected) in rows {
            let mut meter = Meter::default();
            let most = pieces.iter().map(|piece| meter.most_after(piece.as_bytes())).max();
            assert_eq!(most, Some(*expected), "{pieces:?}");
        }
    }
}
