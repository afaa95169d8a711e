//! [`Hash`]: what a history is known by.

use std::fmt;
use std::str::FromStr;

/// A link of the chain over a branch: 32 bytes, written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

/// Text that is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 hex digits")]
pub struct NotAHash;

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digits: Vec<u8> = text.chars().map_while(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
        if digits.len() != 64 || text.len() != 64 {
            return Err(NotAHash);
        }
        Ok(Self(std::array::from_fn(|index| digits[2 * index] << 4 | digits[2 * index + 1])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written_and_nothing_else_is_one() {
        let hash = Hash(std::array::from_fn(|index| index as u8 * 7));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let wrong = [String::new(), "é".repeat(32), "0".repeat(63), "0".repeat(65), "g".repeat(64)];
        for text in wrong {
            assert_eq!(text.parse::<Hash>(), Err(NotAHash), "{text}");
        }
    }
}
