//! What taking up a long run costs, and looking back into it: its bars and its table.

use super::super::figures::{Figures, Resume};
use super::{Bar, figure, grouped};

pub(super) fn bars(Figures { resume, .. }: &Figures) -> Vec<Bar> {
    let events = grouped(resume.events);
    let saved = |work: &str, millis| Bar::new(work, "< 10 ms", "ms", Some(millis), |millis| millis < 10.0);
    vec![
        Bar::new(
            &format!("take up a run of {events} events, the first time"),
            "< 1,000 ms",
            "ms",
            Some(resume.first_resume_millis),
            |millis| millis < 1e3,
        ),
        saved("the same with a saved fold", resume.resume_millis),
        saved("look at any position of its past, the slowest of 39", resume.past_worst_millis),
    ]
}

pub(super) fn section(resume: &Resume) -> String {
    let rows = [
        ("from all its events, as the first time", resume.first_resume_millis),
        ("from its last saved fold", resume.resume_millis),
        ("only looked at, as it is at its end", resume.look_millis),
        ("only looked at, as it was at a position of its past, median", resume.past_median_millis),
        ("the same, the slowest of 39", resume.past_worst_millis),
    ];
    let lines: String =
        rows.iter().map(|(work, millis)| format!("| {work} | {} ms |\n", figure(*millis))).collect();
    format!(
        "\n## Taking up a run\n\n\
        A run of {} events in SQLite that waits for a person; wall time from opening the file until it is ready.\n\n\
        | work | measured |\n|---|---:|\n{lines}",
        grouped(resume.events)
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn figures() -> Resume {
        Resume {
            events: 1_000_000,
            resume_millis: 3.0,
            look_millis: 2.0,
            past_median_millis: 5.0,
            past_worst_millis: 11.0,
            first_resume_millis: 900.0,
        }
    }
}
