//! The tree of agents, with what each did and used.

use antiphon_event::AgentId;
use antiphon_view::Tally;
use antiphon_view::agents::{AgentRow, Agents};

use super::payload::word;
use super::status::status;
use super::unit::{count, flat, used};
use super::{Ink, Line, Page, nothing, tree_on};

/// Lays out all agents, children under their parents.
pub(super) fn lines(agents: &Agents, page: Page) -> Vec<Line> {
    let rows: Vec<_> = agents.walk().map(|(depth, agent)| (depth, vec![row(agent)])).collect();
    if rows.is_empty() {
        return nothing("no agent took part");
    }
    tree_on(page.width, rows)
}

fn row(agent: &AgentRow) -> Line {
    let id = agent.id.as_ref().map(AgentId::as_str);
    let name = agent.name.as_deref().or(id).unwrap_or("(nobody in particular)");
    let mut line = Line::new().ink(if agent.placeholder { Ink::Faint } else { Ink::Agent }, name);
    if let Some(id) = id.filter(|id| *id != name) {
        line = line.ink(Ink::Faint, format!(" ({id})"));
    }
    if let Some(role) = &agent.role {
        line = line.plain("  ").plain(flat(role));
    }
    if let Some(model) = &agent.model {
        line = line.ink(Ink::Faint, format!(" on {}", flat(model)));
    }
    line = line.plain("  ").join(status(&word(&agent.status)));
    if agent.runs > 1 {
        line = line.plain(format!(" {} runs", count(agent.runs)));
    }
    if agent.tree != Tally::default() {
        line = line.ink(Ink::Faint, "  ").plain(used(&agent.tree));
    }
    if agent.tree != agent.own && agent.own != Tally::default() {
        line = line.ink(Ink::Faint, format!(" (itself {})", used(&agent.own)));
    }
    line
}
