//! Expressions: the conditions, inputs and values that a flow file writes as text.
//!
//! In: text, and a [`Scope`] that knows the flow's values. Out: a JSON value, or what went wrong and where.
//! The language is CEL over JSON: `null`, booleans, 64-bit integers, doubles, texts, lists and maps. It has no
//! side effects and always ends: length, nesting and steps are bounded. Start reading at [`Expression`].
//!
//! What is ours to decide:
//! * A number written without a fraction is an integer and stays one: `10 + 1` is `11`, `7 / 2` is `3`. Where an
//!   integer meets a double the result is a double: `1 + 0.5` is `1.5`. `1 == 1.0` holds. Overflow is an error.
//! * `has(a.b.c)` is false wherever the way there ends.
//! * `a || b` and `a && b` pass over an error on one side if the other side alone decides, as in CEL.
//! * `string(x)` of a list, a map or null is its JSON. There are no bytes, timestamps, durations or optional values.
//! * A type is a value, as in `type(x) == int`: the text that is its name. No number is infinite: that is an error.
//!
//! Members of `state`, `outputs`, `status`, `executions` and `memory` are asked for one by one, so a flow with
//! thousands of outputs copies none of those that an expression does not name.

mod call;
mod check;
mod each;
mod evaluate;
mod function;
mod kind;
mod make;
mod number;
mod parse;
mod signature;
mod token;
mod tree;
mod wanted;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use check::{TypeProblem, Types};
pub use evaluate::STEPS_MAX;
pub use kind::Type;
pub(crate) use number::compare;
use tree::Node;
pub(crate) use wanted::{Judge, Wanted};

/// The longest expression, in characters.
pub const LENGTH_MAX: usize = 10_000;

/// A CEL expression that was read once and can be evaluated often, from any thread. Cloning is cheap.
///
/// ```
/// use antiphon_flow::expr::Expression;
/// use serde_json::json;
///
/// let more = Expression::parse("state.drafts < 3 && !output.ok")?;
/// let scope = json!({"state": {"drafts": 2}, "output": {"ok": false}});
/// assert!(more.truth(&scope)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Expression(Arc<Inner>);

struct Inner {
    text: Arc<String>,
    tree: Node,
    paths: Vec<Path>,
}

impl Expression {
    /// Reads an expression. Unknown names, functions and patterns are found here, not when it is evaluated.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match Self::read(text) {
            (Some(expression), wrong) if wrong.is_empty() => Ok(expression),
            (_, wrong) => Err(wrong.into_iter().next().expect("what is no expression has something wrong")),
        }
    }

    /// The same with all that is wrong. One with names and calls that nobody knows can still be checked, as if they gave
    /// anything; it is not to be evaluated.
    pub(crate) fn read(text: &str) -> (Option<Self>, Vec<ParseError>) {
        let (read, wrong) = parse::parse(text);
        let made = |(tree, paths)| Self(Arc::new(Inner { text: Arc::new(text.to_owned()), tree, paths }));
        (read.map(made), wrong)
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The same to share: each event that tells of it has it.
    pub(crate) fn shared_text(&self) -> Arc<String> {
        Arc::clone(&self.0.text)
    }

    /// What it touches, in the order in which it is first named.
    pub fn paths(&self) -> &[Path] {
        &self.0.paths
    }

    /// The path that is all of it: its value is then what is found there.
    pub(crate) fn as_path(&self) -> Option<&Path> {
        match &self.0.tree.kind {
            tree::Kind::Path(number) => self.0.paths.get(*number),
            _ => None,
        }
    }

    /// Its value, at a cost of at most [`STEPS_MAX`] steps.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        evaluate::evaluate(&self.0.tree, &self.0.paths, scope).map_err(|fault| self.error(fault))
    }

    /// Its value as a condition; what is no boolean is an error.
    pub fn truth(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        let value = self.evaluate(scope)?;
        value.as_bool().ok_or_else(|| {
            let message = format!("a condition must be true or false, this is {}", kind::described(&value));
            self.error(Fault { at: None, message })
        })
    }

    /// What cannot be right, whatever the values are, given what is known about their types.
    pub fn check(&self, types: &Types) -> Vec<TypeProblem> {
        self.infer(types).1
    }

    /// The same for an expression that is used as a condition.
    pub fn check_condition(&self, types: &Types) -> Vec<TypeProblem> {
        let (found, mut problems) = self.infer(types);
        if !matches!(found, Type::Bool | Type::Dyn) {
            let message = format!("a condition must be true or false, this is {found}");
            problems.push(TypeProblem { column: None, message, help: found.as_condition().to_owned() });
        }
        problems
    }

    /// The type of its value as far as it can be known, and what cannot be right.
    pub fn infer(&self, types: &Types) -> (Type, Vec<TypeProblem>) {
        check::infer(&self.0.tree, &self.0.paths, types)
    }

    /// What cannot be right where its value is wanted for something.
    pub(crate) fn check_wanted(&self, types: &Types, wanted: &Wanted<'_>) -> Vec<TypeProblem> {
        check::infer_wanted(&self.0.tree, &self.0.paths, types, wanted)
    }

    fn error(&self, fault: Fault) -> EvalError {
        let column = fault.at.map(|at| at + 1);
        EvalError { text: self.text().to_owned(), column, message: fault.message }
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({:?})", self.0.text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Expression {}

/// What an expression asks a flow for: a root, and of some roots a member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The first name.
    pub root: Root,
    /// The second, if the root has members and the expression names one: `research` of `outputs.research`.
    /// Without it the whole is asked for, as by `size(outputs)`.
    pub member: Option<Arc<str>>,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.root.as_str())?;
        match &self.member {
            Some(name) if is_name(name) => write!(f, ".{name}"),
            Some(name) => write!(f, "[{}]", Value::from(&**name)),
            None => Ok(()),
        }
    }
}

