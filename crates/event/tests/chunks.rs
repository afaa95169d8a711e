//! However the bytes are cut into chunks, the same events and the same errors come out.

use antiphon_event::Lines;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const EVERY_TYPE: &str = include_str!("wire/every_type.jsonl");

/// What becomes of the bytes, with the limit of a line, when they are cut at these places.
fn read(bytes: &[u8], cuts: &[usize], line_max: usize) -> Vec<String> {
    let mut lines = Lines::new().line_max(line_max);
    let mut seen = Vec::new();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let mut note = |event: Result<_, antiphon_event::Error>, line: &[u8]| {
        let read =
            event.map_or_else(|error| error.to_string(), |event: antiphon_event::Event| event.to_json());
        seen.push(format!("{read} of {}", String::from_utf8_lossy(line)));
    };
    for ends in cuts.windows(2) {
        lines.feed_with_lines(&bytes[ends[0]..ends[1]], &mut note);
    }
    lines.finish_with_line(&mut note);
    seen
}

/// Pieces of input: good lines, bad ones, bytes that are no text, and line ends of all kinds.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let good = select(EVERY_TYPE.lines().collect::<Vec<_>>()).prop_map(|line| line.as_bytes().to_vec());
    let odd: Vec<&[u8]> = vec![
        b"{",
        b"{\"type\":",
        b"[]",
        b"\xff\xfe",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xc3",
        b" ",
        b"",
        b"{\"type\":\"\xc3\xa9\"}",
    ];
    let piece =
        prop_oneof![3 => good, 1 => select(odd).prop_map(<[u8]>::to_vec), 1 => vec(any::<u8>(), 0..20)];
    let end: Vec<&[u8]> = vec![b"\n", b"\n", b"\r\n", b"\n\n", b""];
    let line = (piece, select(end)).prop_map(|(piece, end)| [&piece, end].concat());
    vec(line, 0..8).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn any_split_gives_what_the_whole_gives(bytes in input(), cuts in vec(any::<usize>(), 0..12), short in any::<bool>()) {
        let line_max = if short { 60 } else { 1 << 20 };
        prop_assert_eq!(read(&bytes, &cuts, line_max), read(&bytes, &[], line_max));
    }

    #[test]
    fn byte_by_byte_gives_what_the_whole_gives(bytes in input()) {
        let cuts: Vec<usize> = (0..bytes.len()).collect();
        prop_assert_eq!(read(&bytes, &cuts, 1 << 20), read(&bytes, &[], 1 << 20));
    }

    #[test]
    fn a_line_is_read_alone_as_among_others(bytes in input()) {
        let whole = read(&bytes, &[], 1 << 20);
        let alone: usize = bytes.split(|byte| *byte == b'\n').map(|line| read(line, &[], 1 << 20).len()).sum();
        // A byte order mark is passed over on a first line only, where alone each line is a first one.
        if !bytes.windows(3).any(|three| three == b"\xef\xbb\xbf") {
            prop_assert_eq!(whole.len(), alone);
        }
    }
}
