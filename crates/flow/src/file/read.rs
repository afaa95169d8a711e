//! A file as a [`Flow`], with everything that is wrong with it.
//!
//! In: a tree and a way to load other files. Out: a flow and doubts about it, or problems. Start reading at
//! [`Reader::flow`].

use std::collections::BTreeMap;
use std::time::Duration;

use antiphon_event::secret;
use serde_json::Value;

use super::format::{AGENT_FILE, FLOW, Form, NODE};
use super::node::{count, duration, formula, number, positive, schema, text, texts, truth, word};
use super::problem::Problem;
use super::tree::{Kind, Place, Tree};
use super::verify::{Verifier, arrow, key_schema};
use super::yaml::{self, Parsed};
use super::{Inspector, Loader, join};
use crate::builder::Builder;
use crate::check::{self, Subject};
use crate::definition::{Edge, Flow, Limits, Node, OnFailure, Settings, When, Work};
use crate::schema::Schema;
use crate::state::{Key, Reduce};

/// How deep flows may be nested.
const NESTING_MAX: usize = 16;

/// How many flows may be nested in one, all together.
const FLOWS_MAX: usize = 100;

/// The version of the format.
const VERSION: u64 = 1;

/// Reads one file.
pub(super) struct Reader<'r, 'f> {
    pub(super) verifier: Verifier<'r>,
    /// The models of the flow that is being read.
    pub(super) models: BTreeMap<String, Value>,
    pub(super) loading: &'r mut Loading<'f>,
}

/// What readers of files that name one another share.
pub(super) struct Loading<'f> {
    pub(super) load: Loader<'f>,
    pub(super) inspect: Inspector<'f>,
    /// The files that are being read, outermost first.
    pub(super) open: Vec<String>,
    /// How many flows were read.
    pub(super) flows: usize,
    /// Whether the flow was checked when a run of it began.
    pub(super) has_run: bool,
}

impl<'r, 'f> Reader<'r, 'f> {
    pub(super) fn new(file: &'r str, loading: &'r mut Loading<'f>) -> Self {
        Self { verifier: Verifier { file, problems: Vec::new() }, models: BTreeMap::new(), loading }
    }

    /// Reads a file's text; the flow, if it can be built.
    pub(super) fn text(&mut self, text: &str) -> Option<Flow> {
        let tree = self.tree(text)?;
        self.verified(&tree)
    }

    /// The tree that a text holds, once all that is wrong with it as such was told.
    fn tree(&mut self, text: &str) -> Option<Tree> {
        let is_json = self.verifier.file.to_lowercase().ends_with(".json");
        let (tree, wrong) = match yaml::parse(text, is_json) {
            Ok(Parsed { tree, repeated }) => (Some(tree), repeated),
            Err(broken) => (None, vec![broken]),
        };
        for broken in wrong {
            self.verifier.error(broken.place, broken.message, broken.help);
        }
        tree
    }

    /// Reads a tree that nobody has looked at.
    pub(super) fn verified(&mut self, tree: &Tree) -> Option<Flow> {
        self.verifier.form(tree, &Form::Object(&FLOW));
        self.flow(tree)
    }

    /// Reads the text of a file with an agent; its settings, if they can be read.
    pub(super) fn agent_text(&mut self, text: &str) -> Option<Value> {
        let tree = self.tree(text)?;
        self.verifier.form(&tree, &Form::Object(&AGENT_FILE));
        self.version(&tree);
        self.models = by_name(tree.get("models"));
        let mut settings = self.agent_settings(&tree)?;
        for outside in ["antiphon", "models"] {
            settings.as_object_mut()?.shift_remove(outside);
        }
        self.inspect(&tree, &settings);
        self.inspect_models(tree.get("models"));
        (!self.verifier.problems.iter().any(Problem::is_error)).then_some(settings)
    }

