//! A fork after any event of a run goes on to what the run itself came to: whatever was decided there is in the events
//! before, also between two events of one append.

use antiphon::{
    Body, Definition, Engine, Event, Flow, Invocation, Json, Node, Outcome, Report, Run, Wardrobe, Workspace,
};
use antiphon_event::Mode;
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_flow::hook::{Advice, Point, Verdict};
use antiphon_flow::retry::Retry;
use antiphon_port::Branch;
use antiphon_runtime::Forking;
use serde_json::{Value, json};

/// What people do about a run that waits for them.
#[derive(Clone, Copy)]
enum People {
    /// Say yes; no where the name of what asks has a `no` in it.
    Answer,
    /// Stop it.
    Cancel(How),
}

/// How they stop it.
#[derive(Clone, Copy)]
enum How {
    Graceful,
    Now,
}

impl From<How> for Mode {
    fn from(mode: How) -> Self {
        match mode {
            How::Graceful => Self::Graceful,
            How::Now => Self::Now,
        }
    }
}

fn engine() -> Engine {
    let wardrobe = Wardrobe::new(Workspace::new(".").expect("a folder"));
    Engine::new(antiphon::open_store("memory:").expect("a store in memory")).agents(wardrobe)
}

async fn events(engine: &Engine, branch: &Branch) -> Vec<Event> {
    engine.journal().read(branch, 0, 10_000).await.expect("readable")
}

async fn asked_so_far(engine: &Engine, branch: &Branch) -> Vec<Relay> {
    let relays = events(engine, branch).await.into_iter().filter_map(|event| match event.body {
        Body::Relay(relay) => Some(*relay),
        _ => None,
    });
    relays.collect()
}

/// What a person says to a request.
fn answer(relay: &Relay) -> RelayResolved {
    let options = relay.options.as_deref().unwrap_or_default();
    let no = relay.id.as_str().contains("/no");
    let choice = ["run again", if no { "fail" } else { "override" }];
    let choice = choice.iter().find(|choice| options.iter().any(|option| option == *choice));
    let choice = choice.map(|choice| (*choice).to_owned()).or_else(|| options.first().cloned());
    RelayResolved {
        relay_id: relay.id.clone(),
        approved: choice.is_none().then_some(!no),
        answer: choice.map(|choice| Json::from(json!(choice))),
        input: None,
        scope: relay.tool_call_id.as_ref().map(|_| antiphon_event::Scope::Session),
        reason: None,
        by: "ann".to_owned(),
    }
}

/// Sees to a run until it has ended.
async fn attend(engine: &Engine, mut run: Run, people: People) -> Report {
    for _ in 0..50 {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return report;
        }
        assert!(!report.relays.is_empty(), "it waits for people and asks nothing");
        if let People::Cancel(mode) = people {
            run.cancel("ann", mode.into()).await.expect("taken");
            continue;
        }
        let asked = asked_so_far(engine, run.branch()).await;
        for id in report.relays {
            let relay = asked.iter().find(|relay| relay.id == id).expect("what is pending was asked");
            run.answer(answer(relay)).await.expect("taken");
        }
    }
    panic!("it asks again and again");
}

/// What a run comes to, what people were asked about it, and what else must be the same. In doubt they may be asked more
/// often, and what a process that is gone did may have been tried again.
async fn outcome(engine: &Engine, branch: &Branch, report: &Report) -> Value {
    let mut asked: Vec<String> = Vec::new();
    for relay in asked_so_far(engine, branch).await {
        let (_, what) = relay.id.as_str().split_once('/').expect("a request names its run");
        let parts: Vec<&str> = what.split(':').collect();
        asked.push(match parts[..] {
            [node, execution, _attempt, why] => format!("{node}:{execution}:{why}"),
            // A call of a model that was asked once more has another id.
            _ => what.replace("~2", ""),
        });
    }
    asked.retain(|what| !what.contains("doubt"));
    asked.sort();
    let told = events(engine, branch).await;
    let count = |is: fn(&Body) -> bool| told.iter().filter(|event| is(&event.body)).count();
    let statuses: Vec<String> =
        report.statuses.iter().map(|(node, status)| format!("{node} {status}")).collect();
    json!({
        "outcome": format!("{:?}", report.outcome),
        "reason": report.reason.as_ref().map(ToString::to_string),
        "output": report.output.value(),
        "state": report.state.to_object(),
        "statuses": statuses,
        "pending": report.pending.iter().map(|pending| pending.node_id.as_str()).collect::<Vec<_>>(),
        "asked": asked,
        "handed over": count(|body| matches!(body, Body::Handoff(_))),
        "granted": count(|body| matches!(body, Body::GrantAdded(_))),
        "compacted": count(|body| matches!(body, Body::HistoryCompacted(_))),
    })
}

