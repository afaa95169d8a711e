//! Yes and no in words: what a person may answer where nothing else is asked.

use antiphon_event::RelayKind;
use antiphon_event::body::request::Relay;

const YES: [&str; 5] = ["yes", "y", "true", "accept", "approve"];
const NO: [&str; 5] = ["no", "n", "false", "reject", "deny"];

/// Whether a word says yes or no; nothing if it says neither. Case does not matter.
///
/// ```
/// use antiphon_flow::consent::said;
/// assert_eq!(said(" Yes "), Some(true));
/// assert_eq!(said("reject"), Some(false));
/// assert_eq!(said("maybe"), None);
/// ```
pub fn said(word: &str) -> Option<bool> {
    let is = |known: &&str| known.eq_ignore_ascii_case(word.trim());
    if YES.iter().any(is) {
        return Some(true);
    }
    NO.iter().any(is).then_some(false)
}

/// Whether a request asks for yes or no and nothing else.
pub fn is_asked(relay: &Relay) -> bool {
    relay.options.is_none() && relay.schema.is_none() && relay.kind != RelayKind::Question
}
