//! Did you mean: the known name nearest to one that is not known.

/// How like two names must be for one to be suggested for the other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// The longest name that is compared, in bytes; comparing costs the product of the lengths.
const LENGTH_MAX: usize = 100;

/// How many names are listed where none is near.
const LISTED_MAX: usize = 12;

/// The nearest of the known names, if any is near; the first of several that are equally near.
///
/// ```
/// use antiphon_event::near::nearest;
///
/// assert_eq!(nearest("reserch", ["write", "research"]), Some("research"));
/// assert_eq!(nearest("publish", ["write", "research"]), None);
/// assert_eq!(nearest("smu", ["last", "sum", "min"]), Some("sum"));
/// ```
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > LENGTH_MAX {
        return None;
    }
    let mut best = None;
    let lower = wrong.to_lowercase();
    for name in known.into_iter().filter(|name| name.len() <= LENGTH_MAX) {
        let alike = strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase());
        let alike = alike.max(strsim::jaro_winkler(&lower, &name.to_lowercase()) - 0.15);
        let alike = if is_swapped(&lower, &name.to_lowercase()) { alike.max(ALIKE) } else { alike };
        if alike >= ALIKE && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Whether two neighbouring letters of a name, however short it is, changed places.
fn is_swapped(wrong: &str, name: &str) -> bool {
    let is_one = || strsim::damerau_levenshtein(wrong, name) == 1;
    wrong.len() > 2 && wrong.len() == name.len() && is_one() && strsim::levenshtein(wrong, name) == 2
}

/// The same as the end of a message: `; did you mean …?`, or nothing.
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// What to say to somebody who wrote a name that is not known: the nearest, else which there are, if there are any.
///
/// ```
/// use antiphon_event::near::help;
///
/// assert_eq!(help("wirte", ["write", "research"]).as_deref(), Some("did you mean `write`?"));
/// assert_eq!(help("publish", ["write", "research"]).as_deref(), Some("there are write, research"));
/// ```
pub fn help<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, known.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None => listed(&known),
    }
}

/// Which names there are; nothing if there are none.
fn listed(known: &[&str]) -> Option<String> {
    let shown: Vec<&str> =
        known.iter().copied().filter(|name| name.len() <= LENGTH_MAX).take(LISTED_MAX).collect();
    if shown.is_empty() {
        return None;
    }
    let more = known.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("there are {}{more}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{help, nearest};

    #[test]
    fn what_is_near_is_suggested_and_what_is_far_is_not() {
        let known = ["research", "write", "review", "max_executions"];
        for (wrong, right) in [
            ("reserch", Some("research")),
            ("Write", Some("write")),
            ("maxExecutions", Some("max_executions")),
            ("reveiw", Some("review")),
            ("publish", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), right, "{wrong}");
        }
    }

    #[test]
    fn where_nothing_is_near_some_of_what_there_is_is_named() {
        let many: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
        let told = help("publish", many.iter().map(String::as_str));
        assert_eq!(
            told.as_deref(),
            Some("there are n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11 and 8 more")
        );
        assert_eq!(help("publish", []), None);
    }
}
