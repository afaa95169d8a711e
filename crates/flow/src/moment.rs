//! [`Moment`]: what an expression or a closure sees of a run, and [`Formula`], which is either.
//!
//! A moment borrows from the scheduler; nothing is copied until somebody looks at it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use antiphon_event::Json;
use serde_json::Value;

use crate::definition::NodeIndex;
use crate::expr::{Expression, Path, Root, Scope};
use crate::state::State;

/// What is visible where something is decided.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub(crate) task: &'a Json,
    pub(crate) state: &'a State,
    /// What the node gets; in edge conditions, what the source got.
    pub(crate) input: Handed<'a>,
    /// What the source gave.
    pub(crate) output: Option<&'a Json>,
    /// The item, in a map.
    pub(crate) item: Option<&'a Json>,
    pub(crate) others: &'a dyn Others,
}

/// An input that may not have been put together yet: most expressions do not look at it.
#[derive(Clone, Copy)]
pub(crate) enum Handed<'a> {
    Nothing,
    This(&'a Json),
    /// What this node gets.
    To(NodeIndex),
}

/// What is known of the nodes of a run, by id.
pub(crate) trait Others {
    fn input(&self, node: NodeIndex) -> Json;
    fn output(&self, node: &str) -> Option<Json>;
    fn status(&self, node: &str) -> Option<&'static str>;
    fn executions(&self, node: &str) -> Option<u32>;
    fn ids(&self) -> Vec<String>;
}

impl Moment<'_> {
    /// The flow's task.
    pub fn task(&self) -> Value {
        self.task.value()
    }

    /// What the node gets; in edge conditions, what the source got.
    pub fn input(&self) -> Value {
        self.handed().unwrap_or_default()
    }

    /// What the source of the edge gave.
    pub fn output(&self) -> Value {
        self.output.map_or(Value::Null, Json::value)
    }

    /// The value of a key of the state; null if there is no such key.
    pub fn state(&self, key: &str) -> Value {
        self.state.get(key).cloned().unwrap_or_default()
    }

    /// What a node gave when it last completed.
    pub fn output_of(&self, node: &str) -> Option<Value> {
        self.others.output(node).map(|output| output.value())
    }

    /// How many times a node has started.
    pub fn executions_of(&self, node: &str) -> u32 {
        self.others.executions(node).unwrap_or_default()
    }

    fn handed(&self) -> Option<Value> {
        match self.input {
            Handed::Nothing => None,
            Handed::This(input) => Some(input.value()),
            Handed::To(node) => Some(self.others.input(node).value()),
        }
    }

    fn member(&self, root: Root, name: &str) -> Option<Cow<'_, Value>> {
        match root {
            Root::State => self.state.get(name).map(Cow::Borrowed),
            Root::Outputs => self.others.output(name).map(|output| Cow::Owned(output.value())),
            Root::Status => self.others.status(name).map(|status| Cow::Owned(status.into())),
            Root::Executions => self.others.executions(name).map(|count| Cow::Owned(count.into())),
            Root::Task | Root::Input | Root::Output | Root::Item | Root::Memory => None,
        }
    }

    /// What is kept as JSON under a path.
    fn json(&self, path: &Path) -> Option<Json> {
        match (path.root, &path.member) {
            (Root::Task, None) => Some(self.task.clone()),
            (Root::Output, None) => self.output.cloned(),
            (Root::Item, None) => self.item.cloned(),
            (Root::Input, None) => match self.input {
                Handed::Nothing => None,
                Handed::This(input) => Some(input.clone()),
                Handed::To(node) => Some(self.others.input(node)),
            },
            (Root::State, Some(name)) => self.state.json(name).cloned(),
            (Root::Outputs, Some(name)) => self.others.output(name),
            _ => None,
        }
    }

    fn whole(&self, root: Root) -> Option<Value> {
        let members = |names: Vec<String>| {
            let member =
                |name: String| self.member(root, &name).map(|value| (name.clone(), value.into_owned()));
            Some(Value::Object(names.into_iter().filter_map(member).collect()))
        };
        match root {
            Root::Task => Some(self.task.value()),
            Root::Input => self.handed(),
            Root::Output => self.output.map(Json::value),
            Root::Item => self.item.map(Json::value),
            Root::State => members(self.state.keys().map(|key| key.name.clone()).collect()),
            Root::Outputs | Root::Status | Root::Executions => members(self.others.ids()),
            Root::Memory => None,
        }
    }
}

impl Scope for Moment<'_> {
    fn get(&self, path: &Path) -> Option<Cow<'_, Value>> {
        match &path.member {
            Some(name) => self.member(path.root, name),
            None => self.whole(path.root).map(Cow::Owned),
        }
    }

    fn count(&self, path: &Path) -> Option<usize> {
        match (path.root, &path.member) {
            (Root::State, Some(name)) => self.state.count(name),
            _ => None,
        }
    }
}

/// Something worked out from a [`Moment`]: an expression of a file, or a closure.
#[derive(Clone)]
pub enum Formula {
    /// Text that can be shown, checked and kept in a file.
    Expression(Expression),
    /// Rust code; must give the same answer whenever it sees the same.
    Closure(Arc<dyn Fn(&Moment<'_>) -> Result<Value, String> + Send + Sync>),
}

impl Formula {
    /// A closure as a formula.
    pub fn closure<V: Into<Value>>(code: impl Fn(&Moment<'_>) -> V + Send + Sync + 'static) -> Self {
        Self::Closure(Arc::new(move |moment| Ok(code(moment).into())))
    }

    /// A closure that may have no answer; what it says then is what is wrong with the node.
    pub fn fallible<V: Into<Value>>(
        code: impl Fn(&Moment<'_>) -> Result<V, String> + Send + Sync + 'static,
    ) -> Self {
        Self::Closure(Arc::new(move |moment| code(moment).map(Into::into)))
    }

    /// The text of an expression.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Expression(expression) => Some(expression.text()),
            Self::Closure(_) => None,
        }
    }

    /// Whether it may look at the state.
    pub(crate) fn sees_state(&self) -> bool {
        match self {
            Self::Expression(expression) => expression.paths().iter().any(|path| path.root == Root::State),
            Self::Closure(_) => true,
        }
    }

    pub(crate) fn evaluate(&self, moment: &Moment<'_>) -> Result<Value, String> {
        match self {
            Self::Expression(expression) => expression.evaluate(moment).map_err(|error| error.to_string()),
            Self::Closure(code) => code(moment),
        }
    }

    /// Its value as JSON: what a moment has is not parsed and written anew.
    pub(crate) fn json(&self, moment: &Moment<'_>) -> Result<Json, String> {
        let path = match self {
            Self::Expression(expression) => expression.as_path(),
            Self::Closure(_) => None,
        };
        match path.and_then(|path| moment.json(path)) {
            Some(json) => Ok(json),
            None => self.evaluate(moment).map(Json::from),
        }
    }

    pub(crate) fn truth(&self, moment: &Moment<'_>) -> Result<bool, String> {
        match self.evaluate(moment)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(format!(
                "`{}` gave {other}, and a condition must give true or false",
                self.text().unwrap_or("the closure")
            )),
        }
    }
}

impl From<Expression> for Formula {
    fn from(expression: Expression) -> Self {
        Self::Expression(expression)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().unwrap_or("<closure>"))
    }
}
