//! [`Function`]: Rust code as the work of a node, as this driver calls it.
//!
//! Plain functions, async functions, and functions that say something while they work.

use std::path::Path;
use std::sync::Arc;

use antiphon_event::body::content::Text;
use antiphon_event::body::flow::Diagnostic;
use antiphon_event::{Body, BranchId, FlowNodeId, Json, RunId};
use antiphon_flow::function::{Code, Failure, Reply};
use antiphon_flow::state::State;
use antiphon_flow::{Attempt, NodeIndex};
use serde_json::Value;
use tokio::sync::mpsc;

pub use antiphon_port::Future;

use crate::driver::Wake;
use crate::perform::Mouth;

/// Rust code as the work of a node; `Node::function` takes it.
#[derive(Clone)]
pub struct Function(pub(crate) Kind);

/// How the code wants to be called.
#[derive(Clone)]
pub(crate) enum Kind {
    /// It may block its thread, and gets one of its own.
    Plain(Arc<dyn Fn(Call) -> Result<Reply, Failure> + Send + Sync>),
    /// It waits without blocking.
    Async(Arc<dyn Fn(Call) -> Future<Result<Reply, Failure>> + Send + Sync>),
}

/// One execution of a node, as its code sees it.
#[derive(Clone)]
pub struct Call {
    /// What it gets.
    pub input: Json,
    /// The state when it started; what it wants to change goes into its [`Reply`].
    pub state: State,
    /// The node.
    pub node: FlowNodeId,
    /// Which execution, from 1.
    pub execution: u32,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// The run's place among those of the driver, and the node's in the flow.
    pub(crate) place: (usize, NodeIndex),
    pub(crate) setting: Arc<Setting>,
}

/// What all work of one run has in common.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) task: Json,
    pub(crate) run: RunId,
    /// The branch, if it is not the first one.
    pub(crate) branch: Option<BranchId>,
    /// Where what is said while it works goes.
    pub(crate) wakes: mpsc::Sender<Wake>,
    /// Whether what is spent is bounded.
    pub(crate) bounded: bool,
    /// The folder it works in.
    pub(crate) folder: Option<Arc<Path>>,
}

impl Function {
    /// Code that may block its thread.
    pub fn plain<R: Into<Reply>>(code: impl Fn(Call) -> Result<R, Failure> + Send + Sync + 'static) -> Self {
        Self(Kind::Plain(Arc::new(move |call| code(call).map(Into::into))))
    }

    /// Code that waits without blocking, and may [say](Call::say) things while it works.
    /// It becomes a task only when it first waits, so until then it holds up its run: what computes for long is
    /// [plain](Self::plain), or has a timeout.
    pub fn new<R, F>(code: impl Fn(Call) -> F + Send + Sync + 'static) -> Self
    where
        R: Into<Reply>,
        F: std::future::Future<Output = Result<R, Failure>> + Send + 'static,
    {
        Self(Kind::Async(Arc::new(move |call| {
            let work = code(call);
            Box::pin(async move { work.await.map(Into::into) })
        })))
    }
}

impl Call {
    /// The input, parsed.
    pub fn value(&self) -> Value {
        self.input.value()
    }

    /// The task of the whole flow.
    pub fn task(&self) -> &Json {
        &self.setting.task
    }

    /// The run it is part of.
    pub fn run(&self) -> &RunId {
        &self.setting.run
    }

    /// The folder that the run works in; not that of the process, if somebody went on with the run elsewhere.
    pub fn folder(&self) -> Option<&Path> {
        self.setting.folder.as_deref()
    }

    /// Where what it says while it works goes.
    pub(crate) fn mouth(&self) -> Mouth {
        let (machine, node) = self.place;
        let attempt = Attempt { node, execution: self.execution, attempt: self.attempt };
        Mouth::new(machine, attempt, self.setting.wakes.clone(), self.setting.bounded)
    }

    /// The same for every attempt at this execution, and another on another branch: what lets others tell a repeat from
    /// a second wish.
    pub fn key(&self) -> String {
        let key = format!("{}/{}/{}", self.run(), self.node, self.execution);
        match &self.setting.branch {
            Some(branch) => format!("{branch}/{key}"),
            None => key,
        }
    }

    /// Says a piece of text, which readers see at once. Waits while the journal is behind; what is said after the node
    /// ended is dropped.
    pub async fn say(&self, text: impl Into<String>) {
        let id = format!("{}/{}:{}", self.run(), self.node, self.execution);
        self.mouth().tell(Body::Text(Text { id: id.into(), content: text.into(), provenance: None })).await;
    }

    /// Says something to whoever watches that is no part of the conversation.
    pub(crate) async fn remark(&self, source: &str, mut message: String) {
        message.truncate(message.trim_end().len());
        if message.is_empty() {
            return;
        }
        let (level, source) = ("info".to_owned(), source.to_owned());
        self.mouth().tell(Body::Diagnostic(Diagnostic { level, source, message })).await;
    }
}

impl From<Function> for Code {
    fn from(function: Function) -> Self {
        Self::new(function)
    }
}
