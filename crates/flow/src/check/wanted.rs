//! What the expressions of a node are wanted for: a key of the state, the node's output, the node to go to.
//!
//! In: a node and the name of a member with an expression. Out: a [`Wanted`], if anything is known. Start reading at
//! [`wanted`].

use std::collections::HashMap;

use antiphon_event::Json;
use antiphon_event::near::nearest;
use serde_json::Value;

use crate::builder::Builder;
use crate::definition::{Node, Work};
use crate::expr::{Judge, Type, Wanted};
use crate::schema::Schema;
use crate::state::{Key, Reduce};

/// The ids of the nodes that the edges of each lead to.
pub(super) type Ways<'f> = HashMap<&'f str, Vec<&'f str>>;

pub(super) fn ways(flow: &Builder) -> Ways<'_> {
    let mut ways = Ways::new();
    for edge in &flow.edges {
        ways.entry(&edge.from).or_default().push(&edge.to);
    }
    ways
}

/// What a member of a node, or of the node of a map, is wanted for.
pub(super) fn wanted<'f>(
    flow: &'f Builder,
    ways: &Ways<'f>,
    (id, node): (&str, &'f Node),
    member: &str,
) -> Option<Wanted<'f>> {
    if let Some(key) = member.strip_prefix("set.") {
        return contribution(flow.settings.state.iter().find(|known| known.name == key)?);
    }
    match (member, &node.work) {
        ("function.output", _) => Some(fitting(format!("the output of `{id}`"), node.output.as_ref()?)),
        // That it leads nowhere is told as such.
        ("router.to", _) => Some(target(ways.get(id)?, id)),
        ("input", Work::Flow(inner)) => {
            let what = format!("the task of `{}`", inner.name());
            Some(fitting(what, inner.settings().input.as_ref()?))
        }
        _ => None,
    }
}

/// A value that must fit a schema.
fn fitting(what: String, schema: &Schema) -> Wanted<'_> {
    let judge = misfit(what.clone(), schema, |value| value.clone());
    Wanted { what, of: Type::of_schema(schema.source()), is_added: false, judge }
}

/// What a key takes, as far as its reducer lets it be told before there is a value to fold it into.
fn contribution(key: &Key) -> Option<Wanted<'_>> {
    let Key { name, schema, reduce, .. } = key;
    reduce.fits(schema).ok()?;
    let what = format!("`{name}`");
    let judge: Judge<'_> = match reduce {
        Reduce::Last | Reduce::First => return Some(fitting(what, schema)),
        Reduce::Append if schema.judges_members() => {
            misfit(what.clone(), schema, |value| Reduce::Append.addition(Json::from(value.clone())).value())
        }
        Reduce::Sum if Type::of_schema(schema.source()) == Type::Int => {
            Box::new(|value| fraction(name, value))
        }
        Reduce::Append | Reduce::Sum | Reduce::Max | Reduce::Min | Reduce::Merge => Box::new(|_| None),
    };
    let of = reduce.takes(Type::of_schema(schema.source()));
    Some(Wanted { what, of, is_added: *reduce == Reduce::Append, judge })
}

fn misfit<'s>(what: String, schema: &'s Schema, made: impl Fn(&Value) -> Value + 's) -> Judge<'s> {
    Box::new(move |value| {
        let violation = schema.validate(&made(value)).err()?;
        let help = "write a value that fits its schema".to_owned();
        Some((format!("the value for {what} does not fit: {violation}"), help))
    })
}

/// A sum of integers and of something that is none is none.
fn fraction(name: &str, value: &Value) -> Option<(String, String)> {
    let number = value.as_f64().filter(|number| number.fract() != 0.0)?;
    let message = format!("with {number} the sum of `{name}` is no integer");
    Some((message, "add an integer, or let its type be `number`".to_owned()))
}

/// One of the nodes that the edges of a router lead to, as the text of what it gives.
fn target<'f>(ids: &[&'f str], router: &str) -> Wanted<'f> {
    let is_word = |id: &&str| matches!(*id, "true" | "false" | "null") || id.parse::<f64>().is_ok();
    let of = if ids.iter().any(is_word) { Type::Dyn } else { Type::String };
    let (router, ids) = (router.to_owned(), ids.to_vec());
    let judge = move |value: &Value| {
        let chosen = Json::from(value.clone());
        let chosen = chosen.to_text();
        if ids.contains(&&*chosen) {
            return None;
        }
        let ways: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
        let help = match nearest(&chosen, ids.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add an edge to it, or choose {}", ways.join(" or ")),
        };
        Some((format!("`{router}` has no edge to `{chosen}`"), help))
    };
    Wanted { what: "the node to go to".to_owned(), of, is_added: false, judge: Box::new(judge) }
}