/// Follows a run to its end, then forks it after each of its events, goes on there, and says where that came to
/// something else.
async fn differences(engine: &Engine, run: Run, flow: Option<&Flow>, people: People) -> Vec<String> {
    let main = run.branch().clone();
    let report = attend(engine, run, people).await;
    let calm = outcome(engine, &main, &report).await;
    let all = events(engine, &main).await;
    let begins = |event: &Event| matches!(event.body, Body::RunStart(_) | Body::HarnessStart(_));
    let first = all.iter().position(begins).expect("it has begun") + 1;
    let mut wrong = Vec::new();
    for at in first..all.len() {
        let into = Branch { branch: format!("at-{at}").into(), ..main.clone() };
        let forking = Forking {
            from: main.clone(),
            at: at as u64,
            into: into.clone(),
            writes: std::collections::BTreeMap::new(),
            by: "ann".to_owned(),
        };
        engine.fork(forking, flow.cloned()).await.expect("forked");
        let run = engine.resume(into.clone(), flow.cloned()).await.expect("resumed");
        let engine = engine.clone();
        let attended = tokio::spawn(async move {
            let report = attend(&engine, run, people).await;
            outcome(&engine, &into, &report).await
        });
        let rough = attended.await.unwrap_or_else(|error| json!(error.to_string()));
        if rough != calm {
            let (before, after) = (all[at - 1].body.tag(), all[at].body.tag());
            wrong.push(format!("at {at}, after `{before}` and before `{after}`: {rough}"));
        }
    }
    if !wrong.is_empty() {
        wrong.insert(0, format!("the run itself: {calm}"));
    }
    wrong
}

/// What is wrong with all that was tried.
#[derive(Default)]
struct Wrong(String);

impl Wrong {
    fn add(&mut self, name: &str, differences: &[String]) {
        if !differences.is_empty() {
            self.0.extend([name, "\n  ", &differences.join("\n  "), "\n"]);
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{}", self.0);
    }
}

async fn check_flows<'r>(rows: impl IntoIterator<Item = (&'r str, &'r str)>, people: People) {
    let mut wrong = Wrong::default();
    for (name, text) in rows {
        let none = |_: &str| Err("there is no other".to_owned());
        let flow = antiphon_flow::file::read("a.yaml", &format!("antiphon: 1\n{text}"), &none);
        let flow = flow.unwrap_or_else(|problems| panic!("{name}: {problems:?}")).flow;
        let engine = engine();
        let run = engine.start(flow, Invocation::new("T")).await.expect("accepted");
        wrong.add(name, &differences(&engine, run, None, people).await);
    }
    wrong.none();
}

/// An agent with a script.
fn scripted(more: Value, replies: Value) -> Definition {
    let mut all = json!({"model": {"provider": "scripted", "replies": replies}});
    let members = more.as_object().expect("members").clone();
    all.as_object_mut().expect("an object").extend(members);
    serde_json::from_value(all).expect("a definition")
}

