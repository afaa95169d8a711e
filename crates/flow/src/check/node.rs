//! Checks of what is said about single nodes, the state, and expressions.

use std::collections::{BTreeMap, HashSet};

use antiphon_event::near::help;

use super::wanted::{wanted, ways};
use super::{Problem, Spot, Subject, Subjects};
use crate::definition::{Node, When, Work};
use crate::expr::{Expression, Root, Type, TypeProblem, Types};
use crate::guard::Action;
use crate::moment::Formula;
use crate::state::{self, Key, Reduce};

const NO_TIMEOUT: &str = "leave it out for no timeout";
const AT_LEAST_ONE: &str = "let it be 1 or more, or leave it out for no bound";

/// Settings are possible, and fit the kind of work.
pub(super) fn members(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    let limits = &flow.settings.limits;
    let mut refuse = |member, message, help| {
        subjects.found.push(Problem::error(Subject::Setting(member), message).help(help));
    };
    if limits.max_concurrency == Some(0) {
        refuse("limits.max_concurrency", "`max_concurrency` of 0 lets nothing run", AT_LEAST_ONE);
    }
    if limits.execution_timeout.is_some_and(|timeout| timeout.is_zero()) {
        let message = "the `execution_timeout` is 0, which nothing can keep";
        refuse("limits.execution_timeout", message, NO_TIMEOUT);
    }
    for Spot { at, path, id, node } in subjects.nodes() {
        let mut complain = |member: &str, message: String, help: &str| {
            let subject = Subject::Member(at, format!("{path}{member}"));
            subjects.found.push(Problem::error(subject, message).help(help));
        };
        if node.timeout.is_some_and(|timeout| timeout.is_zero()) {
            complain("timeout", format!("the timeout of `{id}` is 0, which nothing can keep"), NO_TIMEOUT);
        }
        if node.max_executions == Some(0) {
            complain("max_executions", format!("`{id}` may run 0 times"), "remove the node instead");
        }
        match &node.work {
            Work::Command(command) if command.run.first().is_none_or(String::is_empty) => {
                complain(
                    "command",
                    format!("the command of `{id}` names no program"),
                    "write it as `[program, argument, …]`",
                );
            }
            Work::Map(map) => {
                if map.max_parallel == Some(0) {
                    complain(
                        "map.max_parallel",
                        format!("`max_parallel` of 0 lets no item of `{id}` run"),
                        AT_LEAST_ONE,
                    );
                }
                if matches!(map.node.work, Work::Router(_)) {
                    complain(
                        "map",
                        format!("the node inside `{id}` cannot be a router: items have no edges"),
                        "put the router behind the map",
                    );
                }
                if map.node.fallback.is_some() {
                    complain(
                        "map",
                        format!("the node inside `{id}` cannot have a fallback"),
                        "put it on the map itself",
                    );
                }
                let mut guards = map.node.guards.input.iter().chain(&map.node.guards.output);
                if guards.any(|guard| matches!(guard.action, Action::Reroute(_))) {
                    complain(
                        "map",
                        format!("a guardrail of the node inside `{id}` cannot reroute: items have no edges"),
                        "let it `block` or `sanitize`, or put it on the map itself",
                    );
                }
            }
            Work::Router(_) if path.is_empty() && !flow.edges.iter().any(|edge| edge.from == *id) => {
                complain(
                    "router",
                    format!("the router `{id}` has no edges to choose from"),
                    "add an edge to each node it may go to",
                );
            }
            Work::Guardrail if node.guards.input.is_empty() => {
                complain(
                    "guardrail",
                    format!("the guardrail `{id}` checks nothing"),
                    "add a check, such as `secrets`",
                );
            }
            _ => {}
        }
        let mut seen = HashSet::new();
        for guard in node.guards.input.iter().chain(&node.guards.output) {
            if !seen.insert(&guard.id) {
                complain(
                    "guardrails",
                    format!("`{id}` has two guardrails with the id `{}`", guard.id),
                    "give one of them another `id`",
                );
            }
        }
    }
}

/// Keys have a reducer and a default that fit them, and nodes write only to keys.
pub(super) fn state(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    let mut names = HashSet::new();
    for key in &flow.settings.state {
        let subject = || Subject::State(key.name.clone());
        if !names.insert(key.name.as_str()) {
            subjects.found.push(
                Problem::error(subject(), format!("there are two state keys `{}`", key.name))
                    .help("give one of them another name"),
            );
        }
        for error in key.check() {
            let (member, help) = mended(key, &error);
            let subject = Subject::StateMember(key.name.clone(), member);
            subjects.found.push(Problem::error(subject, error.to_string()).help(help));
        }
    }
    for (at, (id, node)) in flow.nodes.iter().enumerate() {
        let inner = match &node.work {
            Work::Map(map) => map.node.set.as_slice(),
            _ => &[],
        };
        let own = node.set.iter().map(|(key, _)| (key, format!("set.{key}")));
        for (key, member) in own.chain(inner.iter().map(|(key, _)| (key, format!("{INNER}.set.{key}")))) {
            if !names.contains(key.as_str()) {
                let message = format!("`{id}` sets `{key}`, which is no key of the state");
                let help = help(key, flow.settings.state.iter().map(|key| key.name.as_str()));
                let subject = Subject::Member(at, member);
                subjects.found.push(Problem::error(subject, message).maybe(help));
            }
        }
    }
}