    /// Reads a tree of which all that the format does not allow has been told.
    fn flow(&mut self, tree: &Tree) -> Option<Flow> {
        self.version(tree);
        self.models = by_name(tree.get("models"));
        let nodes = tree.get("nodes").map(Tree::members).unwrap_or_default();
        let nodes: Vec<_> = nodes.iter().map(|(id, node)| (id.text.clone(), self.node(node))).collect();
        self.inspect_models(tree.get("models"));
        let (edges, edge_trees) = self.edges(tree);
        let document = document(tree, self.verifier.file, &nodes);
        let settings = settings(tree, self.verifier.file);
        let builder = Builder { settings, nodes, edges }.document(document.into());
        self.check(&builder, tree, &edge_trees);
        if self.verifier.problems.iter().any(Problem::is_error) {
            return None;
        }
        Some(builder.finish())
    }

    fn version(&mut self, tree: &Tree) {
        let Some(version) =
            tree.get("antiphon").filter(|version| count(version).is_some_and(|found| found != VERSION))
        else {
            return;
        };
        let message = format!("this version reads format {VERSION} only");
        self.verifier.error(version.place, message, format!("write `antiphon: {VERSION}`"));
    }

    /// Every edge, and the tree it comes from.
    fn edges<'t>(&mut self, tree: &'t Tree) -> (Vec<Edge>, Vec<&'t Tree>) {
        let (mut edges, mut trees) = (Vec::new(), Vec::new());
        for edge in tree.get("edges").map(Tree::items).unwrap_or_default() {
            if let Some(nodes) = edge.text().and_then(arrow) {
                edges.extend(nodes.windows(2).map(|pair| Edge::new(pair[0], pair[1])));
            } else if let Some((from, to)) =
                edge.get("from").and_then(text).zip(edge.get("to").and_then(text))
            {
                let when = self.when(edge);
                edges.push(Edge { from, to, when });
            }
            trees.resize(edges.len(), edge);
        }
        (edges, trees)
    }

    fn when(&mut self, edge: &Tree) -> When {
        match (edge.get("when"), edge.get("default").is_some_and(truth)) {
            (Some(when), true) => {
                let help = "a default edge is taken if no other edge of its source was";
                self.verifier.error(when.place, "a default edge has no condition", help);
                When::Default
            }
            (Some(when), false) => formula(when).map_or(When::Always, When::If),
            (None, true) => When::Default,
            (None, false) => When::Always,
        }
    }

    /// The flow that a node names or holds.
    pub(super) fn nested(&mut self, tree: &Tree) -> Option<Flow> {
        self.loading.flows += 1;
        if self.loading.flows > FLOWS_MAX {
            let message = format!("more than {FLOWS_MAX} flows are nested in one another");
            self.verifier.error(tree.place, message, "let fewer nodes be flows");
            return None;
        }
        let Some(path) = tree.text() else {
            let mut inner = Reader::new(self.verifier.file, self.loading);
            let flow = inner.flow(tree);
            let problems = inner.verifier.problems;
            self.verifier.problems.extend(problems);
            return flow;
        };
        let file = join(self.verifier.file, path);
        let text = self.load(&file, tree.place)?;
        self.loading.open.push(file.clone());
        let mut inner = Reader::new(&file, self.loading);
        let flow = inner.text(&text);
        let problems = inner.verifier.problems;
        self.verifier.problems.extend(problems);
        self.loading.open.pop();
        flow
    }

    fn load(&mut self, file: &str, place: Place) -> Option<String> {
        let open = &self.loading.open;
        let (message, help) = if open.iter().any(|other| other == file) {
            let circle = format!("files lead in a circle: {} -> {file}", open.join(" -> "));
            (circle, "to go round, use an edge back within one flow")
        } else if open.len() >= NESTING_MAX {
            let message = format!("files are nested too deep, at most {NESTING_MAX} levels are allowed");
            (message, "put some of them into one")
        } else {
            match (self.loading.load)(file) {
                Ok(text) => return Some(text),
                Err(why) => (
                    format!("cannot read `{file}`: {why}"),
                    "paths begin at the folder of the file they are in",
                ),
            }
        };
        self.verifier.error(place, message, help);
        None
    }

    /// What the checks of a flow find, each with its place.
    fn check(&mut self, builder: &Builder, tree: &Tree, edges: &[&Tree]) {
        let ways = ways_read(tree);
        let problems = if self.loading.has_run { check::check_shape } else { check::check };
        for found in problems(builder) {
            let follows = match found.subject {
                Subject::Flow => !ways,
                Subject::Node(index) => !ways || misspelt(tree, &builder.nodes[index].0),
                _ => false,
            };
            if follows {
                continue;
            }
            let place = place(tree, edges, &found.subject);
            let check::Problem { level, message, help, .. } = found;
            self.verifier.problems.push(Problem {
                level,
                file: self.verifier.file.to_owned(),
                place,
                message,
                help,
            });
        }
    }
}

