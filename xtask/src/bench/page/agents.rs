//! What the agent loop costs: its bars and its table.

use super::super::figures::{Agents, Figures};
use super::{Bar, figure, grouped};

pub(super) fn bars(Figures { agents, .. }: &Figures) -> Vec<Bar> {
    // A step is one model call and one call of a tool, for each of which 50 µs are allowed.
    vec![
        Bar::new(
            "agent loop, one model call and one tool call",
            "≤ 100 µs",
            "µs",
            Some(agents.step_micros),
            |micros| micros <= 100.0,
        ),
        Bar::new(
            "streamed pieces through loop, SQLite, graph and thread",
            "≥ 200 k/s",
            "k/s",
            Some(agents.pieces_per_second / 1e3),
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
        | streamed pieces of an answer, durable in SQLite and read along into graph and thread | {} a second |\n\
        | one agent of a chain of 200 in a flow, in memory | {} µs |\n",
        figure(agents.step_micros),
        grouped(agents.pieces_per_second as usize),
        figure(agents.agent_micros),
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::Agents;

    pub(in super::super) fn figures() -> Agents {
        Agents { step_micros: 40.0, pieces_per_second: 250_000.0, agent_micros: 60.0 }
    }
}
