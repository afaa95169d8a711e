//! [`Shelf`]: all tools there are, and the ones an agent gets.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_agent::machine::{AGENT, ASK, own_tools};
use antiphon_agent::permission::{Action, Rule};
use antiphon_agent::{Definition, Server, Spec};
use antiphon_event::near;
use antiphon_interop::mcp::{Options, Servers};
use antiphon_interop::skill;
use antiphon_port::Tool;
use antiphon_sandbox::Workspace;
use futures_util::future::join_all;
use tokio::sync::Mutex;

/// The tools there are.
pub(crate) struct Shelf {
    workspace: Workspace,
    /// Those of the workspace and those that were added, by name.
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// The names of those that were added.
    own: BTreeSet<String>,
    /// Servers that are connected, by what they are.
    servers: Mutex<Vec<(BTreeMap<String, Server>, Arc<Servers>)>>,
}

/// What an agent can have.
pub(crate) struct Offered {
    /// By name.
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// The tools of skills, which an agent has without naming them.
    brought: Vec<String>,
    /// The tools of servers, by the server.
    served: BTreeMap<String, Vec<String>>,
    /// For its instructions.
    pub(crate) notes: String,
}

impl Shelf {
    pub(crate) fn new(workspace: Workspace) -> Self {
        let tools = antiphon_sandbox::tools(&workspace);
        let tools = tools.into_iter().map(|tool| (tool.spec().name.clone(), tool)).collect();
        Self { workspace, tools, own: BTreeSet::new(), servers: Mutex::new(Vec::new()) }
    }

    pub(crate) fn add(&mut self, tool: Arc<dyn Tool>) {
        self.own.insert(tool.spec().name.clone());
        self.tools.insert(tool.spec().name.clone(), tool);
    }

    /// The same in another folder; tools that were added are there too.
    pub(crate) fn at(&self, folder: &Path) -> io::Result<Self> {
        let mut there = Self::new(self.workspace.at(folder)?);
        for name in &self.own {
            there.add(Arc::clone(&self.tools[name]));
        }
        Ok(there)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.workspace.root()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.values().cloned().collect()
    }

    /// What an agent can have: servers are connected, skills looked for.
    pub(crate) async fn offer(&self, definition: &Definition) -> Result<Offered, String> {
        let mut offered = Offered {
            tools: self.tools.clone(),
            brought: Vec::new(),
            served: BTreeMap::new(),
            notes: String::new(),
        };
        if let Some(fetch) = self.reaching(&definition.permissions) {
            offered.tools.insert(FETCH.to_owned(), fetch);
        }
        if !definition.mcp.is_empty() {
            let servers = self.connected(&definition.mcp).await?;
            let listed = servers.iter().map(async |server| (server.name(), server.tools().await));
            for (server, tools) in join_all(listed).await {
                offered.serve(server, tools.map_err(|fault| fault.to_string())?);
            }
        }
        if !definition.skills.is_empty() {
            let folders: Vec<PathBuf> =
                definition.skills.iter().map(|folder| self.folder().join(folder)).collect();
            let found = skill::discover(&folders);
            if !found.warnings.is_empty() {
                let wrong: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
                return Err(format!("skills cannot be used: {}", wrong.join("; ")));
            }
            offered.notes = skill::prompt(&found.skills);
            if let Some(tool) = skill::SkillTool::new(&found.skills) {
                offered.bring(Arc::new(tool));
            }
        }
        Ok(offered)
    }

    /// The tool that fetches, for an agent whose rules name addresses that are not public: that is what allows them.
    fn reaching(&self, rules: &[Rule]) -> Option<Arc<dyn Tool>> {
        let allowed = rules.iter().filter(|rule| rule.action == Action::Allow).flat_map(|rule| &rule.url);
        let addresses: Vec<IpAddr> = allowed.flat_map(|url| named(url)).collect();
        if addresses.is_empty() || self.own.contains(FETCH) {
            return None;
        }
        let workspace = addresses.into_iter().fold(self.workspace.clone(), Workspace::allow_address);
        antiphon_sandbox::tool(&workspace, FETCH)
    }

