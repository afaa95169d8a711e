//! Times, amounts and ids, written for people.

use antiphon_event::Timestamp;
use antiphon_event::body::system::ModelRetry;
use antiphon_view::Tally;

/// A length of time, to two or three figures.
pub(crate) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1000.0),
        60_000..3_600_000 => format!("{} m {:02} s", millis / 60_000, millis / 1000 % 60),
        _ => format!("{} h {:02} m", millis / 3_600_000, millis / 60_000 % 60),
    }
}

/// A number with its thousands set apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something.
pub(crate) fn several(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// An amount of US dollars: cents, and smaller where that is all there is.
pub(crate) fn dollars(amount: f64) -> String {
    if amount != 0.0 && amount.abs() < 1.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// Tokens, and what they cost where that is known.
pub(crate) fn used(tally: &Tally) -> String {
    let tokens = format!("{} + {} tokens", count(tally.input_tokens), count(tally.output_tokens));
    match tally.cost_usd {
        Some(cost) => format!("{tokens}, {}", dollars(cost.dollars())),
        None => tokens,
    }
}

/// What people are told when a model is asked again: why, and how long that takes.
pub(crate) fn again(retry: &ModelRetry) -> String {
    let when = retry.delay_ms.map(|millis| format!(" in {}", duration(millis))).unwrap_or_default();
    format!("once more{when}, for the last try failed: {}", flat(&retry.reason))
}

/// The time of day, in UTC.
pub(crate) fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    let time = text.split_once('T').map_or(&*text, |(_, time)| time);
    time.trim_end_matches('Z').to_owned()
}

/// An id short enough for a column: of a UUID the end, which tells runs of one session apart; of an id with
/// its run before it, only what comes behind the run.
pub(crate) fn short(id: &str) -> &str {
    if let Some((run, raw)) = id.split_once('/')
        && is_uuid(run)
    {
        return raw;
    }
    if is_uuid(id) { &id[28..] } else { id }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Text of several lines on one, the white space between words as one space.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same with the line ends to be seen, for what is not the same without them.
pub(crate) fn one_line(text: &str) -> String {
    text.trim().lines().map(flat).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ↵ ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        let durations = [0, 999, 1_240, 61_000, 7_500_000].map(duration);
        assert_eq!(durations, ["0 ms", "999 ms", "1.2 s", "1 m 01 s", "2 h 05 m"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.0123, 12.5].map(dollars), ["$0.00", "$0.0123", "$12.50"]);
    }

    #[test]
    fn ids_keep_what_tells_them_apart() {
        let run = "01a1c9bb-2664-7ea7-a6a6-a02f795b929e";
        assert_eq!(short(run), "795b929e");
        assert_eq!(short(&format!("{run}/c1")), "c1");
        assert_eq!(short("r1/c1"), "r1/c1");
        assert_eq!(short("日本"), "日本");
    }
}
