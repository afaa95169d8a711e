//! [`Sources`]: rules from all the places they are written down, put together in order.

use super::{Action, Place, Policy, Rule};

/// Where a rule was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A person said so while the agent worked.
    Grant,
    /// The person's own file.
    User,
    /// The project's file.
    Project,
    /// The agent's own definition.
    Agent,
    /// They hold unless somebody says otherwise.
    BuiltIn,
}

impl Source {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grant => "granted",
            Self::User => "user file",
            Self::Project => "project file",
            Self::Agent => "agent",
            Self::BuiltIn => "built in",
        }
    }
}

/// Rules by where they were written down.
///
/// They are tried in the order user, project, agent, built in, and the first that fits decides: a person's own file
/// comes before what a project brings along. Grants answer what would be asked; they never undo a denial.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The person's own file.
    pub user: Vec<Rule>,
    /// The project's file.
    pub project: Vec<Rule>,
    /// The agent's definition.
    pub agent: Vec<Rule>,
    /// What was granted for this session or project, the oldest first.
    pub grants: Vec<Rule>,
    /// Where the agent works.
    pub place: Place,
}

impl Sources {
    /// The policy they come to, with the built-in rules last.
    pub fn policy(self) -> Policy {
        let mut policy = Policy::default();
        policy.extend(Source::BuiltIn, [guard()]);
        policy.extend(Source::User, self.user);
        policy.extend(Source::Project, self.project);
        policy.extend(Source::Agent, self.agent);
        policy.extend(Source::BuiltIn, built_in());
        self.grants.into_iter().for_each(|rule| policy.grant(rule));
        policy.at(self.place)
    }
}

/// The folder of a project in which rules and grants are kept.
pub(super) const KEPT_IN: &str = ".antiphon";

/// What comes before all other rules: where rules and grants are kept is asked about, file by file, so that an agent
/// that may write in its folder cannot write itself more than that.
fn guard() -> Rule {
    Rule { path: vec![format!("/**/{KEPT_IN}")], ..Rule::new(Action::Ask, "*") }
}

/// What holds unless somebody says otherwise: an agent may look around in its working folder, except at files that hold
/// secrets, may run there what it may run, and may use the tools that touch nothing. All else is asked.
pub fn built_in() -> Vec<Rule> {
    let secret =
        Rule { path: SECRETS.iter().map(|&path| path.into()).collect(), ..Rule::new(Action::Ask, "*") };
    let look = ["bash", "read", "search"]
        .map(|tool| Rule { path: vec![".".into()], ..Rule::new(Action::Allow, tool) });
    let harmless = ["agent", "ask", "handoff", "skill", "todo"].map(|tool| Rule::new(Action::Allow, tool));
    [secret].into_iter().chain(look).chain(harmless).collect()
}

/// Files that commonly hold secrets, anywhere.
const SECRETS: &[&str] =
    &["/**/.env", "/**/.env.*", "/**/.netrc", "/**/.ssh", "/**/.aws", "/**/*.pem", "/**/*.key"];