/// Whether a name can follow a dot without backticks.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

macro_rules! roots {
    ($($(#[$doc:meta])* $case:ident = $word:literal, members: $members:literal;)*) => {
        /// The names that expressions begin with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Root {
            $($(#[$doc])* $case,)*
        }

        impl Root {
            /// Every root.
            pub const ALL: &[Self] = &[$(Self::$case),*];

            /// The name in an expression.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)*
                }
            }

            /// Whether its members are asked for one by one.
            pub fn has_members(self) -> bool {
                match self {
                    $(Self::$case => $members,)*
                }
            }
        }
    };
}

roots! {
    /// The flow's input.
    Task = "task", members: false;
    /// The node's input; in an edge's condition that of the edge's source.
    Input = "input", members: false;
    /// The flow's state, by key.
    State = "state", members: true;
    /// The output of the node, or of the edge's source.
    Output = "output", members: false;
    /// The outputs of nodes that completed, by node.
    Outputs = "outputs", members: true;
    /// How nodes stand, by node.
    Status = "status", members: true;
    /// How often nodes were executed, by node.
    Executions = "executions", members: true;
    /// The item of a map.
    Item = "item", members: false;
    /// What is remembered, by name.
    Memory = "memory", members: true;
}

/// Where an expression finds its values.
///
/// Asked at most once for each path in an evaluation, and only for paths that are reached.
pub trait Scope {
    /// The value under a path, or of a whole root if the path has no member; `None` if there is none (yet).
    fn get(&self, path: &Path) -> Option<Cow<'_, Value>>;

    /// How many items the list under a path has, if it is one and that is known without the value of it.
    fn count(&self, _path: &Path) -> Option<usize> {
        None
    }
}

/// An object whose members are the roots.
impl Scope for Value {
    fn get(&self, path: &Path) -> Option<Cow<'_, Value>> {
        let root = Value::get(self, path.root.as_str())?;
        let found = match &path.member {
            Some(member) => Value::get(root, &**member)?,
            None => root,
        };
        Some(Cow::Borrowed(found))
    }
}

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at column {column})")]
pub struct ParseError {
    /// The character where it went wrong, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    /// At a character counted from 0.
    fn at(at: u32, message: &str) -> Self {
        Self { column: at + 1, message: message.to_owned() }
    }
}

/// Why an expression has no value here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{} in `{text}`", column.map(|column| format!(" at column {column}")).unwrap_or_default())]
pub struct EvalError {
    /// The expression.
    pub text: String,
    /// The character where it went wrong, from 1, if there is one.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// What went wrong, and at which character from 0.
#[derive(Debug)]
struct Fault {
    at: Option<u32>,
    message: String,
}

impl Fault {
    fn at(at: u32, message: impl Into<String>) -> Self {
        Self { at: Some(at), message: message.into() }
    }
}
