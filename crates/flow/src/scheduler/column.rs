//! [`Column`]: a value for each of many, as it is written down: what is the same for neighbours stands there once.

use serde::{Deserialize, Serialize};

/// Values in order, each with how often it follows itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Column<T>(Vec<(T, usize)>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Column<T> {
    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.0.iter().fold(0, |sum, (_, times)| sum.saturating_add(*times))
    }
}

impl<T: Clone> Column<T> {
    /// The values one by one. What was read may say any number of times: nobody may ask for all of them who does not
    /// know how many there should be.
    pub(super) fn into_values(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flat_map(|(value, times)| std::iter::repeat_n(value, times))
    }
}

impl<T: Clone + PartialEq> Column<T> {
    /// One more value at the end.
    pub(super) fn push(&mut self, value: &T) {
        match self.0.last_mut() {
            Some((last, times)) if last == value => *times += 1,
            _ => self.0.push((value.clone(), 1)),
        }
    }
}

impl<T: Clone + PartialEq> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Self::default();
        for value in values {
            column.push(&value);
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use super::Column;

    #[test]
    fn neighbours_that_are_the_same_are_written_once() {
        let values = [3, 3, 3, 1, 3, 3];
        let column: Column<u8> = values.into_iter().collect();
        let written = serde_json::to_string(&column).expect("numbers are JSON");
        assert_eq!(written, "[[3,3],[1,1],[3,2]]");
        let read: Column<u8> = serde_json::from_str(&written).expect("as it was written");
        assert_eq!(read.len(), 6);
        assert_eq!(read.into_values().collect::<Vec<_>>(), values);
    }

    #[test]
    fn a_column_that_says_too_much_is_long_and_nothing_else() {
        let column: Column<u8> =
            serde_json::from_str(&format!("[[1,{max}],[2,{max}]]", max = usize::MAX)).expect("a column");
        assert_eq!(column.len(), usize::MAX);
    }
}