/// Flows, by what is tried with them.
const FLOWS: &[(&str, &str)] = &[
    (
        "a loop with a join",
        r#"
state: {n: {type: integer, default: 0, reduce: sum}, log: {type: array, default: [], reduce: append}}
nodes:
  s: {function: "task"}
  a: {function: "'a'", set: {n: "1", log: "'a'"}}
  b: {command: [cat], set: {log: "'b'"}, effect: pure}
  j: {function: "state.n", join: all}
  e: {function: "state.log"}
edges: [s -> a, a -> b, a -> j, b -> j, {from: j, to: a, when: "state.n < 3"}, {from: j, to: e, when: "state.n >= 3"}]
limits: {max_node_executions: 50}
"#,
    ),
    (
        "two ways back to one node",
        r#"
state: {n: {type: integer, default: 0, reduce: sum}}
nodes:
  s: {function: "task"}
  a: {function: "'a'", set: {n: "1"}}
  b: {function: "'b'"}
  c: {function: "'c'"}
  e: {function: "string(state.n)"}
edges:
  - s -> a
  - a -> b
  - a -> c
  - {from: b, to: a, when: "state.n < 3"}
  - {from: c, to: a, when: "state.n < 3"}
  - {from: b, to: e, when: "state.n >= 3"}
limits: {max_node_executions: 50, max_concurrency: 1}
"#,
    ),
    (
        "a map of flows",
        r#"
state: {t: {type: integer, default: 0, reduce: sum}}
nodes:
  m:
    map: {over: "[1,2,3]", max_parallel: 2, node: {flow: {antiphon: 1, nodes: {x: {function: "task"}, y: {command: [cat], effect: read}}, edges: [x -> y]}}}
    set: {t: "size(output)"}
  z: {function: "string(state.t) + string(size(input))"}
edges: [m -> z]
"#,
    ),
    (
        "people, inside and in a map",
        r#"
nodes:
  s: {flow: {antiphon: 1, nodes: {h: {human: {prompt: q}}, y: {function: "string(input.approved)"}}, edges: [h -> y]}}
  m: {map: {over: "[1,2]", node: {human: {prompt: "i"}}}}
  z: {function: "string(input)"}
edges: [s -> z]
"#,
    ),
    (
        "a fallback",
        "nodes: {a: {command: [\"false\"], fallback: f, retry: {max: 1, delay: 1ms}}, f: {function: \"'x'\"}}",
    ),
    ("a fallback that fails", "nodes: {a: {command: [\"false\"], fallback: f}, f: {function: \"1/0\"}}"),
    (
        "a failure that is isolated",
        "nodes: {a: {command: [\"false\"], on_error: isolate}, z: {function: input}}\nedges: [a -> z]",
    ),
    ("an input that cannot be made", "nodes: {a: {command: [cat], effect: pure, input: \"1/0\"}}"),
    (
        "one with a fallback",
        "nodes: {a: {command: [cat], effect: pure, input: \"1/0\", fallback: f}, f: {function: \"'x'\"}}",
    ),
    (
        "one with a retry",
        "nodes: {a: {command: [cat], effect: pure, input: \"1/0\", retry: {max: 1, delay: 1ms}}}",
    ),
    ("a list that is none", "nodes: {a: {map: {over: task, node: {command: [cat]}}}}"),
    ("one that takes too long", "nodes: {a: {command: [sleep, \"9\"], timeout: 20ms, effect: pure}}"),
    (
        "one that takes too long and is tried again, then taken over for",
        "nodes: {a: {command: [sleep, \"9\"], timeout: 20ms, effect: pure, retry: {max: 1, delay: 1ms}, fallback: f}, f: {function: \"'x'\"}}",
    ),
    ("a write that takes too long", "nodes: {a: {command: [sleep, \"9\"], timeout: 20ms}}"),
    (
        "failing fast",
        "nodes: {a: {command: [\"false\"], effect: pure}, b: {command: [sleep, \"9\"], effect: pure}, h: {human: q}}\non_failure: fail_fast",
    ),
    (
        "a bound on executions",
        r#"
nodes: {a: {function: "1"}, b: {function: "1"}, h: {human: q}, c: {command: [sleep, "9"], effect: pure}, d: {command: [sleep, "9"], effect: pure}}
edges: [a -> b, b -> a]
entry: [a, h, c, d]
limits: {max_node_executions: 9}
"#,
    ),
    (
        "a bound on steps",
        "nodes: {a: {function: \"1\"}, c: {command: [sleep, \"9\"], effect: pure}, d: {command: [sleep, \"9\"], effect: pure}, b: {function: \"1\"}}\nedges: [a -> b]\nlimits: {max_steps: 3}",
    ),
    (
        "a flow inside that is tried again",
        "nodes: {n: {flow: {antiphon: 1, nodes: {a: {command: [sh, -c, \"test $ANTIPHON_ATTEMPT -ge 2 && echo ok\"], effect: read}}}, retry: {max: 1, delay: 1ms}}}",
    ),
    (
        "a map that is tried again",
        "nodes: {m: {map: {over: \"[1, 2]\", node: {command: [sh, -c, \"test $ANTIPHON_ATTEMPT -ge 2 && echo ok\"], effect: read}}, retry: {max: 1, delay: 1ms}}}",
    ),
    (
        "a flow inside that fails again",
        "nodes: {n: {flow: {antiphon: 1, nodes: {a: {command: [\"false\"], effect: read}}}, retry: {max: 1, delay: 1ms}}}",
    ),
    (
        "a flow inside that takes too long once",
        "nodes: {n: {flow: {antiphon: 1, nodes: {a: {command: [sh, -c, \"test $ANTIPHON_ATTEMPT -ge 2 || sleep 9\"], effect: read}}}, timeout: 300ms, retry: {max: 1, delay: 1ms, on: [timeout]}}}",
    ),
    (
        "a bound on steps around a flow",
        "nodes: {n: {flow: {antiphon: 1, nodes: {a: {function: \"1\"}, b: {function: \"2\"}}, edges: [a -> b]}}}\nlimits: {max_steps: 2}",
    ),
    (
        "a bound on time around a flow",
        "nodes: {n: {flow: {antiphon: 1, nodes: {a: {command: [sleep, \"9\"], effect: pure}}}}}\nlimits: {execution_timeout: 100ms}",
    ),
    (
        "a bound on time around a map",
        "nodes: {m: {map: {over: \"[0, 0, 9]\", node: {command: [sh, -c, \"sleep $(cat); echo done\"], effect: read}}}}\nlimits: {execution_timeout: 400ms}",
    ),
    (
        "a map in a flow that takes too long",
        "nodes: {n: {flow: {antiphon: 1, nodes: {m: {map: {over: \"[0, 9]\", node: {command: [sh, -c, \"sleep $(cat); echo done\"], effect: read}}}}}, timeout: 400ms}}",
    ),
    (
        "an item that fails",
        "nodes: {a: {function: \"1\"}, m: {map: {over: \"[1, 2, 0]\", node: {function: 6 / item}}}}\nedges: [a -> m]",
    ),
    (
        "an item that fails in a flow with a fallback that fails",
        "nodes: {n: {flow: {antiphon: 1, nodes: {m: {map: {over: \"[1, 0]\", node: {function: 6 / item}}}}}, fallback: f}, f: {function: 1 / 0}}",
    ),
    (
        "a node of a loop that is skipped at first",
        "nodes: {a: {function: executions.a}, once: {function: \"'did it'\", max_executions: 1}, j: {function: input, join: any}}\nentry: a\nedges: [{from: a, to: once, when: output == 3}, a -> j, {from: j, to: a, when: executions.a < 3}]\nlimits: {max_node_executions: 20}",
    ),
    (
        "a loop that ends where a node may run no more",
        "nodes: {a: {function: \"'a' + string(executions.a)\"}, b: {function: \"'b' + string(executions.b)\", max_executions: 2}}\nentry: a\nedges: [a -> b, b -> a]\nlimits: {max_node_executions: 20}",
    ),
    (
        "a bound on time around an agent",
        "models: {s: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: \"sleep 9\"}}}],[{text: fin}]]}}\nnodes: {a: {agent: {model: s, tools: [bash], permissions: [{tool: bash, pattern: \"sleep *\", action: allow}]}}}\nlimits: {execution_timeout: 200ms}",
    ),
    (
        "a bound on time",
        "nodes: {c: {command: [sleep, \"9\"], effect: pure}, d: {command: [sleep, \"9\"], effect: pure}}\nlimits: {execution_timeout: 100ms}",
    ),
];