/// The member of a key that is wrong, and what to do about it.
fn mended(key: &Key, error: &state::Error) -> (&'static str, String) {
    if !matches!(error, state::Error::Misfit { .. }) {
        return ("default", "give a default that fits, or leave it out".to_owned());
    }
    let fitting = Reduce::ALL.iter().filter(|reduce| reduce.fits(&key.schema).is_ok());
    let fitting: Vec<_> = fitting.map(|reduce| format!("`{}`", reduce.as_str())).collect();
    ("reduce", format!("of its type there are {}", fitting.join(", ")))
}

/// Expressions can be right, given what is known about what they look at.
pub(super) fn formulas(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    let mut types = Types {
        task: flow.settings.input.as_ref().map(|schema| schema.source().clone()),
        state: flow
            .settings
            .state
            .iter()
            .map(|key| (key.name.clone(), key.schema.source().clone()))
            .collect(),
        nodes: flow.nodes.iter().map(|(id, node)| (id.clone(), output_of(node))).collect::<BTreeMap<_, _>>(),
        ..Types::default()
    };
    let (ways, mut found) = (ways(flow), Vec::new());
    for (at, (id, node)) in flow.nodes.iter().enumerate() {
        // One set for all, as it holds every node.
        types.output = output_of(node);
        for (member, formula) in formulas_of(node) {
            types.absent = absent(&member, true);
            let (kind, problems) = match wanted(flow, &ways, (id, node), &member) {
                Some(wanted) => (Type::Dyn, formula.check_wanted(&types, &wanted)),
                None => formula.infer(&types),
            };
            found.extend(problems.into_iter().map(|problem| within(at, &member, problem)));
            if member == OVER && !kind.meets(&Type::any_list()) {
                let message = format!("`over` must give a list, this is {kind}");
                let help = "for a single value put it in brackets";
                found.push(Problem::error(Subject::Member(at, member), message).help(help));
            }
        }
        let (mut inner, mut path) = (node, String::new());
        while let Work::Map(map) = &inner.work {
            inner = &map.node;
            types.output = output_of(inner);
            path = if path.is_empty() { INNER.to_owned() } else { format!("{path}.{INNER}") };
            for (member, formula) in formulas_of(inner) {
                types.absent = absent(&member, false);
                let problems = match wanted(flow, &ways, (id, inner), &member) {
                    Some(wanted) => formula.check_wanted(&types, &wanted),
                    None => formula.check(&types),
                };
                let member = format!("{path}.{member}");
                found.extend(problems.into_iter().map(|problem| within(at, &member, problem)));
            }
        }
    }
    types.absent = vec![Root::Item];
    for (at, edge) in flow.edges.iter().enumerate() {
        let When::If(Formula::Expression(condition)) = &edge.when else { continue };
        let source = subjects.shape.index.get(&edge.from).map(|node| &flow.nodes[node].1);
        types.output = source.and_then(output_of);
        found.extend(condition.check_condition(&types).into_iter().map(|problem| {
            let column = problem.column.unwrap_or(1) as usize;
            typed(Subject::Condition(at, column), problem)
        }));
    }
    (types.output, types.absent) = (None, vec![Root::Item, Root::Output, Root::Input]);
    if let Some(Formula::Expression(output)) = &flow.settings.output {
        found.extend(output.check(&types).into_iter().map(|problem| {
            let column = problem.column.unwrap_or(1) as usize;
            typed(Subject::Output(column), problem)
        }));
    }
    subjects.found.extend(found);
}

fn output_of(node: &Node) -> Option<serde_json::Value> {
    node.output.as_ref().map(|schema| schema.source().clone())
}

/// The member that says what a map goes over.
const OVER: &str = "map.over";

/// The member that says which node a map has.
const INNER: &str = "map.node";

/// What stands for nothing in a member of a node: an item outside of maps, an output before there is one.
fn absent(member: &str, is_outside: bool) -> Vec<Root> {
    let item = is_outside.then_some(Root::Item);
    let output = (!member.starts_with("set.")).then_some(Root::Output);
    item.into_iter().chain(output).collect()
}

/// The expressions of a node, by the member they are in.
fn formulas_of(node: &Node) -> Vec<(String, &Expression)> {
    let set = node.set.iter().map(|(key, formula)| (format!("set.{key}"), formula));
    let work = match &node.work {
        Work::Router(formula) => Some(("router.to".to_owned(), formula)),
        Work::Map(map) => Some((OVER.to_owned(), &map.over)),
        _ => None,
    };
    let input = node.input.as_ref().map(|formula| ("input".to_owned(), formula));
    let mut found: Vec<(String, &Expression)> = set
        .chain(work)
        .chain(input)
        .filter_map(|(member, formula)| match formula {
            Formula::Expression(expression) => Some((member, expression)),
            Formula::Closure(_) => None,
        })
        .collect();
    if let Work::Expression(expression) = &node.work {
        found.push(("function.output".to_owned(), expression));
    }
    found
}

fn within(at: usize, member: &str, problem: TypeProblem) -> Problem {
    let column = problem.column.unwrap_or(1) as usize;
    typed(Subject::Formula(at, member.to_owned(), column), problem)
}

fn typed(subject: Subject, problem: TypeProblem) -> Problem {
    Problem::error(subject, problem.message).help(problem.help)
}
