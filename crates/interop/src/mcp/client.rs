//! [`Connected`]: a server whose tools can be called, started again when it died.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon_agent::{Server, Spec};
use antiphon_port::Tool;
use rmcp::model;
use tokio::sync::OnceCell;

use super::fault::{Fault, cut};
use super::link::Link;
use super::name::Names;
use super::options::Options;
use super::spec;
use super::tool::Remote;

/// Connects to one server: it is started if it is a program, greeted, and its tools are listed.
pub async fn connect(name: &str, server: &Server, options: Options) -> Result<Connected, Fault> {
    let connected = Connected::new(name, server, options, Arc::default());
    connected.refresh().await?;
    Ok(connected)
}

/// A server. It lives as long as this and its tools do; dropped, a program is killed with all its children.
pub struct Connected {
    client: Arc<Client>,
    names: Arc<Mutex<Names>>,
    listed: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    tools: Vec<model::Tool>,
    has_more: bool,
}

/// What is offered of what was listed.
struct Offer {
    tools: Vec<Arc<Remote>>,
    left_out: Vec<String>,
}

impl Connected {
    /// A server that was not spoken to yet.
    pub(super) fn new(name: &str, server: &Server, options: Options, names: Arc<Mutex<Names>>) -> Self {
        let (name, server) = (name.to_owned(), server.clone());
        let client = Client { name, server, options, link: Mutex::default(), is_closed: false.into() };
        Self { client: Arc::new(client), names, listed: Mutex::default() }
    }

    /// The server, as the definition calls it.
    pub fn name(&self) -> &str {
        &self.client.name
    }

    /// Its tools as models see them. Listed again if the server said that they changed, or was started again.
    pub async fn specs(&self) -> Result<Vec<Spec>, Fault> {
        self.refresh().await?;
        Ok(self.offer().tools.iter().map(|tool| tool.spec.clone()).collect())
    }

    /// Its tools, to be called. Listed again as by [`Connected::specs`].
    pub async fn tools(&self) -> Result<Vec<Arc<dyn Tool>>, Fault> {
        self.refresh().await?;
        Ok(self.offer().tools.into_iter().map(|tool| tool as Arc<dyn Tool>).collect())
    }

    /// Which tools of those listed are not offered, and why.
    pub fn left_out(&self) -> Vec<String> {
        self.offer().left_out
    }

    /// Ends it as a server expects it, within some seconds. Its tools can be called no more.
    pub async fn close(self) {
        self.client.close().await;
    }

    /// Lists the tools if they may have changed.
    pub(super) async fn refresh(&self) -> Result<(), Fault> {
        let link = self.client.link().await?;
        if let Some((tools, has_more)) = link.list_changed(&self.client.options).await? {
            *lock(&self.listed) = Listed { tools, has_more };
        }
        Ok(())
    }

    /// Gives names to the tools that were listed, before others get any.
    pub(super) fn take_names(&self) {
        self.offer();
    }

    fn offer(&self) -> Offer {
        let listed = lock(&self.listed);
        let mut names = lock(&self.names);
        let mut offer = Offer { tools: Vec::new(), left_out: Vec::new() };
        let mut seen = BTreeSet::new();
        for tool in &listed.tools {
            match self.tool(tool, &mut names, &mut seen) {
                Ok(remote) => offer.tools.push(Arc::new(remote)),
                Err(why) => offer.left_out.push(format!("`{}`: {why}", cut(&tool.name, 80))),
            }
        }
        if listed.has_more {
            let tools_max = self.client.options.tools;
            offer.left_out.push(format!("all after the first {tools_max}: there are too many"));
        }
        offer
    }

    fn tool<'t>(
        &self,
        tool: &'t model::Tool,
        names: &mut Names,
        seen: &mut BTreeSet<&'t str>,
    ) -> Result<Remote, String> {
        spec::check_name(&tool.name)?;
        if !seen.insert(&tool.name) {
            return Err("it is there twice".to_owned());
        }
        let spec = spec::spec(tool, names.name(&self.client.name, &tool.name))?;
        Ok(Remote { spec, own_name: tool.name.clone().into_owned(), client: self.client.clone() })
    }
}

/// A server, with the connection to it while there is one.
pub(super) struct Client {
    name: String,
    server: Server,
    pub(super) options: Options,
    /// Set once for each life of the server, by whoever comes first; all others wait for it.
    link: Mutex<Arc<OnceCell<Link>>>,
    is_closed: AtomicBool,
}

/// A connection that is used; the cell in it is set.
pub(super) struct Borrowed(Arc<OnceCell<Link>>);

impl std::ops::Deref for Borrowed {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.0.get().expect("a cell is borrowed once it is set")
    }
}

impl Client {
    /// The connection. Made anew if there is none or its server died: once, and if that fails, the next call tries.
    pub(super) async fn link(&self) -> Result<Borrowed, Fault> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(Fault::lasting(&self.name, "was closed"));
        }
        let cell = self.living();
        cell.get_or_try_init(|| Link::open(&self.name, &self.server, &self.options)).await?;
        Ok(Borrowed(cell))
    }

    fn living(&self) -> Arc<OnceCell<Link>> {
        let mut current = lock(&self.link);
        if current.get().is_some_and(Link::is_closed) {
            *current = Arc::default();
        }
        current.clone()
    }

    async fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        let cell = lock(&self.link).clone();
        if let Some(link) = cell.get() {
            link.close().await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