#[tokio::test]
async fn flows_come_to_the_same() {
    check_flows(FLOWS.iter().copied(), People::Answer).await;
}

#[tokio::test]
async fn guardrails_say_the_same() {
    let stop = "guardrails: {input: [{must_not_match: T}], output: [{id: out, must_not_match: T}]}";
    let rows = [
        ("overridden", format!("nodes: {{a: {{command: [cat], effect: pure, {stop}}}, z: {{function: input}}}}\nedges: [a -> z]")),
        ("not let in", format!("nodes: {{no: {{command: [cat], effect: pure, {stop}}}}}")),
        ("not let in, and taken over for", format!("nodes: {{no: {{command: [cat], effect: pure, {stop}, fallback: f}}, f: {{function: \"'x'\"}}}}")),
        (
            "not let out",
            "nodes: {no: {command: [cat], effect: pure, retry: 1, guardrails: {output: [{must_not_match: T}]}}}".to_owned(),
        ),
        (
            "sent another way before",
            "nodes: {a: {command: [cat], effect: pure, guardrails: {input: [{must_not_match: T, action: reroute, to: m}]}}, m: {function: \"'m' + string(input)\"}, z: {function: \"'z'\"}}\nedges: [a -> z]".to_owned(),
        ),
        (
            "sent another way before, without what was taken out",
            "nodes: {a: {command: [cat], effect: pure, input: \"'T b@c.de'\", guardrails: {input: [{personal: true, action: sanitize}, {must_not_match: T, action: reroute, to: m}]}}, m: {function: \"'m' + string(input)\"}}".to_owned(),
        ),
        (
            "sent another way after",
            "nodes: {a: {command: [cat], effect: pure, guardrails: {output: [{must_not_match: T, action: reroute, to: m}]}}, m: {function: \"'m' + string(input)\"}}".to_owned(),
        ),
        (
            "a node that only looks",
            "nodes: {g: {guardrail: [{must_not_match: T, action: reroute, to: m}]}, m: {function: \"'m'\"}, z: {function: \"'z'\"}}\nedges: [g -> z]".to_owned(),
        ),
        (
            "a yes that no person gave",
            "nodes: {h: {human: {prompt: q, auto: accept}, guardrails: {output: [{must_not_match: auto}]}}, z: {function: \"string(input.approved)\"}}\nedges: [h -> z]".to_owned(),
        ),
    ];
    check_flows(rows.iter().map(|(name, text)| (*name, text.as_str())), People::Answer).await;
}

