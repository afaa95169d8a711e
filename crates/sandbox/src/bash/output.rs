//! [`Output`]: the beginning and the end of what a program printed, however much that is.

use std::borrow::Cow;

/// What is kept of a stream.
#[derive(Debug)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    /// How many bytes of each end are kept at least.
    kept: usize,
}

impl Output {
    pub(super) fn new(kept: usize) -> Self {
        Self { head: Vec::new(), tail: Vec::new(), total: 0, kept }
    }

    /// Takes in a piece. Costs no more memory once both ends are full.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.kept.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(self.kept)..];
        self.tail.extend_from_slice(last);
        if self.tail.len() > 2 * self.kept {
            self.tail.drain(..self.tail.len() - self.kept);
        }
    }

    /// How many bytes it is.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// At most about so many bytes of it as text, the middle left out with a notice; `bytes_max` is at most what is
    /// kept.
    pub(super) fn render(&self, bytes_max: usize) -> String {
        let all: Cow<'_, [u8]> = if self.tail.is_empty() {
            Cow::Borrowed(&self.head)
        } else {
            Cow::Owned([&self.head[..], &self.tail].concat())
        };
        if self.total <= bytes_max as u64 {
            return String::from_utf8_lossy(&all).into_owned();
        }
        let half = (bytes_max / 2).min(self.kept);
        let (head, tail) = (whole_start(&all[..half]), whole_end(&all[all.len() - half..]));
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let [head, tail] = [head, tail].map(String::from_utf8_lossy);
        format!("{head}\n… ({left_out} of {} bytes left out) …\n{tail}", self.total)
    }
}

/// Bytes without a character at their end that is cut in two.
pub(super) fn whole_start(bytes: &[u8]) -> &[u8] {
    let is_cut = |length: &usize| {
        let end = std::str::from_utf8(&bytes[bytes.len() - length..]);
        end.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    let cut = (1..=bytes.len().min(3)).find(is_cut).unwrap_or(0);
    &bytes[..bytes.len() - cut]
}

/// Bytes without the rest of a character at their start.
fn whole_end(bytes: &[u8]) -> &[u8] {
    let rest = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    &bytes[rest..]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::Output;

    #[test]
    fn both_ends_are_kept_and_characters_stay_whole() {
        let rows: &[(usize, &[&str])] = &[
            (8, &[]),
            (8, &["12345678"]),
            (8, &["1234567", "89"]),
            (8, &["1", "23456789abcdefghijklmnopqrstuvwxyz"]),
            (8, &["äöüäöü", "äöü"]),
            (8, &["aäöüäöü", "äöüa"]),
            (8, &["𝄞𝄞𝄞𝄞"]),
            (6, &["𝄞𝄞𝄞𝄞"]),
        ];
        let row = |(kept, pieces): &(usize, &[&str])| {
            let mut output = Output::new(*kept);
            pieces.iter().for_each(|piece| output.push(piece.as_bytes()));
            format!("{pieces:?}\n    {:?}\n", output.render(*kept))
        };
        let table: String = rows.iter().map(row).collect();
        expect![[r#"
            []
                ""
            ["12345678"]
                "12345678"
            ["1234567", "89"]
                "1234\n… (1 of 9 bytes left out) …\n6789"
            ["1", "23456789abcdefghijklmnopqrstuvwxyz"]
                "1234\n… (27 of 35 bytes left out) …\nwxyz"
            ["äöüäöü", "äöü"]
                "äö\n… (10 of 18 bytes left out) …\nöü"
            ["aäöüäöü", "äöüa"]
                "aä\n… (14 of 20 bytes left out) …\nüa"
            ["𝄞𝄞𝄞𝄞"]
                "𝄞\n… (8 of 16 bytes left out) …\n𝄞"
            ["𝄞𝄞𝄞𝄞"]
                "\n… (16 of 16 bytes left out) …\n"
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn memory_does_not_grow_with_what_is_printed() {
        let mut output = Output::new(1000);
        for _ in 0..10_000 {
            output.push(&[b'x'; 700]);
        }
        assert_eq!(output.total(), 7_000_000);
        assert!(output.head.capacity() + output.tail.capacity() < 10_000);
    }
}
