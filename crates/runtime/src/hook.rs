//! [`AsyncHook`]: a hook that has to look something up before it can say anything.
//!
//! A decision is made in one go, so the run waits for its hook, which works on a thread of its own and no longer than it
//! may. Other runs and the nodes that are at work go on, except where all tasks share one thread: there they wait,
//! too. What fails, panics or takes too long is a named error of what
//! the hook was consulted about. Start reading at [`AsyncHook::new`].

use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use antiphon_event::{FlowNodeId, Json, NodeStatus};
use antiphon_flow::hook::{Advice, Hook, Point};
use futures_util::future::BoxFuture;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// How long a hook may take unless it is told otherwise.
const LIMIT: Duration = Duration::from_secs(10);

/// Where a hook is consulted: what a [`Point`] says, to be kept while something is looked up.
#[derive(Debug, Clone, PartialEq)]
pub enum Occasion {
    /// An invocation is about to begin.
    BeforeRun {
        /// The task.
        task: Json,
    },
    /// An invocation is about to end.
    AfterRun {
        /// How.
        status: NodeStatus,
        /// What it gives.
        output: Json,
    },
    /// A node is about to start.
    BeforeNode {
        /// The node.
        node: FlowNodeId,
        /// Which execution, from 1.
        execution: u32,
        /// What it gets.
        input: Json,
    },
    /// A node is about to complete.
    AfterNode {
        /// The node.
        node: FlowNodeId,
        /// Which execution, from 1.
        execution: u32,
        /// What it gave.
        output: Json,
    },
    /// An edge is about to be decided.
    BeforeEdge {
        /// The source.
        from: FlowNodeId,
        /// The target.
        to: FlowNodeId,
    },
    /// An edge was decided.
    AfterEdge {
        /// The source.
        from: FlowNodeId,
        /// The target.
        to: FlowNodeId,
        /// Whether it is taken.
        live: bool,
    },
}

impl From<Point<'_>> for Occasion {
    fn from(point: Point<'_>) -> Self {
        match point {
            Point::BeforeRun { task } => Self::BeforeRun { task: task.clone() },
            Point::AfterRun { status, output } => {
                Self::AfterRun { status: status.clone(), output: output.clone() }
            }
            Point::BeforeNode { node, execution, input } => {
                Self::BeforeNode { node: node.clone(), execution, input: input.clone() }
            }
            Point::AfterNode { node, execution, output } => {
                Self::AfterNode { node: node.clone(), execution, output: output.clone() }
            }
            Point::BeforeEdge { from, to } => Self::BeforeEdge { from: from.clone(), to: to.clone() },
            Point::AfterEdge { from, to, live } => {
                Self::AfterEdge { from: from.clone(), to: to.clone(), live }
            }
        }
    }
}

/// A hook that may wait for something, added like any other: `.hook(AsyncHook::new(…))`.
///
/// The run waits for it, at every point: let it return at once where it has nothing to look up. It may be consulted
/// again for the same point after a crash.
///
/// ```
/// use std::time::Duration;
///
/// use antiphon_flow::hook::{Advice, Verdict};
/// use antiphon_flow::{Flow, Node};
/// use antiphon_runtime::{AsyncHook, Engine, Invocation, Occasion, Outcome};
///
/// async fn may_run(_node: &str) -> bool {
///     tokio::time::sleep(Duration::from_millis(1)).await;
///     false
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let permits = AsyncHook::new(|occasion| async move {
///     let mut advice = Advice::default();
///     if let Occasion::BeforeNode { node, .. } = occasion
///         && !may_run(node.as_str()).await
///     {
///         advice.verdict = Verdict::Cancel(format!("`{node}` has no permit"));
///     }
///     Ok(advice)
/// });
/// let flow = Flow::new("permits").hook(permits.limit(Duration::from_secs(2)));
/// let flow = flow.node("launch", Node::expression("'up'")?).build()?;
/// let engine = Engine::new(antiphon_store::open("memory:")?);
/// let report = engine.start(flow, Invocation::new("go")).await?.wait().await?;
/// assert_eq!(report.outcome, Outcome::Cancelled);
/// # Ok(())
/// # }
/// ```
pub struct AsyncHook {
    look: Box<dyn Fn(Occasion) -> BoxFuture<'static, Result<Advice, String>> + Send + Sync>,
    limit: Duration,
}

impl AsyncHook {
    /// A hook that may take ten seconds.
    pub fn new<L, F>(look: L) -> Self
    where
        L: Fn(Occasion) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Advice, String>> + Send + 'static,
    {
        Self { look: Box::new(move |occasion| Box::pin(look(occasion))), limit: LIMIT }
    }

    /// Lets it take so long instead.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }
}

impl Hook for AsyncHook {
    fn look(&self, point: Point<'_>) -> Result<Advice, String> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let looking = (self.look)(Occasion::from(point));
        let task = thread_of_hooks()?.spawn(async move {
            // Nobody may be waiting for it any more.
            let _ = sender.send(looking.await);
        });
        let wait = || receiver.recv_timeout(self.limit);
        let shares = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::CurrentThread;
        // Lets another thread take over the tasks of this one, where there is one.
        let advice =
            if Handle::try_current().is_ok_and(|here| !shares(here)) { block_in_place(wait) } else { wait() };
        match advice {
            Ok(advice) => advice,
            Err(RecvTimeoutError::Timeout) => {
                task.abort();
                Err(format!("it took longer than {} ms", self.limit.as_millis()))
            }
            Err(RecvTimeoutError::Disconnected) => Err("it panicked".to_owned()),
        }
    }
}

/// Where hooks wait: a thread that is there from the first time on.
fn thread_of_hooks() -> Result<&'static Handle, String> {
    static THREAD: OnceLock<Result<Handle, String>> = OnceLock::new();
    let begin = || -> std::io::Result<Handle> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let wait = move || runtime.block_on(std::future::pending::<()>());
        thread::Builder::new().name("hooks".to_owned()).spawn(wait)?;
        Ok(handle)
    };
    let thread = THREAD.get_or_init(|| begin().map_err(|error| format!("its thread cannot begin: {error}")));
    thread.as_ref().map_err(Clone::clone)
}