    async fn connected(&self, wanted: &BTreeMap<String, Server>) -> Result<Arc<Servers>, String> {
        let mut servers = self.servers.lock().await;
        if let Some((_, servers)) = servers.iter().find(|(known, _)| known == wanted) {
            return Ok(Arc::clone(servers));
        }
        let options = Options { dir: Some(self.folder().to_owned()), ..Options::default() };
        let (connected, faults) = Servers::connect(wanted, &options).await;
        if let Some(fault) = faults.first() {
            return Err(fault.to_string());
        }
        let connected = Arc::new(connected);
        servers.push((wanted.clone(), Arc::clone(&connected)));
        Ok(connected)
    }
}

/// The tool that fetches.
const FETCH: &str = "fetch";

/// The addresses that the pattern of a rule names by number, or as this machine.
fn named(url: &str) -> Vec<IpAddr> {
    let Some((_, rest)) = url.split_once("://") else { return Vec::new() };
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => rest.split(['/', ':']).next(),
    };
    match host.unwrap_or_default() {
        "localhost" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        host => host.parse().into_iter().collect(),
    }
}

impl Offered {
    fn bring(&mut self, tool: Arc<dyn Tool>) {
        let name = tool.spec().name.clone();
        self.brought.push(name.clone());
        self.tools.insert(name, tool);
    }

    fn serve(&mut self, server: &str, tools: Vec<Arc<dyn Tool>>) {
        let names = tools.iter().map(|tool| tool.spec().name.clone()).collect();
        self.served.insert(server.to_owned(), names);
        self.tools.extend(tools.into_iter().map(|tool| (tool.spec().name.clone(), tool)));
    }

    /// The tools that a name in a definition means.
    fn named(&self, name: &str) -> Result<Vec<&String>, String> {
        if let Some(server) = name.strip_suffix("/*") {
            let served = self.served.get(server);
            let served = served.ok_or_else(|| {
                format!("there is no MCP server `{server}`, whose tools `{name}` names: say under `mcp` what it is")
            })?;
            return Ok(served.iter().collect());
        }
        let (name, _) = self.tools.get_key_value(name).ok_or_else(|| self.unknown(name))?;
        Ok(vec![name])
    }

    /// The tools of servers that an agent has without naming them: all, unless it names some.
    fn served_unnamed(&self, definition: &Definition) -> Vec<&String> {
        let served = || self.served.values().flatten();
        let is_served = |name: &String| name.ends_with("/*") || served().any(|served| served == name);
        if definition.tools.iter().any(is_served) { Vec::new() } else { served().collect() }
    }

    fn unknown(&self, name: &str) -> String {
        let mut known: Vec<&str> = self.tools.keys().map(String::as_str).chain([ASK, AGENT]).collect();
        known.sort_unstable();
        let help = near::help(name, known).expect("there always are those of the loop itself");
        format!("there is no tool `{name}`; {help}")
    }
}

/// The tools an agent gets, and all it is told of: those it names, those it brings, and the loop's own.
pub(crate) fn chosen(
    definition: &Definition,
    offered: &Offered,
) -> Result<(BTreeMap<String, Arc<dyn Tool>>, Vec<Spec>), String> {
    let mut tools = BTreeMap::new();
    for name in &definition.tools {
        if name == ASK || name == AGENT {
            continue;
        }
        for name in offered.named(name)? {
            tools.insert(name.clone(), Arc::clone(&offered.tools[name]));
        }
    }
    for name in offered.brought.iter().chain(offered.served_unnamed(definition)) {
        tools.insert(name.clone(), Arc::clone(&offered.tools[name]));
    }
    let specs = tools.values().map(|tool| tool.spec().clone()).chain(own_tools(definition));
    let specs = specs.collect();
    Ok((tools, specs))
}
