//! Lines of a script as an agent and as inputs.

use std::time::Duration;

use antiphon_agent::machine::{BASH, Failure, Input, QUERY, Ran, Replied, Returned, Summarized, own_tools};
use antiphon_agent::permission::{Policy, Rule};
use antiphon_agent::{
    Agent, Class, Compact, Content, Definition, Delta, Fault, Limits, Message, ModelUse, OnLimit, Outfit,
    Spec, Stop, Tokens,
};
use antiphon_event::body::content::UserContent;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{
    Agent as Who, CallId, ErrorCode, Event, Json, Mode, ParentId, Provenance, RelayId, ReplId, Scope,
    StreamName,
};
use serde_json::{Map, Value, json};

/// What an agent is before it starts.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) definition: Definition,
    pub(crate) task: Vec<Message>,
    pub(crate) earlier: Vec<Event>,
    tools: Vec<Spec>,
    depth: u32,
}

impl Setup {
    pub(crate) fn read(lines: &[&str]) -> Self {
        let mut setup = Self {
            definition: definition(),
            task: Vec::new(),
            earlier: Vec::new(),
            tools: Vec::new(),
            depth: 0,
        };
        for line in lines {
            setup.take(line);
        }
        setup
    }

    fn take(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').expect("a word and what it is");
        let definition = &mut self.definition;
        match word {
            "max" => definition.max_iterations = number(rest),
            "on_limit" => definition.on_limit = if rest == "ask" { OnLimit::Ask } else { OnLimit::WrapUp },
            "tool" => self.tools.push(tool(rest)),
            "rule" => definition.permissions.push(rule(rest)),
            "output" => definition.output = Some(value(rest)),
            "limit" => definition.limits = limit(&definition.limits, rest),
            "retries" => definition.model.retries = Some(number(rest)),
            "context" => definition.model.context_tokens = Some(number(rest)),
            "compact" => {
                let (at, keep) = rest.split_once(" keep ").expect("compact AT keep COUNT");
                definition.compact = Some(Compact { at_tokens: number(at), keep_messages: number(keep) });
            }
            "harness" => {
                definition.harness = serde_json::from_value(json!(rest)).expect("a harness");
                self.tools.extend(own_tools(definition));
            }
            "system" => definition.system = Some(rest.to_owned()),
            "task" => self.task.push(Message::User { content: Content::Text(rest.to_owned()) }),
            "depth" => self.depth = number(rest),
            "user" => self.earlier.push(user(rest, self.earlier.len())),
            "agent" => self.earlier.extend(answer(rest, self.earlier.len())),
            "event" => self.earlier.push(Event::from_json(rest).expect("an event")),
            other => panic!("nothing about an agent is called {other}"),
        }
    }

    pub(crate) fn outfit(&self) -> Outfit {
        let policy = Policy::new(self.definition.permissions.clone());
        Outfit::new(self.tools.clone(), policy, String::new(), self.definition.output.as_ref())
    }

    pub(crate) fn who(&self) -> Who {
        Who {
            id: "agent".into(),
            name: None,
            chain: Vec::new(),
            depth: self.depth,
            parent_id: None,
            extra: Map::new(),
        }
    }

    /// What its run answers: the last thing said in the conversation it joins.
    pub(crate) fn parent(&self) -> Option<ParentId> {
        let last = self.earlier.last()?;
        let run = last.head.run_id.as_ref()?;
        Some(format!("{run}:user").into())
    }
}

fn definition() -> Definition {
    let model = ModelUse { provider: "scripted".to_owned(), ..ModelUse::default() };
    let mut definition: Definition =
        serde_json::from_value(json!({"model": {"provider": "scripted"}})).expect("the least agent");
    definition.model = model;
    definition
}

/// What others do while the agent runs: `user …` or `event {…}`.
pub(crate) fn of_others(line: &str, nth: usize) -> Option<Event> {
    match line.split_once(' ')? {
        ("user", said) => Some(user(said, nth)),
        ("event", event) => Some(Event::from_json(event).expect("an event")),
        _ => None,
    }
}

