//! The workloads `LangGraph` measures itself with, as flows: the same nodes, the same sizes, the same rules for when to
//! stop. What another engine keeps in the state is kept in the state here, too. Start reading at [`WORKLOADS`].

use antiphon_event::{Json, JsonKind};
use antiphon_flow::function::Reply;
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Builder, Edge, Expression, Flow, Formula, Limits, Node};
use antiphon_runtime::{Call, Function};
use serde_json::{Value, json};

/// A flow, its task, and how many nodes run in it.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) nodes: usize,
    /// A list in the state, and how long it is in the end.
    pub(crate) ends: (&'static str, usize),
    pub(crate) make: fn() -> Flow,
    pub(crate) task: fn() -> Value,
}

/// How often an agent calls its tool.
const CALLS: u32 = 100;

/// How many subjects there are jokes about, and how many letters each has.
const SUBJECTS: usize = 100;
const LETTERS: usize = 1_000;

/// When there are more messages than this, the wide state is wide enough; also the length of its texts.
const MESSAGES_MAX: usize = 600;

pub(crate) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "react_agent_100x",
        nodes: 201,
        ends: ("messages", 202),
        make: react,
        task: || Value::Null,
    },
    Workload {
        name: "fanout_to_subgraph_100x",
        nodes: 1_300,
        ends: ("jokes", 100),
        make: jokes,
        task: subjects,
    },
    Workload {
        name: "wide_dict_15x600",
        nodes: 42,
        ends: ("messages", 1_873),
        make: wide,
        task: || Value::Null,
    },
];

fn node(code: impl Fn(&Call) -> Reply + Send + Sync + 'static) -> Node {
    Node::function(Function::new(move |call| std::future::ready(Ok(code(&call)))))
}

fn formula(text: &str) -> Formula {
    Expression::parse(text).expect("an expression").into()
}

fn key(name: &str, kind: &str, default: Value, reduce: Reduce) -> Key {
    let schema = Schema::compile(json!({"type": [kind, "null"]})).expect("a schema");
    Key { name: name.to_owned(), schema, default: Some(default), reduce }
}

fn bounded(flow: Builder) -> Flow {
    let limits = Limits { max_node_executions: Some(100_000), ..Limits::default() };
    flow.limits(limits).build().expect("sound")
}

/// An agent whose model is a script, and the tool it calls until the script ends.
fn react() -> Flow {
    let agent = node(|call| {
        let turn = call.execution;
        let (id, query) = (format!("{turn:036}"), format!("{turn:036}").repeat(100));
        let message = match turn {
            turn if turn <= CALLS => {
                json!({"id": id, "content": "", "tool_calls": [{"id": id, "name": "lookup", "args": {"query": query}}]})
            }
            _ => json!({"id": id, "content": "answer".repeat(100), "tool_calls": []}),
        };
        Reply::new(json!(turn <= CALLS)).write("messages", message)
    });
    let tools = node(|call| {
        let said = call.state.last("messages").expect("the agent said something").value();
        let query = said["tool_calls"][0]["args"]["query"].as_str().expect("it called its tool");
        let result = format!("result for query: {query}").repeat(10);
        Reply::from(())
            .write("messages", json!({"id": call.key(), "tool_call_id": said["id"], "content": result}))
    });
    let first = json!([{"id": "0", "content": "hi?"}]);
    let flow = Flow::new("react")
        .state(key("messages", "array", first, Reduce::Append))
        .entry("agent")
        .node("agent", agent)
        .node("tools", tools)
        .edge(Edge::new("agent", "tools").when(formula("output")))
        .edge(Edge::new("tools", "agent"));
    bounded(flow)
}

fn subjects() -> Value {
    let letter = |at: usize| char::from(b'a' + (at % 26) as u8).to_string();
    let subject = |number: usize| (0..LETTERS).map(|at| letter(number * 7 + at * at)).collect::<Vec<_>>();
    json!((0..SUBJECTS).map(subject).collect::<Vec<_>>())
}

/// For each subject a flow of its own, which ends in a loop.
fn jokes() -> Flow {
    let edit = node(|call| {
        let letters = call.value();
        let letters = letters.as_array().into_iter().flatten().filter_map(Value::as_str);
        let text = letters.map(|letter| format!("'{letter}'")).collect::<Vec<_>>().join(", ");
        Reply::from(()).write("subject", format!("[{text}] - hohoho"))
    });
    let generate = node(|call| {
        let subject = call.state["subject"].as_str().unwrap_or_default();
        Reply::from(()).write("jokes", json!([format!("Joke about {subject}")]))
    });
    let bump = node(|call| {
        let joke = call.state["jokes"][0].as_str().unwrap_or_default();
        Reply::from(()).write("jokes", json!([format!("{joke} a")]))
    });
    let again = formula(&format!("!state.jokes[0].endsWith('{}')", " a".repeat(10)));
    let child = Flow::new("child")
        .state(key("subject", "string", Value::Null, Reduce::Last))
        .state(key("jokes", "array", json!([]), Reduce::Last))
        .node("edit", edit)
        .node("generate", generate)
        .node("bump", bump)
        .edge(Edge::new("edit", "generate"))
        .edge(Edge::new("generate", "bump"))
        .edge(Edge::new("bump", "bump").when(again))
        .output(formula("state.jokes"));
    let each = Node::flow(bounded(child)).set("jokes", formula("output"));
    Flow::new("jokes")
        .state(key("jokes", "array", json!([]), Reduce::Append))
        .node("child", Node::map(formula("task"), each))
        .build()
        .expect("sound")
}

