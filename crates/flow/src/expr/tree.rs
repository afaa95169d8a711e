//! What an expression is once it has been read.
//!
//! Names are already resolved: a root is a number into the list of paths, a loop variable the number of loops
//! around it. Every node knows the character it begins at, for errors.

use regex::Regex;
use serde_json::Value;

use super::function::Function;

/// One node of the tree.
#[derive(Debug)]
pub(super) struct Node {
    /// The character it begins at, from 0; of an operator, the operator.
    pub(super) at: u32,
    /// The longest way down, itself included.
    pub(super) height: u32,
    pub(super) kind: Kind,
}

impl Node {
    pub(super) fn new(at: u32, kind: Kind) -> Self {
        let height = kind.parts().map(|part| part.height).max().unwrap_or(0) + 1;
        Self { at, height, kind }
    }
}

#[derive(Debug)]
pub(super) enum Kind {
    Literal(Value),
    /// What the flow knows under the path of this number.
    Path(usize),
    /// Whether the flow knows anything under the path of this number.
    HasPath(usize),
    /// The variable of a loop, the number of loops inwards of it first.
    Local(usize),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Member {
        of: Box<Node>,
        name: String,
    },
    Has {
        of: Box<Node>,
        name: String,
    },
    Index {
        of: Box<Node>,
        by: Box<Node>,
    },
    Not(Box<Node>),
    Negate(Box<Node>),
    /// All of them, from left to right.
    And(Vec<Node>),
    /// Any of them, from left to right.
    Or(Vec<Node>),
    Choice(Box<[Node; 3]>),
    Binary(Binary, Box<[Node; 2]>),
    Call {
        function: Function,
        arguments: Vec<Node>,
        /// A pattern that stands in the text, compiled once.
        pattern: Option<Regex>,
    },
    Loop(Box<Loop>),
}

impl Kind {
    /// What it is made of.
    fn parts(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        match self {
            Self::Literal(_) | Self::Path(_) | Self::HasPath(_) | Self::Local(_) => Box::new([].into_iter()),
            Self::List(parts) | Self::And(parts) | Self::Or(parts) => Box::new(parts.iter()),
            Self::Call { arguments, .. } => Box::new(arguments.iter()),
            Self::Map(entries) => Box::new(entries.iter().flat_map(|(key, value)| [key, value])),
            Self::Member { of, .. } | Self::Has { of, .. } | Self::Not(of) | Self::Negate(of) => {
                Box::new([&**of].into_iter())
            }
            Self::Index { of, by } => Box::new([&**of, &**by].into_iter()),
            Self::Choice(parts) => Box::new(parts.iter()),
            Self::Binary(_, parts) => Box::new(parts.iter()),
            Self::Loop(each) => Box::new([&each.over, &each.body].into_iter().chain(&each.only)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
}

impl Binary {
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
        }
    }
}

/// A macro that goes through a list or the keys of a map.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) shape: Shape,
    pub(super) over: Node,
    /// Of `map` with three arguments: only items for which this holds.
    pub(super) only: Option<Node>,
    pub(super) body: Node,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

impl Shape {
    pub(super) fn of(name: &str, arguments: usize) -> Option<Self> {
        match (name, arguments) {
            ("all", 2) => Some(Self::All),
            ("exists", 2) => Some(Self::Exists),
            ("exists_one" | "existsOne", 2) => Some(Self::ExistsOne),
            ("map", 2 | 3) => Some(Self::Map),
            ("filter", 2) => Some(Self::Filter),
            _ => None,
        }
    }
}