#[tokio::test]
async fn hooks_say_the_same() {
    let hook = |point: Point<'_>| match point {
        Point::BeforeNode { node, .. } if node.as_str() == "b" => {
            Ok(Advice { verdict: Verdict::Cancel("not b".to_owned()), ..Advice::default() })
        }
        Point::BeforeNode { node, .. } if node.as_str() == "c" => Err("nobody knows".to_owned()),
        Point::BeforeNode { node, .. } if node.as_str() == "no" => {
            Ok(Advice { verdict: Verdict::Ask("may it?".to_owned()), ..Advice::default() })
        }
        _ => Ok(Advice::default()),
    };
    let node = || Node::command(["cat"]).effect(antiphon_flow::Class::Pure);
    let mut wrong = Wrong::default();
    for name in ["b", "c", "no"] {
        let retry = Retry { delay: std::time::Duration::from_millis(1), ..Retry::new(1) };
        let flow = Flow::new("hooked").hook(hook).node(name, node().retry(retry)).build().expect("sound");
        let engine = engine();
        let run = engine.start(flow.clone(), Invocation::new("T")).await.expect("accepted");
        wrong.add(name, &differences(&engine, run, Some(&flow), People::Answer).await);
    }
    wrong.none();
}

#[tokio::test]
async fn what_is_cancelled_stays_cancelled() {
    let rows = [
        ("people", "nodes: {h: {human: q}, i: {human: q}, z: {function: input}}\nedges: [h -> z]"),
        (
            "people inside",
            "nodes: {s: {flow: {antiphon: 1, nodes: {h: {human: {prompt: q}}, i: {human: q}}}}, h: {human: q}}",
        ),
        ("people in the items of a map", "nodes: {m: {map: {over: \"[1, 2]\", node: {human: q}}}}"),
        (
            "a guard inside",
            "nodes: {s: {flow: {antiphon: 1, nodes: {a: {command: [cat], guardrails: {input: [{must_not_match: T}]}}}}}}",
        ),
        ("a person who takes over", "nodes: {a: {function: \"1/0\", fallback: h}, h: {human: q}}"),
        ("a guard", "nodes: {a: {command: [cat], guardrails: {input: [{must_not_match: T}]}}}"),
        (
            "an agent that asks",
            "models: {s: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: \"echo hi\"}}},{tool_call: {name: ask, input: {question: c}}}],[{text: fin}]]}}\nnodes: {a: {agent: {model: s, tools: [bash, ask]}}}",
        ),
        (
            "an agent at its limit",
            "models: {s: {provider: scripted, replies: [[{tool_call: {name: todo, input: {items: []}}}],[{text: fin}]]}}\nnodes: {a: {agent: {model: s, tools: [todo], max_iterations: 1, on_limit: ask}}}",
        ),
    ];
    check_flows(rows, People::Cancel(How::Graceful)).await;
    check_flows(rows, People::Cancel(How::Now)).await;
}

