//! Others that run graphs, beside ours: which of their scenarios is which of ours, and what is asked of the ratio.

use super::super::figures::{Engine, Figures, FlowPoint, Timing};
use super::{Bar, figure, flows};

/// The same work on both sides.
struct Match {
    peer: &'static str,
    work: &'static str,
    /// Their scenario, and where they keep it.
    theirs: (&'static str, &'static str),
    /// Our row, and its number of nodes.
    ours: (&'static str, usize),
    least: Option<Least>,
}

/// How many times as fast we are asked to be.
type Least = (&'static str, fn(f64) -> bool);

const HUNDRED: Option<Least> = Some(("≥ 100 ×", |ratio| ratio >= 100.0));
const FIFTY: Option<Least> = Some(("≥ 50 ×", |ratio| ratio >= 50.0));
const TWENTY: Option<Least> = Some(("≥ 20 ×", |ratio| ratio >= 20.0));
const TEN: Option<Least> = Some(("≥ 10 ×", |ratio| ratio >= 10.0));

const CHAIN: (&str, usize) = ("memory chain", 1_000);
const FAN: (&str, usize) = ("memory fan-out", 1_000);
const CYCLE: (&str, usize) = ("memory cycle", 10_000);
const DENSE: (&str, usize) = ("memory dense 16×16", 256);

const fn same(
    peer: &'static str,
    work: &'static str,
    theirs: (&'static str, &'static str),
    ours: (&'static str, usize),
    least: Option<Least>,
) -> Match {
    Match { peer, work, theirs, ours, least }
}

#[rustfmt::skip]
const MATCHES: &[Match] = &[
    same("LangGraph", "chain of 1,000", ("chain 1000", "none"), CHAIN, HUNDRED),
    same("LangGraph", "fan-out of 1,000", ("fan-out 1000", "none"), FAN, HUNDRED),
    same("LangGraph", "loop of 10,000", ("loop 10000", "none"), CYCLE, HUNDRED),
    same("LangGraph", "chain of 1,000, durable", ("chain 1000", "sqlite"), ("file chain", 1_000), None),
    same("LangGraph", "fan-out of 1,000, durable", ("fan-out 1000", "sqlite"), ("file fan-out", 1_000), None),
    same("LangGraph", "loop of 1,000, durable", ("loop 1000", "sqlite"), ("file cycle", 1_000), None),
    same("LangGraph", "react_agent_100x, durable", ("react_agent_100x", "sqlite"), ("file react_agent_100x", 201), TWENTY),
    same("LangGraph", "wide_dict_15x600, durable", ("wide_dict_15x600", "sqlite"), ("file wide_dict_15x600", 42), TWENTY),
    same("LangGraph", "fanout_to_subgraph_100x, durable", ("fanout_to_subgraph_100x", "sqlite"), ("file fanout_to_subgraph_100x", 1_300), TWENTY),
    same("Strands (TypeScript)", "chain of 1,000", ("chain:1000", "none"), CHAIN, FIFTY),
    same("Strands (TypeScript)", "fan-out of 1,000", ("fan:1000", "none"), FAN, FIFTY),
    same("Strands (TypeScript)", "loop of 10,000", ("cycle:10000", "none"), CYCLE, TEN),
    same("Strands (TypeScript)", "dense 16×16", ("dense:16", "none"), DENSE, None),
    same("Strands (Python)", "chain of 1,000", ("chain:1000", "none"), CHAIN, FIFTY),
    same("Strands (Python)", "fan-out of 1,000", ("fan:1000", "none"), FAN, FIFTY),
    same("Strands (Python)", "loop of 10,000", ("cycle:10000", "none"), CYCLE, TEN),
    same("Strands (Python)", "dense 16×16", ("dense:16", "none"), DENSE, None),
    same("pydantic-graph", "chain of 1,000", ("chain_1000", "none"), CHAIN, TWENTY),
    same("pydantic-graph", "fan-out of 1,000", ("fanout_1000", "none"), FAN, TWENTY),
    same("pydantic-graph", "loop of 10,000", ("loop_10000", "none"), CYCLE, TWENTY),
    same("AgentOS", "chain of 1,000", ("chain, no checkpoints, stream() drained 1000", "none"), CHAIN, HUNDRED),
    same("AgentOS", "fan-out of 1,000", ("fan-out/fan-in, parallel batch 1000", "none"), FAN, HUNDRED),
    same("AgentOS", "10,000 runs of one node, in place of a loop", ("10,000 separate one-node runs 10000", "none"), CYCLE, None),
    same("AgentOS", "chain of 10,000, in place of a loop", ("loop unrolled to a 10,000-node chain 10000", "none"), ("memory chain", 10_000), HUNDRED),
];

/// Microseconds per node.
#[derive(Clone, Copy)]
struct Each {
    wall: f64,
    cpu: f64,
}

impl Match {
    fn theirs(&self, engine: &Engine) -> Option<Each> {
        let (scenario, store) = self.theirs;
        let found = engine.rows.iter().filter(|row| row.scenario == scenario && row.store == store);
        let each = |row: &Timing| {
            let each = |millis: f64| millis * 1e3 / row.nodes as f64;
            Each { wall: each(row.wall_ms), cpu: each(row.cpu_ms) }
        };
        // What was measured in two ways counts as the faster.
        found.map(each).reduce(|a, b| Each { wall: a.wall.min(b.wall), cpu: a.cpu.min(b.cpu) })
    }

    fn ours(&self, figures: &Figures) -> Option<Each> {
        let (name, nodes) = self.ours;
        let FlowPoint { wall_nanos, cpu_nanos, .. } = flows::point(&figures.flows, name, nodes)?;
        Some(Each { wall: wall_nanos / 1e3, cpu: cpu_nanos / 1e3 })
    }

    /// How many times as fast we are, by either time.
    fn ratio(&self, figures: &Figures) -> Option<Each> {
        let engine = figures.peers.engines.iter().find(|engine| engine.name == self.peer)?;
        let (ours, theirs) = (self.ours(figures)?, self.theirs(engine)?);
        Some(Each { wall: theirs.wall / ours.wall, cpu: theirs.cpu / ours.cpu })
    }
}

pub(super) fn bars(figures: &Figures) -> Vec<Bar> {
    let bar = |same: &Match| {
        let (asked, reached) = same.least?;
        let ratio = same.ratio(figures).map(|ratio| ratio.wall.min(ratio.cpu));
        Some(Bar::new(&format!("against {}, {}", same.peer, same.work), asked, "×", ratio, reached))
    };
    MATCHES.iter().filter_map(bar).collect()
}

pub(super) fn section(figures: &Figures) -> Option<String> {
    let engines = &figures.peers.engines;
    if engines.is_empty() {
        return None;
    }
    let versions: Vec<&str> = engines.iter().map(|engine| engine.version.as_str()).collect();
    let lines: String = engines.iter().flat_map(|engine| lines(figures, engine)).collect();
    Some(format!(
        "\n## Against others that run graphs\n\n\
        {}.\n\nMicroseconds per node, medians; the ratio is theirs divided by ours, by wall time and by the\n\
        processor time of all threads, and against the bars the smaller counts. Nodes do nothing. Ours keeps every event in\n\
        a journal in memory, theirs keeps nothing, or, where it says durable, both have each step in SQLite before the\n\
        next begins. {NOT_THE_SAME}\n\n\
        | peer | work | their wall | ours | ratio | their processor | ours | ratio |\n\
        |---|---|---:|---:|---:|---:|---:|---:|\n{lines}",
        versions.join("; ")
    ))
}

/// What to bear in mind.
const NOT_THE_SAME: &str = "What differs: LangGraph runs in steps for all nodes at once\n\
    and hands each node the state, ours the outputs of its sources; the faster of its plain and its async functions\n\
    counts where both were measured. A fan-out is one node, a thousand and one with Strands, without the first with\n\
    LangGraph and AgentOS, and a thousand altogether here; with pydantic-graph it is one step that is handed a thousand\n\
    items. A loop is one node with LangGraph and pydantic-graph, two here and with Strands. A graph with a cycle runs no\n\
    node with AgentOS, so two other things stand in. Strands, pydantic-graph and AgentOS keep nothing in a file. A dense\n\
    graph of fifty layers takes Strands minutes, so it has sixteen.";

fn lines(figures: &Figures, engine: &Engine) -> Vec<String> {
    let line = |same: &Match| {
        let head = format!("| {} | {} |", same.peer, same.work);
        let (Some(ours), Some(theirs), Some(ratio)) =
            (same.ours(figures), same.theirs(engine), same.ratio(figures))
        else {
            return format!("{head} not within {} s | | | | | |\n", engine.limit);
        };
        let side = |theirs: f64, ours: f64, ratio: f64| {
            format!(" {} | {} | {} × |", figure(theirs), figure(ours), figure(ratio))
        };
        let wall = side(theirs.wall, ours.wall, ratio.wall);
        format!("{head}{wall}{}\n", side(theirs.cpu, ours.cpu, ratio.cpu))
    };
    MATCHES.iter().filter(|same| same.peer == engine.name).map(line).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::figures::{Growth, Machine, Peers};
    use super::super::{agents, journal, resume};
    use super::*;

    #[test]
    fn the_faster_of_theirs_and_the_smaller_ratio_count() {
        let row = |scenario: &str, wall_ms, cpu_ms| Timing {
            scenario: scenario.to_owned(),
            store: "none".to_owned(),
            nodes: 1_000,
            wall_ms,
            cpu_ms,
        };
        let engine = Engine {
            name: "LangGraph",
            version: "langgraph 1".to_owned(),
            limit: 9,
            rows: vec![row("chain 1000", 800.0, 640.0), row("chain 1000", 700.0, 720.0)],
        };
        let figures = Figures {
            machine: Machine { cores: 2, model: String::new(), rustc: String::new() },
            growth: Growth { rows: vec![], tenths: vec![], memory: None, peers: vec![] },
            instructions: None,
            flows: flows::tests::figures(),
            journal: journal::tests::figures(),
            resume: resume::tests::figures(),
            agents: agents::tests::figures(),
            peers: Peers { engines: vec![engine], ..Peers::default() },
        };
        let bars = bars(&figures).into_iter().filter_map(|bar| bar.measured);
        assert_eq!(bars.collect::<Vec<_>>(), [80.0], "only what was measured has a bar");
        let lines = lines(&figures, &figures.peers.engines[0]);
        expect![[r#"
            | LangGraph | chain of 1,000 | 700 | 7.00 | 100 × | 640 | 8.00 | 80.0 × |
            | LangGraph | fan-out of 1,000 | not within 9 s | | | | | |
        "#]]
        .assert_eq(&lines[..2].concat());
    }
}