/// The fields of the wide state: a list, an object or a text each, and how writes are folded.
const FIELDS: &[(&str, &str, Reduce)] = &[
    ("messages", "array", Reduce::Append),
    ("trigger_events", "array", Reduce::Append),
    ("primary_issue_medium", "string", Reduce::Last),
    ("autoresponse", "object", Reduce::Last),
    ("issue", "object", Reduce::Last),
    ("relevant_rules", "array", Reduce::Last),
    ("memory_docs", "array", Reduce::Last),
    ("categorizations", "array", Reduce::Append),
    ("responses", "array", Reduce::Append),
    ("user_info", "object", Reduce::Last),
    ("crm_info", "object", Reduce::Last),
    ("email_thread_id", "string", Reduce::Last),
    ("slack_participants", "object", Reduce::Merge),
    ("bot_id", "string", Reduce::Last),
    ("notified_assignees", "object", Reduce::Merge),
];

/// What each node reads, and what it writes.
const STAGES: &[(&str, &str, &[&str])] = &[
    ("one", "messages", &["trigger_events", "primary_issue_medium"]),
    ("two", "trigger_events", &["autoresponse", "issue"]),
    ("three", "autoresponse", &["relevant_rules"]),
    ("four", "trigger_events", &["categorizations", "responses", "memory_docs"]),
    (
        "five",
        "categorizations",
        &["user_info", "crm_info", "email_thread_id", "slack_participants", "bot_id", "notified_assignees"],
    ),
    ("six", "responses", &["messages"]),
];

const EDGES: &[(&str, &str)] = &[
    ("one", "two"),
    ("two", "three"),
    ("two", "four"),
    ("three", "five"),
    ("four", "five"),
    ("five", "six"),
];

/// Fifteen fields, six nodes, and lists that are appended to one another.
fn wide() -> Flow {
    let mut flow = Flow::new("wide").entry("one");
    for (name, kind, reduce) in FIELDS {
        let default = match (*name, *reduce) {
            ("messages", _) => json!([message()]),
            (_, Reduce::Append) => json!([]),
            (_, Reduce::Merge) => json!({}),
            _ => Value::Null,
        };
        flow = flow.state(key(name, kind, default, *reduce));
    }
    for (name, reads, writes) in STAGES {
        flow = flow.node(*name, node(move |call| stage(call, reads, writes)));
    }
    for (from, to) in EDGES {
        flow = flow.edge(Edge::new(*from, *to));
    }
    let again = formula(&format!("size(state.messages) <= {MESSAGES_MAX}"));
    bounded(flow.edge(Edge::new("six", "one").when(again)))
}

/// A list is written as it was read, an object is the last of it, a text is new.
fn stage(call: &Call, reads: &str, writes: &[&str]) -> Reply {
    let nothing = Json::from(());
    let read = call.state.json(reads).unwrap_or(&nothing);
    let mut reply = Reply::from(());
    for name in writes {
        let kind = FIELDS.iter().find(|(field, ..)| field == name).map(|(_, kind, _)| *kind);
        let written = match (kind, read.kind()) {
            (Some("array"), JsonKind::List) => read.clone(),
            (Some("array"), _) => Json::list([read.clone()]),
            (Some("string"), _) => Json::from("x".repeat(MESSAGES_MAX)),
            (_, JsonKind::List) => read.last().unwrap_or_else(|| nothing.clone()),
            _ => read.clone(),
        };
        reply = reply.write(*name, written);
    }
    reply
}

/// Three objects of five lists of twenty-five values each.
fn message() -> Value {
    let leaf: Vec<Value> = (0..5)
        .flat_map(|_| {
            [json!("hi?".repeat(10)), json!(true), json!(1), json!(6_327_816_386_138_u64), Value::Null]
        })
        .collect();
    let object = |count: usize, each: &dyn Fn() -> Value| {
        Value::Object((0..count).map(|at| (at.to_string().repeat(10), each())).collect())
    };
    object(3, &|| object(5, &|| json!(leaf)))
}
