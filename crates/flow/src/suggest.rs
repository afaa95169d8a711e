//! Did you mean: the known name nearest to one that is not known.

/// How like two names must be for one to be suggested for the other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// The longest name that is compared, in bytes; comparing costs the product of the lengths.
const LENGTH_MAX: usize = 100;

/// The nearest of the known names, if any is near; the first of several that are equally near.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > LENGTH_MAX {
        return None;
    }
    let mut best = None;
    let lower = wrong.to_lowercase();
    for name in known.into_iter().filter(|name| name.len() <= LENGTH_MAX) {
        let alike = strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase());
        let alike = alike.max(strsim::jaro_winkler(&lower, &name.to_lowercase()) - 0.15);
        if alike >= ALIKE && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The same as the end of a message: `; did you mean …?`, or nothing.
pub(crate) fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
}
