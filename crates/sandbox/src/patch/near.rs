//! What comes near a text that is not there: so that whoever looked for it sees what differs.

use crate::text::cut;

/// How many pairs of lines are compared at most.
const PAIRS_MAX: usize = 20_000_000;
/// How many characters of a line are shown.
const SHOWN_CHARS: usize = 160;

/// Says that a text is not there, and where it nearly is.
pub(super) fn miss(content: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(content);
    let have: Vec<&str> = text.lines().collect();
    let want: Vec<&str> = old.lines().collect();
    let Some(first) = nearest(&have, &want) else {
        return "`old` is not in the file, nor anything near it: read it again".to_owned();
    };
    let place = if want.len() == 1 {
        format!("line {} comes near", first + 1)
    } else {
        format!("lines {} to {} come near", first + 1, first + want.len())
    };
    let unlike = want.iter().zip(&have[first..]).enumerate().find(|(_, (want, have))| want != have);
    let how = unlike.map_or_else(String::new, |(index, (want, have))| {
        let [want, have] = [want, have].map(|line| cut(line, SHOWN_CHARS).into_owned());
        format!(": line {} is {have:?}, `old` has {want:?}", first + index + 1)
    });
    format!("`old` is not in the file; {place}{how}")
}

/// The first line of the place where most lines are alike but for white space: at least half of them.
fn nearest(have: &[&str], want: &[&str]) -> Option<usize> {
    let last = have.len().checked_sub(want.len())?;
    if want.is_empty() || have.len().saturating_mul(want.len()) > PAIRS_MAX {
        return None;
    }
    let [have, want] = [have, want].map(|lines| lines.iter().map(|line| squeeze(line)).collect::<Vec<_>>());
    if let [only] = want.as_slice() {
        return have.iter().position(|line| !only.is_empty() && line.contains(only.as_str()));
    }
    let alike = |first: usize| want.iter().zip(&have[first..]).filter(|(want, have)| want == have).count();
    let (first, lines) = (0..=last).map(|first| (first, alike(first))).max_by_key(|(first, lines)| {
        // Of several that are as near, the first.
        (*lines, usize::MAX - first)
    })?;
    (lines * 2 >= want.len()).then_some(first)
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