#[tokio::test]
async fn agents_of_flows_come_to_the_same() {
    let rows = [
        (
            "a swarm",
            r#"
models:
  d: {provider: scripted, replies: [[{tool_call: {name: handoff, input: {to: b, message: m}}}]]}
  b: {provider: scripted, replies: [[{text: "Refunded"}]]}
nodes: {s: {swarm: {agents: {a: {model: d}, b: {model: b}}}}, z: {function: "input"}}
edges: [s -> z]
"#,
        ),
        (
            "code",
            r#"
models: {s: {provider: scripted, replies: [[{text: "```js\nscope.a=1; console.log(await exec('echo hi'))\n```"}],[{text: "```js\nFINAL('a='+scope.a)\n```"}]]}}
nodes: {a: {agent: {model: s, harness: rlm, tools: [bash]}}}
"#,
        ),
        (
            "code whose answer does not fit at first",
            r#"
models: {s: {provider: scripted, replies: [[{text: "```js\nFINAL('x')\n```"}],[{text: "```js\nFINAL('{\"ok\": true}')\n```"}]]}}
nodes: {a: {agent: {model: s, harness: rlm, output: {type: object}}}}
"#,
        ),
        (
            "a model that fails",
            "models: {s: {provider: scripted, replies: [[{error: {message: \"no\"}}], [{text: fine}]]}}\nnodes: {a: {agent: {model: s}}}",
        ),
        (
            "a model that fails, and is tried again",
            "models: {s: {provider: scripted, replies: [[{error: {message: \"no\"}}], [{text: fine}]]}}\nnodes: {a: {agent: {model: s}, retry: {max: 1, delay: 1ms}}}",
        ),
        (
            "an answer that never fits",
            "models: {s: {provider: scripted, replies: [[{text: a}], [{text: b}], [{text: c}]]}}\nnodes: {a: {agent: {model: s, output: {type: object}, limits: {max_repairs: 1}}}}",
        ),
        (
            "a budget",
            "models: {s: {provider: scripted, replies: [[{tool_call: {name: todo, input: {items: []}}}, {usage: {input: 900, output: 900}}], [{text: fin}]]}}\nnodes: {a: {agent: {model: s, tools: [todo], limits: {max_tokens: 1000}}}}",
        ),
        (
            "a budget of the flow",
            "models: {s: {provider: scripted, replies: [[{tool_call: {name: todo, input: {items: []}}}, {usage: {input: 10, output: 5}}], [{text: fin}, {usage: {input: 900, output: 900}}]]}}\nnodes: {a: {agent: {model: s, tools: [todo]}}, z: {function: input}}\nedges: [a -> z]\nlimits: {max_tokens: 1000}",
        ),
        (
            "a budget in money, beside others at work",
            "models: {s: {provider: scripted, replies: [[{text: fin}, {usage: {input: 9, output: 9, cost_usd: 2.0}}]]}}\nnodes: {a: {agent: {model: s}}, b: {command: [sleep, \"9\"], effect: pure}, h: {human: q}}\nlimits: {max_cost_usd: 1.0}",
        ),
        (
            "a budget, and a node that would be tried again",
            "models: {s: {provider: scripted, replies: [[{text: fin}, {usage: {input: 900, output: 900}}]]}}\nnodes: {a: {agent: {model: s}, retry: {max: 1, delay: 1ms}}}\nlimits: {max_tokens: 1000}",
        ),
        (
            "a budget, and a node that would be taken over for",
            "models: {s: {provider: scripted, replies: [[{text: fin}, {usage: {input: 900, output: 900}}]]}}\nnodes: {a: {agent: {model: s}, fallback: f}, f: {function: \"'x'\"}}\nlimits: {max_tokens: 1000}",
        ),
        (
            "a budget around a flow",
            "models: {s: {provider: scripted, replies: [[{text: fin}, {usage: {input: 900, output: 900}}]]}}\nnodes: {n: {flow: {antiphon: 1, models: {s: {provider: scripted, replies: [[{text: fin}, {usage: {input: 900, output: 900}}]]}}, nodes: {a: {agent: {model: s}, fallback: f}, f: {function: \"'x'\"}}}}}\nlimits: {max_tokens: 1000}",
        ),
        (
            "a budget of a flow inside, which is taken over for",
            "nodes: {n: {flow: {antiphon: 1, models: {s: {provider: scripted, replies: [[{text: fin}, {usage: {input: 900, output: 900}}]]}}, nodes: {a: {agent: {model: s}}}, limits: {max_tokens: 1000}}, fallback: f}, f: {function: \"'x'\"}}\nlimits: {max_tokens: 5000}",
        ),
        (
            "a budget of the flow that an agent spends which another calls",
            "models: {s: {provider: scripted, replies: [[{tool_call: {name: agent, input: {agent: w, task: t}}}, {usage: {input: 10, output: 5}}], [{text: fin}, {usage: {input: 10, output: 5}}]]}, w: {provider: scripted, replies: [[{text: w}, {usage: {input: 900, output: 900}}]]}}\nnodes: {a: {agent: {model: s, agents: {w: {model: w}}, permissions: [{allow: agent}]}}}\nlimits: {max_tokens: 1000}",
        ),
        (
            "more than it may",
            "models: {s: {provider: scripted, replies: [[{tool_call: {name: todo, input: {items: []}}}],[{tool_call: {name: todo, input: {items: []}}}],[{text: fin}]]}}\nnodes: {a: {agent: {model: s, tools: [todo], max_iterations: 1, on_limit: ask}}}",
        ),
        (
            "more than it may, and no",
            "models: {s: {provider: scripted, replies: [[{text: half},{tool_call: {name: todo, input: {items: []}}}],[{tool_call: {name: todo, input: {items: []}}}],[{text: fin}]]}}\nnodes: {a: {agent: {model: s, tools: [todo], max_iterations: 1}}}",
        ),
    ];
    check_flows(rows, People::Answer).await;
}

