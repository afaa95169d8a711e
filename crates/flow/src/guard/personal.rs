//! What belongs to a person: mail addresses, accounts, cards, numbers, addresses of machines.
//!
//! Whatever carries a checksum is checked by it, so that order numbers and hashes are left alone.

use std::sync::LazyLock;

use super::detector::{Detector, anything};

static DETECTORS: LazyLock<Vec<Detector>> = LazyLock::new(|| {
    vec![
        Detector::new(
            "email",
            r"[A-Za-z0-9._%+'-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b",
            anything,
        ),
        Detector::new("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", is_iban),
        Detector::new("card number", r"\b[0-9](?:[ -]?[0-9]){12,18}\b", is_card),
        Detector::new("ssn", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", is_ssn),
        Detector::new("ip address", r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b", is_address),
        Detector::new("phone number", r"\+[0-9]{1,3}(?:[ .-]?\(?[0-9]{1,4}\)?){2,6}\b", is_phone),
        Detector::new("phone number", r"\(?\b[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b", is_phone),
    ]
});

/// What finds them, the surest first.
pub(super) fn detectors() -> &'static [Detector] {
    &DETECTORS
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// By the remainder of 97 that every account number has.
fn is_iban(text: &str) -> bool {
    let plain: Vec<char> = text.chars().filter(|c| *c != ' ').collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let turned = plain[4..].iter().chain(&plain[..4]);
    let remainder = turned.fold(0, |remainder, c| match c.to_digit(36) {
        Some(digit) if digit < 10 => (remainder * 10 + digit) % 97,
        Some(letter) => (remainder * 100 + letter) % 97,
        None => remainder,
    });
    remainder == 1
}

/// By Luhn's checksum; a digit repeated is nobody's card.
fn is_card(text: &str) -> bool {
    let digits = digits(text);
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match digit * (1 + place as u32 % 2) {
            doubled if doubled > 9 => doubled - 9,
            digit => digit,
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0]) && digits[0] != 0
}

/// Without the numbers that are never given.
fn is_ssn(text: &str) -> bool {
    let (area, rest) = text.split_at(3);
    let never = area == "000" || area == "666" || area.starts_with('9');
    !never && !rest.starts_with("-00") && !rest.ends_with("0000")
}

/// Of a machine somewhere: not this one, all, or none.
fn is_address(text: &str) -> bool {
    let parts: Vec<_> = text.split('.').map(str::parse::<u8>).collect();
    let in_range = parts.iter().all(Result::is_ok);
    in_range && !text.starts_with("127.") && text != "0.0.0.0" && text != "255.255.255.255"
}

fn is_phone(text: &str) -> bool {
    (8..=15).contains(&digits(text).len())
}
