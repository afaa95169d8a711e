//! Goes through the texts of a value, names of members too, and replaces what detectors find.
//!
//! In: a value. Out: a clean copy, and how often each kind of thing was found. Start reading at [`Sweep::clean`].

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::detector::Detector;

/// One way through a value.
pub(super) struct Sweep<'d> {
    detectors: &'d [Detector],
    /// What the text of a member is, seen together with the member's name.
    of_member: fn(&str, &str) -> Option<&'static str>,
    found: BTreeMap<&'static str, usize>,
}

impl<'d> Sweep<'d> {
    pub(super) fn new(detectors: &'d [Detector], of_member: fn(&str, &str) -> Option<&'static str>) -> Self {
        Self { detectors, of_member, found: BTreeMap::new() }
    }

    /// A copy without what was found.
    pub(super) fn clean(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.clean(item)).collect(),
            Value::Object(members) => self.members(members).into(),
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                // A card number is as private without quotes.
                let text = number.to_string();
                let clean = self.text(&text);
                if clean == text { value.clone() } else { clean.into() }
            }
        }
    }

    /// What was found and how often, if anything.
    pub(super) fn message(&self) -> Option<String> {
        let part = |(label, count): (&&str, &usize)| match count {
            1 => (*label).to_owned(),
            many => format!("{label} ({many} times)"),
        };
        let parts: Vec<_> = self.found.iter().map(part).collect();
        (!parts.is_empty()).then(|| format!("found {}", parts.join(", ")))
    }

    fn members(&mut self, members: &Map<String, Value>) -> Map<String, Value> {
        let mut clean = Map::new();
        for (name, value) in members {
            let value = match value.as_str().and_then(|text| (self.of_member)(name, text)) {
                Some(label) => self.removed(label).into(),
                None => self.clean(value),
            };
            let mut fresh = self.text(name);
            if clean.contains_key(&fresh) {
                // Two that were cleaned must stay two.
                fresh = format!("{fresh} {}", clean.len() + 1);
            }
            clean.insert(fresh, value);
        }
        clean
    }

    fn removed(&mut self, label: &'static str) -> String {
        *self.found.entry(label).or_default() += 1;
        format!("[removed: {label}]")
    }

    fn text(&mut self, text: &str) -> String {
        let mut clean = String::new();
        let mut done = 0;
        for (start, end, label) in places(self.detectors, text) {
            clean += &text[done..start];
            clean += &self.removed(label);
            done = end;
        }
        clean + &text[done..]
    }
}

/// Where there is something in a text, from left to right. Where two overlap, the earlier detector counts.
fn places(detectors: &[Detector], text: &str) -> Vec<(usize, usize, &'static str)> {
    let mut taken: BTreeMap<usize, (usize, &'static str)> = BTreeMap::new();
    for detector in detectors {
        for (start, end) in detector.find(text) {
            let before = taken.range(..end).next_back();
            if before.is_none_or(|(_, (taken_end, _))| *taken_end <= start) {
                taken.insert(start, (end, detector.label));
            }
        }
    }
    taken.into_iter().map(|(start, (end, label))| (start, end, label)).collect()
}
