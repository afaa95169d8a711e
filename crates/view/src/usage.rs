//! [`Usage`]: tokens and cost, in all and by run, agent, node and model.
//!
//! In: `usage` events, what the ends of runs say beyond these, and what was said before about who runs where.
//! Start reading at [`Totals`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::body::lifecycle::HarnessEnd;
use antiphon_event::body::system::Usage as Used;
use antiphon_event::{AgentId, Body, Event, FlowNodeId, RunId};
use serde::{Deserialize, Serialize};

use crate::index::Index;
use crate::money::Cost;
use crate::value::agent_name;
use crate::{Changes, View, path};

/// What a model call without a model is counted under.
const UNKNOWN: &str = "unknown";

/// Tokens and cost, by who used them.
///
/// Every model call counts once, whatever became of its answer: vendors bill what is thrown away, too. Of a run whose end
/// says that it used more than its calls did, the rest counts as well, of a model nobody knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Usage {
    total: Totals,
    runs: Table,
    agents: Table,
    nodes: Table,
    models: Table,
    /// What was said about a run when it started, for usage that does not say it.
    known: BTreeMap<RunId, Known>,
}

/// What model calls used together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Model calls.
    pub calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Of the tokens read, those that came from the vendor's cache.
    pub cache_read_tokens: u64,
    /// Of the tokens read, those that were put into the vendor's cache.
    pub cache_creation_tokens: u64,
    /// The price of the calls that have one.
    pub cost_usd: Cost,
    /// Model calls without a price.
    pub unpriced: u64,
}

impl Totals {
    /// What one model call used.
    pub fn of(used: &Used) -> Self {
        Self {
            calls: 1,
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            cache_read_tokens: used.cache_read_tokens.unwrap_or(0),
            cache_creation_tokens: used.cache_creation_tokens.unwrap_or(0),
            cost_usd: used.cost_usd.map(Cost::from_dollars).unwrap_or_default(),
            unpriced: u64::from(used.cost_usd.is_none()),
        }
    }

    /// What the end of a run says it used beyond this, which was counted before; `None` if that is nothing.
    pub fn rest_of(&self, end: &HarnessEnd) -> Option<Self> {
        let total = end.total_usage.as_ref()?;
        let input_tokens = total.input_tokens.saturating_sub(self.input_tokens);
        let output_tokens = total.output_tokens.saturating_sub(self.output_tokens);
        let calls = end.iterations.map_or(0, u64::from).saturating_sub(self.calls);
        let rest = Self { calls, input_tokens, output_tokens, unpriced: calls, ..Self::default() };
        Some(rest).filter(|rest| rest.input_tokens > 0 || rest.output_tokens > 0)
    }

    /// Adds others; counts of tokens stop at the largest number there is.
    pub fn add(&mut self, more: &Self) {
        self.calls += more.calls;
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(more.cache_read_tokens);
        self.cache_creation_tokens = self.cache_creation_tokens.saturating_add(more.cache_creation_tokens);
        self.cost_usd = self.cost_usd.plus(more.cost_usd);
        self.unpriced += more.unpriced;
    }
}

/// What one run, agent, node or model used.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The run, the agent, the path of the node, or the model.
    pub id: Arc<str>,
    /// What people call it, if that is something else: agents only.
    pub name: Option<String>,
    /// What it used.
    pub used: Totals,
}

/// Rows in the order of their first appearance.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Table {
    rows: Vec<Row>,
    by_id: Index<Arc<str>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Known {
    agent: Option<Arc<str>>,
    name: Option<String>,
    node: Option<Arc<str>>,
}

impl View for Usage {
    const NAME: &'static str = "usage";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        let Some(run) = &event.head.run_id else { return };
        match &event.body {
            Body::HarnessStart(start) => {
                let agent = agent_of(event).or_else(|| start.agent_id.as_ref().map(AgentId::shared));
                let known = Known { agent, name: agent_name(event), node: node_of(event) };
                if known.agent.is_some() || known.node.is_some() {
                    self.known.insert(run.clone(), known);
                }
            }
            Body::Usage(used) => {
                self.count(run, event, used.model.as_deref(), &Totals::of(used), changes);
            }
            Body::HarnessEnd(end) => {
                let counted = self.runs.of(&run.shared()).cloned().unwrap_or_default();
                if let Some(rest) = counted.rest_of(end) {
                    self.count(run, event, None, &rest, changes);
                }
            }
            _ => {}
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            total: &'a Totals,
            runs: &'a [Row],
            agents: &'a [Row],
            nodes: &'a [Row],
            models: &'a [Row],
        }
        Snapshot {
            total: &self.total,
            runs: &self.runs.rows,
            agents: &self.agents.rows,
            nodes: &self.nodes.rows,
            models: &self.models.rows,
        }
    }
}

impl Usage {
    /// What everything used together.
    pub fn total(&self) -> &Totals {
        &self.total
    }

    /// By run.
    pub fn runs(&self) -> &[Row] {
        &self.runs.rows
    }

    /// By agent; calls of nobody in particular are left out.
    pub fn agents(&self) -> &[Row] {
        &self.agents.rows
    }

    /// By flow node, nested ones as `outer/inner`; calls outside of flows are left out.
    pub fn nodes(&self) -> &[Row] {
        &self.nodes.rows
    }

    /// By model; calls that do not say it are under `unknown`.
    pub fn models(&self) -> &[Row] {
        &self.models.rows
    }

    fn count(
        &mut self,
        run: &RunId,
        event: &Event,
        model: Option<&str>,
        used: &Totals,
        changes: &mut Changes,
    ) {
        self.total.add(used);
        changes.set(path!["total"], &self.total);
        let known = self.known.get(run).cloned().unwrap_or_default();
        let model = model.unwrap_or(UNKNOWN).into();
        let name = agent_name(event).or(known.name);
        let counted = [
            ("runs", &mut self.runs, Some(run.shared()), None),
            ("agents", &mut self.agents, agent_of(event).or(known.agent), name),
            ("nodes", &mut self.nodes, node_of(event).or(known.node), None),
            ("models", &mut self.models, Some(model), None),
        ];
        for (table_name, table, id, name) in counted {
            if let Some(id) = id {
                let name = name.filter(|name| **name != *id);
                table.add(table_name, Row { id, name, used: Totals::default() }, used, changes);
            }
        }
    }
}

impl Table {
    /// What is counted in the row with this id.
    fn of(&self, id: &Arc<str>) -> Option<&Totals> {
        self.by_id.get(id).map(|place| &self.rows[place].used)
    }

    /// Counts what was used in the row with the id of this one, or in this one.
    fn add(&mut self, table: &str, mut row: Row, used: &Totals, changes: &mut Changes) {
        if let Some(place) = self.by_id.get(&row.id) {
            self.rows[place].used.add(used);
            changes.set(path![table, place, "used"], &self.rows[place].used);
            return;
        }
        row.used.add(used);
        changes.append(path![table], &row);
        self.by_id.insert(Arc::clone(&row.id), self.rows.len());
        self.rows.push(row);
    }
}

fn agent_of(event: &Event) -> Option<Arc<str>> {
    event.head.agent.as_ref().map(|agent| agent.id.shared())
}

fn node_of(event: &Event) -> Option<Arc<str>> {
    let path = event.head.node_path.as_ref().filter(|path| !path.is_empty());
    match path {
        Some(path) => Some(path.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("/").into()),
        None => event.head.node_id.as_ref().map(FlowNodeId::shared),
    }
}