/// Whether all that says how nodes hang together could be read; if not, what they seem to lack follows from that.
fn ways_read(tree: &Tree) -> bool {
    let is_edge = |edge: &Tree| {
        edge.text().and_then(arrow).is_some()
            || edge.get("from").and_then(text).and(edge.get("to").and_then(text)).is_some()
    };
    let is_name = |name: &Tree| name.text().is_some();
    let edges = tree.get("edges").is_none_or(|edges| matches!(edges.kind, Kind::List(_)));
    let nodes = tree.get("nodes").is_some_and(|nodes| matches!(nodes.kind, Kind::Map(_)));
    edges
        && nodes
        && tree.members().iter().all(|(name, _)| FLOW.member(&name.text).is_some())
        && tree.get("edges").map(Tree::items).unwrap_or_default().iter().all(is_edge)
        && tree.get("entry").is_none_or(|entry| is_name(entry) || entry.items().iter().all(is_name))
}

/// Whether a member that nobody knows names this node: it may have been meant to be its `fallback`.
fn misspelt(tree: &Tree, id: &str) -> bool {
    let nodes = tree.get("nodes").map(Tree::members).unwrap_or_default();
    let unknown = nodes.iter().flat_map(|(_, node)| node.members());
    unknown.filter(|(name, _)| NODE.member(&name.text).is_none()).any(|(_, value)| value.text() == Some(id))
}

/// Where in a file something is that a check is about.
fn place(tree: &Tree, edges: &[&Tree], subject: &Subject) -> Place {
    let node = |index: usize| tree.get("nodes").and_then(|nodes| nodes.members().get(index));
    let state = |key: &str| {
        let keys = tree.get("state").map(Tree::members).unwrap_or_default();
        keys.iter().find(|(name, _)| name.text == key)
    };
    let found = match subject {
        Subject::Flow => None,
        Subject::Setting(path) => member(tree, path).map(|tree| tree.place),
        Subject::Output(column) => tree.get("output").map(|tree| tree.inside(*column as u32)),
        Subject::Entry(index) => {
            tree.get("entry").map(|entry| entry.items().get(*index).unwrap_or(entry).place)
        }
        Subject::State(key) => state(key).map(|(name, _)| name.place),
        Subject::StateMember(key, member) => {
            state(key).map(|(name, tree)| tree.get(member).map_or(name.place, |tree| tree.place))
        }
        Subject::Node(index) => node(*index).map(|(name, _)| name.place),
        Subject::Member(index, path) => {
            node(*index).map(|(name, node)| member(node, path).map_or(name.place, |tree| tree.place))
        }
        Subject::Formula(index, path, column) => node(*index)
            .map(|(name, node)| member(node, path).map_or(name.place, |tree| tree.inside(*column as u32))),
        Subject::Edge(index) => edges.get(*index).map(|edge| edge.place),
        Subject::End(index, end) => edges.get(*index).map(|edge| match edge.get(end) {
            Some(end) => end.place,
            None => edge.inside(named_at(edges, *index, end)),
        }),
        Subject::Condition(index, column) => {
            edges.get(*index).map(|edge| edge.get("when").unwrap_or(edge).inside(*column as u32))
        }
    };
    found.unwrap_or(tree.place)
}

/// A member, by names with dots between them, as far as they lead; the last name may have dots itself. An item of a list
/// is named by its place.
fn member<'t>(tree: &'t Tree, path: &str) -> Option<&'t Tree> {
    if let Some(whole) = tree.get(path) {
        return Some(whole);
    }
    let (first, rest) = path.split_once('.')?;
    let item = || tree.items().get(first.parse::<usize>().ok()?);
    let found = tree.get(first).or_else(item)?;
    Some(member(found, rest).unwrap_or(found))
}

