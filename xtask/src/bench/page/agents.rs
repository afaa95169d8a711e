//! What the agent loop costs: its bars, its table, and the agents of Strands beside it.

use super::super::figures::{Agents, Figures, Strands, StrandsRow};
use super::{Bar, figure, grouped};

pub(super) fn bars(Figures { agents, .. }: &Figures) -> Vec<Bar> {
    let bar = |work: &str, asked, unit, measured: f64, reached| {
        Bar::new(work, asked, unit, Some(measured), reached)
    };
    vec![
        // A step is one model call and one call of a tool, for each of which 50 µs are allowed.
        bar(
            "agent loop, one model call and one tool call",
            "≤ 100 µs",
            "µs",
            agents.step_micros,
            |micros| micros <= 100.0,
        ),
        bar(
            "the last steps of 500 over the first ones",
            "≤ 1.25 ×",
            "×",
            agents.last_steps_micros / agents.first_steps_micros,
            |ratio| ratio <= 1.25,
        ),
        bar("turn of a model that writes code", "≤ 2 ms", "ms", agents.turn_micros / 1e3, |millis| {
            millis <= 2.0
        }),
        bar(
            "streamed pieces through loop, SQLite, graph and thread",
            "≥ 200 k/s",
            "k/s",
            agents.pieces_per_second / 1e3,
            |rate| rate >= 200.0,
        ),
    ]
}

pub(super) fn section(agents: &Agents) -> String {
    format!(
        "\n## Agents\n\n\
        Around a scripted model and tools that take no time, medians of wall time.\n\n\
        | work | |\n|---|---:|\n\
        | one model call and one call of a tool, in memory | {} µs |\n\
        | the same near the beginning of a run of 500 | {} µs |\n\
        | the same near its end | {} µs |\n\
        | one turn of a model that writes code, in memory | {} µs |\n\
        | streamed pieces of an answer, durable in SQLite and read along into graph and thread | {} a second |\n\
        | one agent of a chain of 200 in a flow, in memory | {} µs |\n\
        | one agent by itself that says one word, in memory | {} µs |\n",
        figure(agents.step_micros),
        figure(agents.first_steps_micros),
        figure(agents.last_steps_micros),
        figure(agents.turn_micros),
        grouped(agents.pieces_per_second as usize),
        figure(agents.agent_micros),
        figure(agents.bare_micros),
    )
}

/// The agents of Strands, if they were measured.
pub(super) fn beside(figures: &Figures) -> Option<String> {
    let (ours, Strands { version, rows }) = (&figures.agents, figures.peers.agents.as_ref()?);
    let line = |work: String, millis: f64, ours: f64| {
        let theirs = millis * 1e3;
        format!("| {work} | {} | {} | {} × |\n", figure(theirs), figure(ours), figure(theirs / ours))
    };
    let lines: String = rows
        .iter()
        .flat_map(|StrandsRow { agents, graph_millis, bare_millis }| {
            [
                line(format!("agent of a chain of {agents}"), *graph_millis, ours.agent_micros),
                line(format!("agent by itself, one of {agents}"), *bare_millis, ours.bare_micros),
            ]
        })
        .collect();
    Some(format!(
        "\nBeside the agents of Strands, {version}: each says one word over a model in the same process that answers at\n\
        once. Microseconds of wall time per agent; ours is one of 200 and keeps every event in a journal in memory, theirs\n\
        keep nothing.\n\n\
        | work | theirs | ours | ratio |\n|---|---:|---:|---:|\n{lines}"
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Agents, Strands, StrandsRow};

    pub(in super::super) fn figures() -> Agents {
        Agents {
            step_micros: 40.0,
            first_steps_micros: 39.0,
            last_steps_micros: 52.0,
            turn_micros: 300.0,
            pieces_per_second: 250_000.0,
            agent_micros: 60.0,
            bare_micros: 80.0,
        }
    }

    pub(in super::super) fn strands() -> Strands {
        let row = StrandsRow { agents: 200, graph_millis: 0.6, bare_millis: 0.4 };
        Strands { version: "sdk 1".to_owned(), rows: vec![row] }
    }
}
