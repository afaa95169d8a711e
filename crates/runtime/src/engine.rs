//! [`Engine`]: what runs need, put together once, and how one is started or gone on with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_event::body::content::{User, UserContent};
use antiphon_event::body::session::SessionCreated;
use antiphon_event::{Body, BranchId, Event, EventFlowId, Head, Json, ParentId, RunId, SessionId};
use antiphon_flow::{Flow, Input, Origin, Refusal, Scheduler};
use antiphon_port::{Branch, Claim, Fault, Journal, Tool};
use tokio::sync::mpsc;

use crate::away::{Busy, end_left};
use crate::checkpoint::{self, Keeper};
use crate::clock::{Clock, Ids, SystemClock, UuidIds};
use crate::driver::Driver;
use crate::harness::{Harness, Harnesses};
use crate::mind::Mind;
use crate::outfit::Outfitter;
use crate::resume::{self, Resumption};
use crate::run::Run;
use crate::stand_in::StandIn;
use crate::talk::equip_root;
use crate::tool::Tools;

/// How many wishes may wait for a driver.
pub(crate) const WISHES_MAX: usize = 64;

/// Runs flows on a journal. Cheap to clone.
///
/// ```
/// # use std::sync::Arc;
/// use antiphon_flow::{Flow, Node};
/// use antiphon_runtime::{Engine, Invocation, Outcome};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::new("greet").node("hello", Node::expression("'hello ' + task")?).build()?;
/// let engine = Engine::new(antiphon_store::open("memory:")?);
/// let mut run = engine.start(flow, Invocation::new("world")).await?;
/// let report = run.wait().await?;
/// assert_eq!(report.outcome, Outcome::Completed);
/// assert_eq!(report.output.to_text(), "hello world");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Parts>);

/// What runs need of the outside.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) harnesses: Harnesses,
    pub(crate) tools: Tools,
    pub(crate) outfitter: Option<Arc<dyn Outfitter>>,
    pub(crate) inbox: bool,
    pub(crate) busy: Busy,
    pub(crate) stand_in: Option<Arc<dyn StandIn>>,
    pub(crate) checkpoint_every: u64,
    /// The folder of the run; of an engine, that of the runs it starts.
    pub(crate) folder: Option<Arc<Path>>,
}

/// What a run is started with.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The task.
    pub task: Json,
    /// What the state begins with instead of its defaults.
    pub state: BTreeMap<String, Json>,
    /// The session to go on in; a new one if absent.
    pub session: Option<SessionId>,
    /// The branch of it; the first if absent.
    pub branch: Option<BranchId>,
    /// What people call a new session.
    pub title: Option<String>,
    /// Whatever is to be kept with a new session.
    pub metadata: Option<Json>,
    /// Whether the task is what a person said, and is to be seen as such.
    pub said: bool,
    /// The folder it works in; that of the [engine](Engine::folder) if absent.
    pub folder: Option<PathBuf>,
}

impl Invocation {
    /// A run with this task in a session of its own.
    pub fn new(task: impl Into<Json>) -> Self {
        Self {
            task: task.into(),
            state: BTreeMap::new(),
            session: None,
            branch: None,
            title: None,
            metadata: None,
            said: false,
            folder: None,
        }
    }

    /// Where it is to run.
    pub(crate) fn place(&self, ids: &dyn Ids) -> Branch {
        match (&self.session, &self.branch) {
            (Some(session), Some(branch)) => Branch::new(session.clone(), branch.as_str()),
            (Some(session), None) => Branch::main(session.clone()),
            (None, _) => Branch::main(ids.session()),
        }
    }
}

