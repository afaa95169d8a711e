//! The file format as a table: every member there is, what it is for, and what it may be.
//!
//! The reader checks files against it, and the JSON Schema for editors is made from it, so the two cannot say
//! different things. Adding a member is a row here. Start reading at [`FLOW`].

/// What a value may be.
#[derive(Debug)]
pub(super) enum Form {
    Text,
    /// A CEL expression; scalars of any kind are read as its text.
    Expression,
    Duration,
    /// A whole number of at least so much.
    Count(u64),
    /// A number of at least 0.
    Number,
    /// A number from 0 to 1.
    Part,
    Truth,
    /// A JSON Schema.
    Schema,
    /// A regular expression.
    Pattern,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Edges without condition: `a -> b`, `a -> b -> c`.
    Arrow,
    /// Anything at all.
    Any,
    List(&'static Form),
    /// A list with something in it.
    Filled(&'static Form),
    /// Names of the user's choice.
    Dict(&'static Form),
    Object(&'static Object),
    /// The first of these that is of the same kind: scalar, list or mapping.
    Either(&'static [Form]),
}

/// A mapping with known members.
#[derive(Debug)]
pub(super) struct Object {
    /// What it is, for errors and as a name in the JSON Schema.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) members: &'static [Member],
    pub(super) required: &'static [&'static str],
    /// Of these members there must be exactly one.
    pub(super) one_of: &'static [&'static str],
}

/// A member of a mapping.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) form: Form,
}

const fn member(name: &'static str, form: Form, about: &'static str) -> Member {
    Member { name, about, form }
}

const TEXTS: Form = Form::List(&Form::Text);

/// A whole file.
pub(super) static FLOW: Object = Object {
    name: "flow",
    about: "A flow: a graph of agents, programs, people and other work.",
    members: &[
        member("antiphon", Form::Count(1), "The version of the format: 1."),
        member("name", Form::Text, "What the flow is called."),
        member("input", Form::Schema, "The JSON Schema of the task."),
        member(
            "entry",
            Form::Either(&[Form::Filled(&Form::Text), Form::Text]),
            "Where it begins; by default at the nodes without incoming edges.",
        ),
        member("output", Form::Expression, "What it gives; by default the outputs of its last nodes."),
        member("state", Form::Dict(&Form::Object(&KEY)), "What the nodes share, by key."),
        member("models", Form::Dict(&Form::Object(&MODEL)), "The models that agents use, by name."),
        member("nodes", Form::Dict(&Form::Object(&NODE)), "The nodes, by id."),
        member(
            "edges",
            Form::List(&Form::Either(&[Form::Arrow, Form::Object(&EDGE)])),
            "The ways between nodes.",
        ),
        member("limits", Form::Object(&LIMITS), "When an invocation is cut off."),
        member(
            "on_failure",
            Form::Word(&["graceful", "fail_fast"]),
            "What a failed node does to the others.",
        ),
    ],
    required: &["antiphon", "nodes"],
    one_of: &[],
};

/// A key of the state: a JSON Schema with two members more.
static KEY: Object = Object {
    name: "key",
    about: "A key of the state. Everything but `default` and `reduce` is its JSON Schema.",
    members: &[
        member("default", Form::Any, "Its value until somebody writes it."),
        member(
            "reduce",
            Form::Word(&["last", "first", "append", "sum", "max", "min", "merge"]),
            "How contributions are folded; by default the last one counts.",
        ),
    ],
    required: &[],
    one_of: &[],
};

static MODEL: Object = Object {
    name: "model",
    about: "A model and how it is reached.",
    members: &[
        member("provider", Form::Text, "Who serves it: openai, anthropic, scripted …"),
        member("model", Form::Text, "Its name there."),
        member("base_url", Form::Text, "Where the provider is, if not at its usual address."),
        member("api_key_env", Form::Text, "The environment variable that holds the key."),
        member(
            "replies",
            Form::List(&Form::Any),
            "What a scripted model says: a list of steps for each call, or `{when, steps, times}`.",
        ),
        member("api_key_file", Form::Text, "The file that holds the key."),
        member("fixtures", Form::Text, "The folder of recorded exchanges, for the provider `replay`."),
        member("temperature", Form::Number, "How freely it chooses."),
        member("max_tokens", Form::Count(1), "The longest reply, in tokens."),
        member("thinking_tokens", Form::Count(1), "How much it may think, in tokens."),
        member("context_tokens", Form::Count(1), "How many tokens fit into its context."),
        member("retries", Form::Count(0), "How often a call that failed is made again; by default twice."),
        member("connect_timeout", Form::Duration, "How long connecting may take; by default 10s."),
        member("idle_timeout", Form::Duration, "How long it may say nothing; by default 2m."),
        member("price", Form::Object(&PRICE), "What it costs, if the list price is not known or not right."),
        member("options", Form::Dict(&Form::Any), "Handed to the provider as they are."),
    ],
    required: &["provider"],
    one_of: &[],
};

static PRICE: Object = Object {
    name: "price",
    about: "US dollars for a million tokens.",
    members: &[
        member("input", Form::Number, "Of what it reads."),
        member("output", Form::Number, "Of what it writes."),
        member("cache_read", Form::Number, "Of what it reads from its cache."),
        member("cache_creation", Form::Number, "Of what it puts into its cache."),
    ],
    required: &["input", "output"],
    one_of: &[],
};

/// The kinds of work, of which a node has one.
pub(super) const KINDS: &[&str] =
    &["agent", "swarm", "function", "command", "tool", "flow", "router", "human", "guardrail", "map"];

/// A node of a flow, or of a map.
pub(super) static NODE: Object = Object {
    name: "node",
    about: "A piece of work and how it is to be done.",
    members: &[
        member("agent", Form::Object(&AGENT), "An agent works on it."),
        member("swarm", Form::Object(&SWARM), "Agents work on it that hand it to one another."),
        member(
            "function",
            Form::Either(&[Form::Object(&FUNCTION), Form::Expression]),
            "An expression gives the output.",
        ),
        member(
            "command",
            Form::Either(&[Form::Object(&COMMAND), TEXTS]),
            "A program: input on stdin, output on stdout.",
        ),
        member(
            "tool",
            Form::Either(&[Form::Object(&TOOL), Form::Text]),
            "A tool by its name; the input is its arguments.",
        ),
        member(
            "flow",
            Form::Either(&[Form::Text, Form::Object(&FLOW)]),
            "Another flow: the path of its file, from this one, or itself.",
        ),
        member(
            "router",
            Form::Either(&[Form::Object(&ROUTER), Form::Expression]),
            "Chooses among its edges.",
        ),
        member("human", Form::Either(&[Form::Object(&HUMAN), Form::Text]), "Asks a person."),
        member("guardrail", GUARDS, "Lets its input through if these find nothing."),
        member("map", Form::Object(&MAP), "Does a node for each item of a list."),
        member("input", Form::Expression, "What it gets instead of its sources' outputs."),
        member(
            "set",
            Form::Dict(&Form::Expression),
            "What it contributes to the state when it completes, by key.",
        ),
        member("output", Form::Schema, "The JSON Schema of its output."),
        member("timeout", Form::Duration, "How long one attempt may take."),
        member(
            "retry",
            Form::Either(&[Form::Object(&RETRY), Form::Count(0)]),
            "How often, and when, a failed attempt is repeated.",
        ),
        member(
            "effect",
            Form::Word(&["pure", "read", "write", "external", "human"]),
            "What it does to the world.",
        ),
        member("idempotent", Form::Truth, "Whether doing it twice is the same as doing it once."),
        member(
            "join",
            Form::Either(&[Form::Word(&["all", "any"]), Form::Count(1)]),
            "How many of its sources it waits for: all, any, or so many.",
        ),
        member("max_executions", Form::Count(1), "How many times it may run in one invocation."),
        member("guardrails", Form::Object(&GUARDRAILS), "What is checked before and after it."),
        member("fallback", Form::Text, "The node that takes over when it fails."),
        member(
            "on_error",
            Form::Word(&["fail", "isolate"]),
            "What its failure means; isolated it counts as completed with output `{error}`.",
        ),
    ],
    required: &[],
    one_of: KINDS,
};

/// What an agent has wherever it is written down.
macro_rules! agent_members {
    ($($more:expr,)*) => {
        &[
            $($more,)*
            member("name", Form::Text, "What it is called."),
            member("description", Form::Text, "What it is good for."),
            member("harness", Form::Text, "What runs it; by default `agent`."),
            member(
                "model",
                Form::Either(&[Form::Object(&MODEL), Form::Text]),
                "A model by its name under `models`, or one of its own.",
            ),
            member("system", Form::Text, "Its instructions."),
            member("tools", TEXTS, "The tools it may use, by name."),
            member("mcp", Form::Dict(&Form::Object(&SERVER)), "MCP servers whose tools it may use, by name."),
            member("skills", TEXTS, "Folders with skills."),
            member("agents", Form::Dict(&Form::Object(&SUBAGENT)), "Agents it may call, by name."),
            member("handoffs", TEXTS, "Agents it may hand its work to, by name."),
            member("permissions", Form::List(&Form::Any), "What it may do without asking: the first rule that fits."),
            member("max_iterations", Form::Count(1), "How many times it may call its model; by default 10."),
            member(
                "on_limit",
                Form::Word(&["wrap_up", "ask"]),
                "What happens then: one last call without tools, or a person is asked.",
            ),
            member("output", Form::Schema, "The JSON Schema of its answer."),
            member("context", Form::Word(&["fresh", "keep"]), "Whether it remembers its earlier executions."),
            member("compact", Form::Object(&COMPACT), "When its history is put into a summary."),
            member("limits", Form::Object(&AGENT_LIMITS), "Its bounds."),
            member("options", Form::Dict(&Form::Any), "Handed to the harness as they are."),
        ]
    };
}

static AGENT: Object = Object {
    name: "agent",
    about: "An agent.",
    members: agent_members![],
    required: &["model"],
    one_of: &[],
};

static SWARM: Object = Object {
    name: "swarm",
    about: "Agents that hand their work to one another.",
    members: &[
        member("agents", Form::Dict(&Form::Object(&AGENT)), "The agents, by name."),
        member("entry", Form::Text, "Who begins; the first one if absent."),
        member("max_handoffs", Form::Count(0), "How many times the work may change hands; by default 20."),
        member(
            "max_turns",
            Form::Count(1),
            "How many times one agent may have it before the swarm fails; by default 5.",
        ),
    ],
    required: &["agents"],
    one_of: &[],
};

/// A whole file with an agent to talk with.
pub(super) static AGENT_FILE: Object = Object {
    name: "agent_file",
    about: "An agent to talk with.",
    members: agent_members![
        member("antiphon", Form::Count(1), "The version of the format: 1."),
        member("models", Form::Dict(&Form::Object(&MODEL)), "Models, by name."),
    ],
    required: &["antiphon", "model"],
    one_of: &[],
};

static SUBAGENT: Object = Object {
    name: "subagent",
    about: "An agent that another may call. What it does not say it has from the one that calls it.",
    members: &[
        member("description", Form::Text, "What it is good for."),
        member(
            "model",
            Form::Either(&[Form::Object(&MODEL), Form::Text]),
            "A model by its name under `models`, or one of its own.",
        ),
        member("system", Form::Text, "Its instructions."),
        member("tools", TEXTS, "The tools it may use, of those its caller may use."),
        member(
            "permissions",
            Form::List(&Form::Any),
            "What it may do without asking, as far as its caller may.",
        ),
        member("max_iterations", Form::Count(1), "How many times it may call its model."),
        member("output", Form::Schema, "The JSON Schema of its answer."),
        member(
            "policy",
            Form::Word(&["same_branch", "fork", "fresh_branch", "existing_branch", "new_session"]),
            "Where it works: on its caller's branch, seeing its task only or all that its caller sees; on a fresh branch, \
             on one that goes on, or in a session of its own.",
        ),
        member(
            "branch",
            Form::Text,
            "The branch it goes on with under `existing_branch`; by default its name.",
        ),
    ],
    required: &[],
    one_of: &[],
};

static SERVER: Object = Object {
    name: "server",
    about: "An MCP server: a program, or an address.",
    members: &[
        member("command", TEXTS, "The program and its arguments."),
        member("env", Form::Dict(&Form::Text), "Added to its environment; `$NAME` is taken from ours."),
        member("dir", Form::Text, "Where it runs."),
        member("url", Form::Text, "The address."),
        member("token_env", Form::Text, "The environment variable that holds a bearer token."),
    ],
    required: &[],
    one_of: &["command", "url"],
};

static COMPACT: Object = Object {
    name: "compact",
    about: "When a history is put into a summary.",
    members: &[
        member("at_tokens", Form::Count(1), "At so many tokens."),
        member("keep_messages", Form::Count(0), "How many of the last messages stay; by default 4."),
    ],
    required: &["at_tokens"],
    one_of: &[],
};

static AGENT_LIMITS: Object = Object {
    name: "agent_limits",
    about: "The bounds of an agent.",
    members: &[
        member("max_parallel_tools", Form::Count(1), "How many tools run at once; by default 8."),
        member("max_calls", Form::Count(1), "How many calls one step may make; by default 64."),
        member("max_result_chars", Form::Count(1), "How much of a result the model sees; by default 30000."),
        member("max_depth", Form::Count(0), "How deep agents may call agents; by default 3."),
        member("max_agents", Form::Count(0), "How many agents it may call; by default 32."),
        member("max_repairs", Form::Count(0), "How often an answer that does not fit is asked for again."),
        member("tool_timeout_ms", Form::Count(1), "How long a call of a tool may take; by default 120000."),
        member(
            "relay_timeout_ms",
            Form::Count(1),
            "How long a request to a person stays open; for ever if absent.",
        ),
        member("max_tokens", Form::Count(1), "Tokens of one run, with those of the agents it calls."),
        member("max_cost_usd", Form::Number, "US dollars of one run, with those of the agents it calls."),
        member("max_steps", Form::Count(1), "Model calls of one run, with those of the agents it calls."),
    ],
    required: &[],
    one_of: &[],
};

static FUNCTION: Object = Object {
    name: "function",
    about: "An expression as work.",
    members: &[member("output", Form::Expression, "What it gives.")],
    required: &["output"],
    one_of: &[],
};

static COMMAND: Object = Object {
    name: "command",
    about: "A program to run.",
    members: &[
        member("run", TEXTS, "The program and its arguments."),
        member("dir", Form::Text, "Where it runs."),
        member("env", Form::Dict(&Form::Text), "Added to its environment; `$NAME` is taken from ours."),
    ],
    required: &["run"],
    one_of: &[],
};

static TOOL: Object = Object {
    name: "tool",
    about: "A tool to call.",
    members: &[member("name", Form::Text, "Its name.")],
    required: &["name"],
    one_of: &[],
};

static ROUTER: Object = Object {
    name: "router",
    about: "A choice among edges.",
    members: &[member("to", Form::Expression, "The id of the node to go to.")],
    required: &["to"],
    one_of: &[],
};

static HUMAN: Object = Object {
    name: "human",
    about: "A question to a person.",
    members: &[
        member("prompt", Form::Text, "What is asked."),
        member("options", Form::Filled(&Form::Text), "Answers to choose from; by default yes or no."),
        member("schema", Form::Schema, "The JSON Schema of an answer."),
        member("timeout", Form::Duration, "How long to wait; by default for ever."),
        member("on_timeout", Form::Word(&["fail", "accept", "reject"]), "What happens then."),
        member("auto", Form::Word(&["accept", "reject"]), "Decided without asking anybody."),
    ],
    required: &["prompt"],
    one_of: &[],
};

static MAP: Object = Object {
    name: "map",
    about: "A node for each item of a list.",
    members: &[
        member("over", Form::Expression, "The list."),
        member("node", Form::Object(&NODE), "What is done with each item, which is its input."),
        member("max_parallel", Form::Count(1), "How many items at once."),
    ],
    required: &["over", "node"],
    one_of: &[],
};

static RETRY: Object = Object {
    name: "retry",
    about: "How failed attempts are repeated.",
    members: &[
        member("max", Form::Count(0), "How many attempts may follow the first."),
        member("backoff", Form::Word(&["fixed", "linear", "exponential"]), "How the delays grow."),
        member("delay", Form::Duration, "The first delay."),
        member("cap", Form::Duration, "The longest delay; by default a minute."),
        member("jitter", Form::Part, "The part of a delay that is left to chance, from 0 to 1."),
        member("on", TEXTS, "The codes of failures that are tried again; by default any."),
    ],
    required: &["max"],
    one_of: &[],
};

const GUARDS: Form = Form::List(&Form::Either(&[Form::Object(&GUARD), Form::Word(&["secrets", "personal"])]));

static GUARDRAILS: Object = Object {
    name: "guardrails",
    about: "What is checked before and after a node.",
    members: &[member("input", GUARDS, "Its input."), member("output", GUARDS, "Its output.")],
    required: &[],
    one_of: &[],
};

/// The checks, of which a guardrail has one.
pub(super) const CHECKS: &[&str] =
    &["secrets", "personal", "must_match", "must_not_match", "schema", "length"];

static GUARD: Object = Object {
    name: "guard",
    about: "Something to look for, and what is done about it.",
    members: &[
        member("id", Form::Text, "Its name in events; by default what it looks for."),
        member("secrets", Form::Truth, "Keys, tokens and passwords."),
        member("personal", Form::Truth, "Mail addresses, phone numbers, accounts, cards and the like."),
        member("must_match", Form::Pattern, "A pattern that the text must match."),
        member("must_not_match", Form::Pattern, "A pattern that no text may match."),
        member("schema", Form::Schema, "A JSON Schema that the value must fit."),
        member("length", Form::Object(&LENGTH), "How long the text must be."),
        member(
            "action",
            Form::Word(&["block", "warn", "sanitize", "reroute"]),
            "What is done; by default the run waits for a person.",
        ),
        member("to", Form::Text, "Where `reroute` leads."),
    ],
    required: &[],
    one_of: CHECKS,
};

static LENGTH: Object = Object {
    name: "length",
    about: "Characters.",
    members: &[member("min", Form::Count(0), "At least."), member("max", Form::Count(0), "At most.")],
    required: &[],
    one_of: &[],
};

static EDGE: Object = Object {
    name: "edge",
    about: "A way from one node to another.",
    members: &[
        member("from", Form::Text, "The source."),
        member("to", Form::Text, "The target."),
        member("when", Form::Expression, "It is taken if this holds when the source completes."),
        member("default", Form::Truth, "It is taken if no other edge of the source was."),
    ],
    required: &["from", "to"],
    one_of: &[],
};

static LIMITS: Object = Object {
    name: "limits",
    about: "Bounds of one invocation.",
    members: &[
        member("max_node_executions", Form::Count(1), "How many times nodes may start, all together."),
        member(
            "execution_timeout",
            Form::Duration,
            "How long it may run, without the time it waits for people.",
        ),
        member("max_concurrency", Form::Count(1), "How many nodes may run at once."),
        member("max_tokens", Form::Count(1), "Tokens, with those of nested runs."),
        member("max_cost_usd", Form::Number, "US dollars, with those of nested runs."),
        member("max_steps", Form::Count(1), "Node executions and model calls, with those of nested runs."),
        member("max_agents", Form::Count(1), "Agents, with those of nested runs."),
    ],
    required: &[],
    one_of: &[],
};

impl Object {
    pub(super) fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Whether members that are not in the table are part of a JSON Schema.
    pub(super) fn is_schema(&self) -> bool {
        self.name == KEY.name
    }
}
