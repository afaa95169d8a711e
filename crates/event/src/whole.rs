//! [`Whole`]: a whole number however JSON writes it, `3`, `3.0` or `3e0`.
//!
//! JSON does not tell whole numbers from others, and some of its writers write all of them with a fraction. In: a number.
//! Out: the same as an integer; refused if it is none, or if what was written cannot be told any more.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// The highest whole number that no other is taken for when both are read with a fraction or an exponent.
const EXACT_MAX: u64 = (1 << f64::MANTISSA_DIGITS) - 1;

/// A whole number however it is written.
pub(crate) struct Whole<T>(pub(crate) T);

/// What whole numbers are held as.
pub(crate) trait Unsigned: TryFrom<u64> {
    const MAX: u64;
}

impl Unsigned for u32 {
    const MAX: u64 = u32::MAX as u64;
}

impl Unsigned for u64 {
    const MAX: u64 = u64::MAX;
}

/// Reads a member that is a whole number.
pub(crate) fn whole<'de, D: Deserializer<'de>, T: Unsigned>(deserializer: D) -> Result<T, D::Error> {
    Whole::deserialize(deserializer).map(|Whole(number)| number)
}

/// Reads a member that is one, or is absent.
pub(crate) fn maybe<'de, D: Deserializer<'de>, T: Unsigned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.map(|Whole(number)| number))
}

impl<'de, T: Unsigned> Deserialize<'de> for Whole<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(Number(PhantomData))
    }
}

struct Number<T>(PhantomData<T>);

impl<T: Unsigned> Visitor<'_> for Number<T> {
    type Value = Whole<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", T::MAX)
    }

    #[inline]
    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole<T>, E> {
        T::try_from(number).map(Whole).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Whole<T>, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole<T>, E> {
        let too_large = T::MAX as f64 + 1.0;
        if number.fract() != 0.0 || !(0.0..too_large).contains(&number) {
            return Err(E::invalid_value(Unexpected::Float(number), &self));
        }
        if number > EXACT_MAX as f64 {
            return Err(E::custom(format_args!(
                "a number above {EXACT_MAX} is exact only without fraction and exponent, found {number:e}"
            )));
        }
        self.visit_u64(number as u64)
    }
}