/// Why a run was not started, or not gone on with.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The flow would not have it.
    #[error(transparent)]
    Flow(#[from] Refusal),
    /// The journal would not.
    #[error(transparent)]
    Journal(#[from] Fault),
    /// The session holds no run.
    #[error("session {0} holds no run of a flow or of an agent")]
    NoRun(SessionId),
    /// There is no flow whose state could be changed.
    #[error("session {0} holds no run of a flow, so it has no state")]
    NoState(SessionId),
    /// An agent cannot have what it needs.
    #[error("the agent cannot begin: {0}")]
    Agent(String),
    /// The folder of the run is not there, or is none.
    #[error("the run cannot work in the folder {}: {why}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The flow was built in Rust and is not in the journal.
    #[error("the journal does not hold the flow `{0}`: it was built in Rust, so hand it over to resume it")]
    NoFlow(String),
    /// The flow in the journal cannot be read.
    #[error("the flow in the journal cannot be read: {0}")]
    Unreadable(String),
}

impl Engine {
    /// An engine with the machine's clock. Agents need [somebody who equips them](Self::agents).
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(UuidIds));
        Self(Arc::new(Parts {
            journal,
            clock,
            ids,
            harnesses: Harnesses::new(),
            tools: Tools::new(),
            outfitter: None,
            inbox: false,
            busy: Busy::default(),
            stand_in: None,
            checkpoint_every: checkpoint::EVERY,
            folder: None,
        }))
    }

    /// Tells the time by another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        Arc::make_mut(&mut self.0).clock = Arc::new(clock);
        self
    }

    /// Takes names and dice from elsewhere.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> Self {
        Arc::make_mut(&mut self.0).ids = Arc::new(ids);
        self
    }

    /// Runs agents, with what this one gives them.
    #[must_use]
    pub fn agents(mut self, outfitter: impl Outfitter) -> Self {
        Arc::make_mut(&mut self.0).outfitter = Some(Arc::new(outfitter));
        self
    }

    /// Runs agents whose nodes name this harness.
    #[must_use]
    pub fn harness(mut self, name: impl Into<String>, harness: impl Harness) -> Self {
        Arc::make_mut(&mut self.0).harnesses.insert(name.into(), Arc::new(harness));
        self
    }

    /// Lets nodes call this tool.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        Arc::make_mut(&mut self.0).tools.insert(tool.spec().name.clone(), tool);
        self
    }

    /// The folder that the runs it starts work in: commands begin there, and so do the tools of agents. Unless told
    /// otherwise it is the one that [agents](Self::agents) work in, else the current one of the process. A run says where
    /// it works, and whoever goes on with it goes on there.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        Arc::make_mut(&mut self.0).folder = Some(folder.as_ref().into());
        self
    }

    /// Listens to what other processes leave in the store for the runs of this one; off unless asked for.
    #[must_use]
    pub fn inbox(mut self) -> Self {
        Arc::make_mut(&mut self.0).inbox = true;
        self
    }

    /// Lets somebody else answer for nodes instead of doing their work.
    #[must_use]
    pub fn stand_in(mut self, stand_in: impl StandIn) -> Self {
        Arc::make_mut(&mut self.0).stand_in = Some(Arc::new(stand_in));
        self
    }

    /// Saves the state of a run beside its events after so many of them, so that it is resumed, forked or looked at
    /// from there; 5,000 unless told otherwise. See `docs/flows.md`.
    #[must_use]
    pub fn checkpoint_every(mut self, events: u64) -> Self {
        Arc::make_mut(&mut self.0).checkpoint_every = events;
        self
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.0.journal
    }

    /// Starts a run. When this returns its first events are durable.
    pub async fn start(&self, flow: Flow, invocation: Invocation) -> Result<Run, Refused> {
        let parts = &self.0.for_start(invocation.folder.as_deref())?;
        let branch = invocation.place(&*parts.ids);
        let (claim, left) = self.own(&branch.session).await?;
        let before = match invocation.session {
            Some(_) => self.follow(&branch).await?,
            None => Vec::new(),
        };
        let seq = before.last().and_then(|event| event.head.seq).unwrap_or(0);
        let (wishes, asked) = mpsc::channel(WISHES_MAX);
        let (mut driver, progress) = Driver::new(Arc::clone(parts), branch.clone(), seq, asked, claim);
        driver.inbox_old = left;
        let (origin, said) = self.origin(&invocation);
        let run = origin.run.clone();
        if seq == 0 {
            driver.batch.push(self.session_created(invocation.title.clone(), invocation.metadata.clone()));
        }
        driver.batch.extend(said);
        driver.tree.remember(&before);
        let root = driver.tree.add(Mind::Flow(Box::new(Scheduler::new(flow, origin))), None);
        driver.feed(root, Input::Start { task: invocation.task, state: invocation.state })?;
        self.begin(&mut driver, invocation.session.is_none()).await?;
        let limit = driver.tree.machines[root].mind.flow().flow().settings().limits.execution_timeout;
        driver.limit_after(root, limit);
        tokio::spawn(driver.run());
        let (journal, folder) = (Arc::clone(&parts.journal), parts.folder.clone());
        Ok(Run { journal, branch, run, folder, began: seq, wishes, progress })
    }

    /// Makes what a driver has decided durable, in a session of its own if that is to be. What is refused leaves no
    /// session behind.
    pub(crate) async fn begin(&self, driver: &mut Driver, is_new: bool) -> Result<(), Refused> {
        let (journal, branch) = (&self.0.journal, driver.branch.clone());
        driver.say_folder();
        if is_new {
            journal.create(&branch).await?;
        }
        let accepted = driver.accept().await;
        if is_new && accepted.is_err() {
            // It holds nothing; if it cannot be removed, why nothing began is what matters.
            let _ = journal.remove(&branch.session, true).await;
        }
        Ok(accepted?)
    }

    /// Goes on with the last run of a branch: after a crash, a pause, a failure or a cancel. One that has completed is
    /// only reported. A flow that was built in Rust is not in the journal and has to be handed over. It works in the folder
    /// that it says.
    pub async fn resume(&self, branch: Branch, flow: Option<Flow>) -> Result<Run, Refused> {
        self.go_on(branch, flow, None).await
    }

    /// The same in another folder, where it works from here on: the run says so.
    pub async fn resume_in(
        &self,
        folder: impl AsRef<Path>,
        branch: Branch,
        flow: Option<Flow>,
    ) -> Result<Run, Refused> {
        self.go_on(branch, flow, Some(folder.as_ref())).await
    }

    async fn go_on(
        &self,
        branch: Branch,
        flow: Option<Flow>,
        elsewhere: Option<&Path>,
    ) -> Result<Run, Refused> {
        let parts = &self.0;
        let (claim, left) = self.own(&branch.session).await?;
        let Resumption { tree, seq, began, saved } = resume::load(parts, &branch, None, flow).await?;
        let parts = &match elsewhere.or(tree.folder.as_deref().map(Path::new)) {
            Some(folder) if !tree.machines[0].mind.has_completed() => parts.in_folder(folder)?,
            _ => Arc::clone(parts),
        };
        let run = tree.machines[0].mind.run().clone();
        let (wishes, asked) = mpsc::channel(WISHES_MAX);
        let (mut driver, progress) = Driver::new(Arc::clone(parts), branch.clone(), seq, asked, claim);
        driver.inbox_old = left;
        driver.tree = tree;
        driver.keeper = Keeper::new(parts.checkpoint_every, began, saved);
        if driver.completed() {
            let is_agent = driver.tree.machines[0].mind.as_agent().is_some();
            if is_agent {
                end_left(parts, &branch, &resume::read_all(parts, &branch).await?).await?;
            }
            driver.rest();
        } else {
            equip_root(parts, &mut driver.tree).await?;
            resume::take_over(&mut driver)?;
            if elsewhere.is_some() {
                driver.say_folder();
            }
            driver.accept().await?;
            tokio::spawn(driver.run());
        }
        let (journal, folder) = (Arc::clone(&parts.journal), parts.folder.clone());
        Ok(Run { journal, branch, run, folder, began, wishes, progress })
    }

    /// The right to run what is in a session, and the number of the last command that was left for whoever had it before.
    pub(crate) async fn own(&self, session: &SessionId) -> Result<(Claim, u64), Refused> {
        let claim = self.0.journal.claim(session)?;
        let left = if self.0.inbox { self.0.journal.take(session, 0).await? } else { Vec::new() };
        Ok((claim, left.last().map_or(0, |sent| sent.number)))
    }

    /// What happened in a session in which a new run is to begin; refused while another one is under way.
    pub(crate) async fn follow(&self, branch: &Branch) -> Result<Vec<Event>, Refused> {
        let events = resume::read_all(&self.0, branch).await?;
        if let Some(run) = resume::unfinished(&events) {
            return Err(Refusal::UnderWay(run).into());
        }
        end_left(&self.0, branch, &events).await?;
        Ok(events)
    }

    pub(crate) fn session_created(&self, title: Option<String>, metadata: Option<Json>) -> Event {
        let body = Body::SessionCreated(SessionCreated { title, metadata });
        let mut event = Event::of(Head::default(), body);
        event.head.at = Some(self.0.clock.now());
        event
    }

    /// What a user says, now.
    pub(crate) fn user_said(&self, user: RunId, turn: EventFlowId, said: Body) -> Event {
        let mut event = Event::of(Head::of_user(user, turn), said);
        event.head.at = Some(self.0.clock.now());
        event
    }

    /// Where the run's events belong, and what the user said to bring it about.
    fn origin(&self, invocation: &Invocation) -> (Origin, Option<Event>) {
        let run = self.0.ids.run();
        let mut origin = Origin {
            turn: Some(EventFlowId::from(run.shared())),
            run,
            parent: None,
            path: Vec::new(),
            item: false,
            span: None,
        };
        if !invocation.said {
            return (origin, None);
        }
        let user = self.0.ids.run();
        let turn = EventFlowId::from(user.shared());
        let content = UserContent::Text(invocation.task.to_text().into_owned());
        let body = Body::User(User { content, delivery: None, provenance: None });
        let event = self.user_said(user, turn, body);
        origin.parent = event.head.run_id.as_ref().map(|user| ParentId::from(format!("{user}:user")));
        origin.turn.clone_from(&event.head.event_flow_id);
        origin.span.clone_from(&event.head.span_id);
        (origin, Some(event))
    }
}
