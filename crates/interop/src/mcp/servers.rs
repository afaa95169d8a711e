//! [`Servers`]: several servers, with names for their tools that do not clash.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use antiphon_agent::Server;
use antiphon_port::Tool;
use futures_util::future::join_all;

use super::client::Connected;
use super::fault::Fault;
use super::name::Names;
use super::options::Options;

/// Several servers.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use antiphon_interop::mcp::{Options, Servers};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let named = serde_json::from_str(r#"{"gone": {"command": ["no-such-program"]}}"#)?;
/// let (servers, faults) = Servers::connect(&named, &Options::default()).await;
///
/// assert!(servers.tools().await.0.is_empty());
/// assert!(faults[0].to_string().starts_with("MCP server `gone` cannot be started"));
/// # Ok::<(), serde_json::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Servers(BTreeMap<String, Connected>);

impl Servers {
    /// Connects to all of them at once. One that fails does not keep the others: it is left out, with why.
    pub async fn connect(servers: &BTreeMap<String, Server>, options: &Options) -> (Self, Vec<Fault>) {
        let names: Arc<Mutex<Names>> = Arc::default();
        let tries = servers.iter().map(async |(name, server)| {
            let connected = Connected::new(name, server, options.clone(), names.clone());
            connected.refresh().await.map(|()| connected)
        });
        let mut connected = BTreeMap::new();
        let mut faults = Vec::new();
        for tried in join_all(tries).await {
            match tried {
                Ok(server) => {
                    connected.insert(server.name().to_owned(), server);
                }
                Err(fault) => faults.push(fault),
            }
        }
        // Names are given in the order of the servers, not of their answers, so that they are the same each time.
        for server in connected.values() {
            server.take_names();
        }
        (Self(connected), faults)
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Connected> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Connected> {
        self.0.values()
    }

    /// The tools of all of them, in the order of the servers; and the servers that cannot list theirs any more.
    pub async fn tools(&self) -> (Vec<Arc<dyn Tool>>, Vec<Fault>) {
        let mut tools = Vec::new();
        let mut faults = Vec::new();
        for listed in join_all(self.0.values().map(Connected::tools)).await {
            match listed {
                Ok(listed) => tools.extend(listed),
                Err(fault) => faults.push(fault),
            }
        }
        (tools, faults)
    }

    /// Ends all of them as servers expect it, at once and within some seconds.
    pub async fn close(self) {
        join_all(self.0.into_values().map(Connected::close)).await;
    }
}
