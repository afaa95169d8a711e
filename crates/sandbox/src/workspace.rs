//! [`Workspace`]: what the tools of one agent share: a folder, bounds, and what was read so far.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use antiphon_agent::permission::Subject;
use antiphon_port::ToolFault;

use crate::place;
use crate::promise::Promises;
use crate::seen::Seen;

/// What tools share. Cheap to clone; clones remember together what was read.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// use antiphon_sandbox::{Workspace, tools};
///
/// let workspace = Workspace::new(folder.path())?.keep_variables(["CARGO_REGISTRY_TOKEN"]);
/// assert_eq!(tools(&workspace).len(), 7);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct Workspace {
    root: Arc<Path>,
    limits: Limits,
    pub(crate) variables: Arc<Variables>,
    pub(crate) reach: Arc<Reach>,
    pub(crate) seen: Arc<Seen>,
    promises: Arc<Promises>,
    changing: Arc<Mutex<()>>,
}

/// Which variables of the environment commands are given against the rule, which they are not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    pub(crate) kept: BTreeSet<String>,
    pub(crate) hidden: BTreeSet<String>,
}

/// Which addresses that are not public may be fetched from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    pub(crate) everywhere: bool,
    pub(crate) addresses: BTreeSet<IpAddr>,
}

/// The bounds of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a command may take if its call does not say.
    pub command_time: Duration,
    /// How long a command may take whatever its call says.
    pub command_time_max: Duration,
    /// How long a command that is asked to end may take for that before it is killed.
    pub grace: Duration,
    /// How long a search may take.
    pub search_time: Duration,
    /// How long fetching may take, all redirects together.
    pub fetch_time: Duration,
    /// How many bytes of an answer of the web are read.
    pub fetch_bytes: usize,
    /// How many bytes of a file are read, written or changed.
    pub file_bytes: usize,
    /// How many bytes an image or a document may have.
    pub media_bytes: usize,
    /// About how many characters a tool gives; what is more is cut, with a notice.
    pub result_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            command_time: Duration::from_mins(2),
            command_time_max: Duration::from_mins(10),
            grace: Duration::from_secs(2),
            search_time: Duration::from_secs(30),
            fetch_time: Duration::from_secs(30),
            fetch_bytes: 5 << 20,
            file_bytes: 16 << 20,
            media_bytes: 5 << 20,
            result_chars: 28_000,
        }
    }
}

impl Workspace {
    /// A workspace in a folder that exists: paths start there, commands run there.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref().canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "a workspace is a folder"));
        }
        Ok(Self {
            root: root.into(),
            limits: Limits::default(),
            variables: Arc::default(),
            reach: Arc::default(),
            seen: Arc::default(),
            promises: Arc::default(),
            changing: Arc::default(),
        })
    }

    /// The same in another folder, where nothing was read yet.
    pub fn at(&self, root: impl AsRef<Path>) -> io::Result<Self> {
        let (variables, reach) = (Arc::clone(&self.variables), Arc::clone(&self.reach));
        Ok(Self { limits: self.limits, variables, reach, ..Self::new(root)? })
    }

    /// Sets the bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets `fetch` reach loopback, private and link-local addresses: all that this machine can reach.
    #[must_use]
    pub fn allow_private_addresses(mut self) -> Self {
        Arc::make_mut(&mut self.reach).everywhere = true;
        self
    }

    /// Lets `fetch` reach one address that is not public.
    #[must_use]
    pub fn allow_address(mut self, address: IpAddr) -> Self {
        Arc::make_mut(&mut self.reach).addresses.insert(address);
        self
    }

    /// Hands these variables of the environment to commands although they look like secrets.
    #[must_use]
    pub fn keep_variables(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Arc::make_mut(&mut self.variables).kept.extend(names.into_iter().map(Into::into));
        self
    }

    /// Hides these variables of the environment from commands although they do not look like secrets.
    #[must_use]
    pub fn hide_variables(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Arc::make_mut(&mut self.variables).hidden.extend(names.into_iter().map(Into::into));
        self
    }

    /// The folder, with links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn bounds(&self) -> &Limits {
        &self.limits
    }

    /// Where a path that was given really is: where rules were told it is, if they were told.
    pub(crate) fn resolve(&self, given: &str) -> Result<PathBuf, ToolFault> {
        let resolved = place::resolve(&self.root, given);
        let resolved = resolved.map_err(|why| ToolFault::new(format!("`{given}` {why}")))?;
        if !self.promises.is_kept(given, &resolved) {
            let message = format!("`{given}` leads elsewhere than when it was asked about: call again");
            return Err(ToolFault::new(message));
        }
        Ok(resolved)
    }

    /// What rules are told about a path that was given.
    pub(crate) fn subject(&self, given: &str, writes: bool) -> Subject {
        // A path that leads nowhere is refused by the call itself.
        let resolved = place::resolve(&self.root, given).unwrap_or_else(|_| self.root.join(given));
        self.promises.note(given, &resolved);
        Subject::Path { given: given.to_owned(), resolved: resolved.to_string_lossy().into_owned(), writes }
    }

    /// A path as models are shown it: from the root where it is inside.
    pub(crate) fn show(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).ok().filter(|rest| !rest.as_os_str().is_empty());
        let shown = inside.unwrap_or(path).to_string_lossy();
        // A name must not look like more than one line, or do things to a terminal.
        shown
            .chars()
            .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
            .collect()
    }

    /// Held from the check of a file to its change, so that no other call comes between.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