#[tokio::test]
async fn agents_people_talk_with_come_to_the_same() {
    let hi = || json!({"tool_call": {"name": "bash", "input": {"command": "echo hi"}}});
    let rows = [
        ("what is granted", json!({"tools": ["bash"]}), json!([[hi()], [hi()], [{"text": "done"}]])),
        (
            "a question",
            json!({"tools": ["ask"]}),
            json!([[{"tool_call": {"name": "ask", "input": {"question": "c?", "options": ["red", "blue"]}}}], [{"text": "done"}]]),
        ),
        (
            "agents that it calls",
            json!({"agents": {"w": {"model": {"provider": "scripted", "replies": [[{"text": "worked"}]]}}}}),
            json!([
                [{"tool_call": {"name": "agent", "input": {"agent": "w", "task": "a"}}},
                 {"tool_call": {"name": "agent", "input": {"agent": "w", "task": "b"}}}],
                [{"text": "done"}],
            ]),
        ),
        (
            "an agent that it calls and that fails",
            json!({"agents": {"w": {"model": {"provider": "scripted", "replies": [[{"error": {"message": "no"}}]]}}}}),
            json!([[{"tool_call": {"name": "agent", "input": {"agent": "w", "task": "a"}}}], [{"text": "done"}]]),
        ),
        (
            "a summary",
            json!({"tools": ["todo"], "compact": {"at_tokens": 10, "keep_messages": 1}}),
            json!([
                [{"tool_call": {"name": "todo", "input": {"items": []}}}, {"usage": {"input": 5, "output": 1}}],
                [{"tool_call": {"name": "todo", "input": {"items": []}}}, {"usage": {"input": 50, "output": 1}}],
                [{"text": "a summary"}, {"usage": {"input": 5, "output": 1}}],
                [{"text": "done"}, {"usage": {"input": 5, "output": 1}}],
            ]),
        ),
        ("a model that fails", json!({}), json!([[{"error": {"message": "no"}}]])),
    ];
    let mut wrong = Wrong::default();
    for (name, more, replies) in rows {
        let engine = engine();
        let run = engine.talk(scripted(more, replies), Invocation::new("go")).await.expect("accepted");
        wrong.add(name, &differences(&engine, run, None, People::Answer).await);
    }
    wrong.none();
}