/// What a user says in a run of its own, which follows what was said before it.
pub(crate) fn user(content: &str, nth: usize) -> Event {
    let parent = if nth == 0 { String::new() } else { format!(r#""parentId":"a{}","#, nth - 1) };
    let content = Value::from(content);
    let event = format!(r#"{{"type":"user",{parent}"runId":"u{nth}","content":{content}}}"#);
    Event::from_json(&event).expect("an event")
}

/// What an agent said in an earlier run, which answers the user before it.
fn answer(content: &str, nth: usize) -> [Event; 1] {
    let content = Value::from(content);
    let event = format!(
        r#"{{"type":"text","runId":"a{nth}","parentId":"u{}:user","id":"a{nth}/text","content":{content}}}"#,
        nth - 1
    );
    [Event::from_json(&event).expect("an event")]
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn value(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// JSON if it is, else text.
fn loose(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::from(Value::from(text)))
}

fn tool(line: &str) -> Spec {
    let mut words = line.splitn(3, ' ');
    let name = words.next().expect("a name").to_owned();
    let class = match words.next().unwrap_or("write") {
        "pure" => Class::Pure,
        "read" => Class::Read,
        "idempotent" => Class::Idempotent,
        "write" => Class::Write,
        other => panic!("no class is called {other}"),
    };
    let input = value(words.next().unwrap_or(r#"{"type":"object"}"#));
    Spec { name, description: String::new(), input, class, call_type: None }
}

fn rule(line: &str) -> Rule {
    let long = || serde_json::from_str(line).expect("a rule");
    if line.starts_with('{') { long() } else { line.parse().expect("a rule") }
}

fn limit(limits: &Limits, line: &str) -> Limits {
    let (name, bound) = line.split_once(' ').expect("a name and a bound");
    let mut all = serde_json::to_value(limits).expect("limits are JSON");
    all[name] = Value::from(number::<u64>(bound));
    serde_json::from_value(all).expect("a limit that there is")
}

/// What a line says happens.
pub(crate) fn input(line: &str, agent: &Agent) -> Input {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "start" => Input::Start,
        "writes" => Input::Said(vec![Delta::Text(format!("```js\n{rest}\n```"))]),
        "says" => Input::Said(vec![Delta::Text(rest.to_owned())]),
        "thinks" => Input::Said(vec![Delta::Reasoning(rest.to_owned())]),
        "signs" => Input::Said(vec![Delta::Signature(rest.to_owned())]),
        "calls" => Input::Said(rest.split(" & ").map(call).collect()),
        "replies" => Input::Replied(replied(rest)),
        "fails" => Input::Failed(fault(rest)),
        "summary" if rest == "fails" => Input::Summarized(Err(fault("overloaded retry"))),
        "summary" => {
            let content = rest.to_owned();
            Input::Summarized(Ok(Summarized { content, replied: replied("90/9") }))
        }
        "code" => code(rest, agent),
        "allow" | "deny" | "answer" => Input::Answer(resolved(word, rest, agent)),
        "steer" => {
            let run = format!("s{}", rest.len()).into();
            Input::Steer { run, content: UserContent::Text(rest.to_owned()) }
        }
        "expire" => Input::Expired(relay(rest, agent)),
        "lost" => Input::Lost(id(rest)),
        "cancel" => {
            let mode = if rest == "now" { Mode::Now } else { Mode::Graceful };
            Input::Cancel { by: "somebody".to_owned(), mode }
        }
        "spent" => Input::Spent { message: "1000 of 1000 tokens are used".to_owned(), limit: None },
        "resume" => Input::Resume,
        call => outcome(call, rest),
    }
}

/// `code prints …`, `code warns …`, `code execs N …`, `code asks N …`, `code throws …`, `code ends …`, `code gives …`
fn code(line: &str, agent: &Agent) -> Input {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let code: ReplId = agent.code().map_or_else(|| "r/code".into(), |code| code.id.clone());
    let ends = |ran| Input::Evaluated(code.clone(), ran);
    let call = |kind: &str, name: &str, member: &str| {
        let (number, argument) = rest.split_once(' ').expect("a number and what is wanted");
        let call = format!("{code}:{kind}:{number}").into();
        Input::Called {
            code: code.clone(),
            call,
            name: name.to_owned(),
            input: json!({member: argument}).into(),
        }
    };
    match word {
        "prints" => Input::Printed(code, vec![(StreamName::Stdout, rest.to_owned())]),
        "warns" => Input::Printed(code, vec![(StreamName::Stderr, rest.to_owned())]),
        "execs" => call("exec", BASH, "command"),
        "asks" => call("query", QUERY, "prompt"),
        "throws" => ends(Ran { error: Some(rest.to_owned()), ..Ran::default() }),
        "ends" => ends(Ran { stdout: rest.to_owned(), ..Ran::default() }),
        "gives" => ends(Ran { answer: Some(rest.to_owned()), ..Ran::default() }),
        other => panic!("code does nothing that is called {other}"),
    }
}

pub(crate) fn id(raw: &str) -> CallId {
    format!("r/{raw}").into()
}

/// `c1 gives …`, `c1 finds …` from the web, `c1 fails …`, `c1 reports …`
fn outcome(call: &str, line: &str) -> Input {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let gives = |provenance| Ok(Returned { output: loose(rest), provenance });
    match word {
        "gives" => Input::Returned(id(call), gives(None)),
        "finds" => Input::Returned(id(call), gives(Some(Provenance::Web))),
        "fails" => {
            let failure = Failure { code: ErrorCode::Failed, message: rest.to_owned() };
            Input::Returned(id(call), Err(failure))
        }
        "reports" => Input::Progress(id(call), loose(rest)),
        other => panic!("nothing that happens is called {call} {other}"),
    }
}

fn call(line: &str) -> Delta {
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    Delta::Call { id: word(), name: word(), arguments: word() }
}

/// `10/5`, and `cut` or `filtered` after it.
pub(crate) fn replied(line: &str) -> Replied {
    let (tokens, stop) = line.split_once(' ').unwrap_or((line, ""));
    let (input, output) = tokens.split_once('/').expect("tokens read and written");
    let stop = match stop {
        "cut" => Stop::Length,
        "filtered" => Stop::Filtered,
        _ => Stop::Done,
    };
    let tokens = Tokens { input: number(input), output: number(output), ..Tokens::default() };
    Replied { tokens, cost_usd: None, model: "m".to_owned(), stop }
}

/// `rate_limited retry after 7`
pub(crate) fn fault(line: &str) -> Fault {
    let (code, rest) = line.split_once(' ').unwrap_or((line, ""));
    let code = match code {
        "rate_limited" => "rate_limited",
        "overloaded" => "overloaded",
        _ => "authentication",
    };
    let after = rest.strip_prefix("retry after ").map(|seconds| Duration::from_secs(number(seconds)));
    Fault {
        message: format!("the model said {code}"),
        code,
        retryable: rest.starts_with("retry"),
        retry_after: after,
    }
}

/// The request that is pending about a call, or `go_on` for the one about no call; a made-up one if none is.
fn relay(about: &str, agent: &Agent) -> RelayId {
    let start = if about == "go_on" { "r/continue".to_owned() } else { format!("r/{about}:") };
    let pending = agent.relays().find(|relay| relay.as_str().starts_with(&start));
    pending.cloned().unwrap_or_else(|| format!("{start}permission").into())
}

/// `allow c1 [always session] [with {…}]`, `deny c1 [because …]`, `answer c1 … [with {…}]`
fn resolved(word: &str, line: &str, agent: &Agent) -> RelayResolved {
    let (line, input) =
        line.split_once(" with ").map_or((line, None), |(line, input)| (line, Some(value(input))));
    let (line, reason) = line.split_once(" because ").map_or((line, None), |(line, why)| (line, Some(why)));
    let (about, rest) = line.split_once(' ').unwrap_or((line, ""));
    RelayResolved {
        relay_id: relay(about, agent),
        approved: match word {
            "allow" => Some(true),
            "deny" => Some(false),
            _ => None,
        },
        answer: (word == "answer" && !rest.is_empty()).then(|| loose(rest)),
        input,
        scope: rest.strip_prefix("always ").map(Scope::from),
        reason: reason.map(str::to_owned),
        by: "ann".to_owned(),
    }
}