/// Where in `a -> b -> c` the end of one of its edges is named: the character, from 1.
fn named_at(edges: &[&Tree], index: usize, end: &str) -> u32 {
    let edge = edges[index];
    let before = edges[..index].iter().filter(|other| other.place == edge.place).count();
    let parts = edge.text().unwrap_or_default().split("->");
    let skipped: Vec<&str> = parts.clone().take(before + usize::from(end == "to")).collect();
    let part = parts.clone().nth(skipped.len()).unwrap_or_default();
    let lead = part.chars().take_while(|c| c.is_whitespace()).count();
    let passed: usize = skipped.iter().map(|part| part.chars().count() + "->".len()).sum();
    (passed + lead) as u32 + 1
}

fn settings(tree: &Tree, file: &str) -> Settings {
    let on_failure = [("graceful", OnFailure::Graceful), ("fail_fast", OnFailure::FailFast)];
    Settings {
        name: tree.get("name").and_then(text).unwrap_or_else(|| stem(file)),
        input: tree.get("input").and_then(schema),
        entry: tree.get("entry").map(texts).unwrap_or_default(),
        output: tree.get("output").and_then(formula),
        state: tree.get("state").map(keys).unwrap_or_default(),
        limits: tree.get("limits").map(limits).unwrap_or_default(),
        on_failure: tree.get("on_failure").and_then(|tree| word(tree, &on_failure)).unwrap_or_default(),
        ..Settings::default()
    }
}

/// A file's name without what it ends in.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("flow").to_owned()
}

fn keys(tree: &Tree) -> Vec<Key> {
    let reduces: Vec<_> = Reduce::ALL.iter().map(|reduce| (reduce.as_str(), *reduce)).collect();
    let key = |name: &str, tree: &Tree| {
        Some(Key {
            name: name.to_owned(),
            schema: Schema::compile(key_schema(tree)).ok()?,
            default: tree.get("default").map(Tree::to_json),
            reduce: tree.get("reduce").and_then(|tree| word(tree, &reduces)).unwrap_or_default(),
        })
    };
    tree.members().iter().filter_map(|(name, tree)| key(&name.text, tree)).collect()
}

fn limits(tree: &Tree) -> Limits {
    let whole = |name| tree.get(name).and_then(positive);
    // What cannot be read, which has been told, is a bound all the same: loops do not lack one.
    Limits {
        max_node_executions: tree.get("max_node_executions").map(|tree| count(tree).unwrap_or(1)),
        execution_timeout: tree.get("execution_timeout").map(|tree| duration(tree).unwrap_or(Duration::MAX)),
        max_concurrency: whole("max_concurrency").map(|count| count as usize),
        max_tokens: whole("max_tokens"),
        max_cost_usd: tree.get("max_cost_usd").and_then(number),
        max_steps: whole("max_steps"),
        max_agents: whole("max_agents"),
    }
}

fn by_name(tree: Option<&Tree>) -> BTreeMap<String, Value> {
    let members = tree.map(Tree::members).unwrap_or_default();
    members.iter().map(|(name, tree)| (name.text.clone(), tree.to_json())).collect()
}

/// The flow as one document: with a name, and with the flows it names inside it.
fn document(tree: &Tree, file: &str, nodes: &[(String, Node)]) -> Value {
    let mut document = tree.to_json();
    if let Value::Object(members) = &mut document {
        members.entry("name").or_insert_with(|| stem(file).into());
    }
    for (id, node) in nodes {
        if let Some(value) = document.get_mut("nodes").and_then(|nodes| nodes.get_mut(id)) {
            inline(value, node);
        }
    }
    secret::redact(&mut document);
    document
}

fn inline(value: &mut Value, node: &Node) {
    match &node.work {
        Work::Flow(flow) => {
            if let (Some(value), Some(document)) = (value.get_mut("flow"), &flow.settings().document) {
                *value = document.value();
            }
        }
        Work::Map(map) => {
            if let Some(value) = value.get_mut("map").and_then(|map| map.get_mut("node")) {
                inline(value, &map.node);
            }
        }
        _ => {}
    }
}
