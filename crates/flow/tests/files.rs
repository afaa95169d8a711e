//! Flow files through one door: text in, a flow or its problems out, as tables.

use std::fmt::Write;

use antiphon_flow::file::{self, Inspected, Problems, Read, Wrong};
use antiphon_flow::schema::Schema;
use antiphon_flow::{Flow, Join, OnError, OnFailure, When, Work};
use expect_test::{Expect, expect};

fn nothing(path: &str) -> Result<String, String> {
    Err(format!("no file {path} here"))
}

fn read(text: &str) -> Result<Read, Problems> {
    file::read("flow.yaml", text, &nothing)
}

/// What is said about a file.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let said = match read(text) {
        Ok(Read { warnings, .. }) if warnings.is_empty() => "fine".to_owned(),
        Ok(Read { warnings, .. }) => Problems(warnings).to_string(),
        Err(problems) => problems.to_string(),
    };
    expected.assert_eq(&said);
}

/// What is said about a file with one node, `n`, that is this.
#[track_caller]
fn check_nodes(table: Expect) {
    let mut lines = String::new();
    for line in table.data().trim_matches(['\n', ' ']).lines() {
        let node = line.split("  =>").next().unwrap_or_default().trim();
        let text = format!("antiphon: 1\nstate: {{k: {{type: integer}}}}\nnodes:\n  n: {node}\n");
        let said = match read(&text) {
            Ok(_) => "fine".to_owned(),
            Err(problems) => {
                let short = |problem: &file::Problem| {
                    problem.to_string().replace("flow.yaml:4:", "").replace("error: ", "")
                };
                problems.0.iter().map(short).collect::<Vec<_>>().join(" | ")
            }
        };
        writeln!(lines, "{node}  =>  {said}").expect("a text takes it");
    }
    table.assert_eq(&lines);
}

/// Everything the format can say.
const CATALOGUE: &str = r#"
antiphon: 1
name: catalogue
input: {type: string}
entry: [research]
output: "outputs.format"
state:
  drafts:   {type: integer, default: 0}
  approved: {type: boolean, default: false}
  notes:    {type: array, default: [], reduce: append}
models:
  writer: {provider: openai, model: gpt-4.1-mini, base_url: "http://127.0.0.1:8080/v1", api_key_env: OPENAI_API_KEY}
  script: {provider: scripted, replies: [[{text: "a draft"}, {usage: {input: 10, output: 5}}], [{text: "better"}]]}
nodes:
  research: {agent: {model: writer, system: "Gather facts.", tools: [search, read], max_iterations: 10}}
  write:    {agent: {model: script}, set: {drafts: "state.drafts + 1"}, timeout: 30s}
  review:   {agent: {model: script, output: {type: object, properties: {ok: {type: boolean}}}}, set: {approved: "output.ok"}}
  format:   {command: {run: [sh, -c, "tr a-z A-Z"]}, effect: pure, retry: {max: 3, backoff: exponential, delay: 100ms}, fallback: plain}
  plain:    {function: {output: "input"}, output: true}
  gate:     {human: {prompt: "Publish?", timeout: 5m, on_timeout: reject}}
  each:     {map: {over: "state.notes", node: {command: {run: [wc, -c]}}, max_parallel: 4}}
  calc:     {function: {output: "input + '!'"}, join: any, input: "outputs.write", max_executions: 3, idempotent: true}
  pick:     {router: {to: "state.approved ? 'format' : 'each'"}}
  search:   {tool: search, on_error: isolate, guardrails: {input: [secrets], output: [{personal: true, action: sanitize}, {id: short, length: {max: 500}, action: reroute, to: gate}]}}
  clean:    {guardrail: [{must_not_match: "(?i)damn", action: warn}, {schema: {type: string}}], output: {type: string}, join: 2}
edges:
  - research -> write -> review
  - {from: review, to: write, when: "!state.approved"}
  - {from: review, to: pick, when: "state.approved"}
  - pick -> format
  - pick -> each
  - write -> calc
  - {from: format, to: search, default: true}
  - [calc, each]
limits: {max_node_executions: 20, execution_timeout: 2m, max_concurrency: 4, max_cost_usd: 1.0, max_tokens: 1000, max_steps: 50, max_agents: 5}
on_failure: fail_fast
"#;

fn catalogue() -> String {
    CATALOGUE.replace("  - [calc, each]\n", "  - calc -> clean\n  - each -> clean\n")
}

#[test]
fn everything_the_format_can_say_is_read() {
    let Read { flow, .. } = read(&catalogue()).unwrap_or_else(|problems| panic!("{problems}"));
    let mut lines = String::new();
    for (id, node) in flow.ids().iter().zip(flow.nodes()) {
        let set: Vec<_> = node.set.iter().map(|(key, formula)| format!("{key}={formula:?}")).collect();
        writeln!(
            lines,
            "{id}: {} {:?} {:?} {:?} {set:?}",
            node.work.kind(),
            node.class(),
            node.join,
            node.timeout
        )
        .expect("a text takes it");
    }
    for edge in flow.edges() {
        writeln!(lines, "{} -> {} {:?}", edge.from, edge.to, edge.when).expect("a text takes it");
    }
    writeln!(lines, "{:?} {:?}", flow.settings().limits, flow.settings().on_failure)
        .expect("a text takes it");
    expect![[r#"
        research: agent Inside All None []
        write: agent Inside All Some(30s) ["drafts=state.drafts + 1"]
        review: agent Inside All None ["approved=output.ok"]
        format: command Pure All None []
        plain: function Pure All None []
        gate: human Human All None []
        each: map Inside All None []
        calc: function Pure Any None []
        pick: router Pure All None []
        search: tool Write All None []
        clean: guardrail Pure Count(2) None []
        research -> write Always
        write -> review Always
        review -> write If(!state.approved)
        review -> pick If(state.approved)
        pick -> format Always
        pick -> each Always
        write -> calc Always
        format -> search Default
        calc -> clean Always
        each -> clean Always
        search -> gate Reroute
        Limits { max_node_executions: Some(20), execution_timeout: Some(120s), max_concurrency: Some(4), max_tokens: Some(1000), max_cost_usd: Some(1.0), max_steps: Some(50), max_agents: Some(5) } FailFast
    "#]].assert_eq(&lines);
    let node = |id| flow.node(flow.index(id).expect("it is there"));
    assert_eq!(node("calc").join, Join::Any);
    assert!(node("calc").idempotent);
    assert_eq!(node("search").on_error, OnError::Isolate);
    assert_eq!(flow.settings().on_failure, OnFailure::FailFast);
    assert!(node("review").output.is_some(), "an agent's output schema is the node's");
    let Work::Agent(agent) = &node("research").work else { panic!("an agent") };
    expect![[r#"{"model":{"provider":"openai","model":"gpt-4.1-mini","base_url":"http://127.0.0.1:8080/v1","api_key_env":"OPENAI_API_KEY","name":"writer"},"system":"Gather facts.","tools":["search","read"],"max_iterations":10}"#]].assert_eq(agent.settings.as_str());
    assert!(flow.edges().iter().any(|edge| matches!(edge.when, When::Default)));
}

#[test]
fn a_flow_gives_a_document_that_gives_the_flow() {
    let Read { flow, .. } = read(&catalogue()).unwrap_or_else(|problems| panic!("{problems}"));
    let document = flow.document().expect("it came from a file");
    let again = Flow::from_document(document).unwrap_or_else(|problems| panic!("{problems}"));
    let nodes = |flow: &Flow| format!("{:?}", flow.nodes().collect::<Vec<_>>());
    assert_eq!(nodes(&again), nodes(&flow));
    assert_eq!(format!("{:?}", again.edges()), format!("{:?}", flow.edges()));
    assert_eq!(again.document(), Some(document));
    let json =
        file::read("flow.json", document.as_str(), &nothing).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(json.flow.document(), Some(document), "JSON is read like YAML");
    let json = r#"{"antiphon": 1, "nodes": {"n": {"human": "\ud83d\ude00?"}}}"#;
    read(json).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn a_flow_that_has_run_can_be_gone_on_with_whatever_is_found_in_it_today() {
    let text = r#"{"antiphon": 1, "name": "n", "state": {"n": {"type": "integer"}},
        "nodes": {"a": {"function": "1", "set": {"n": "'x'"}, "timeout": "0s"}}}"#;
    assert_eq!(read(text).expect_err("it cannot come to anything").0.len(), 2);
    Flow::from_document(&serde_json::from_str(text).expect("JSON"))
        .unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn all_mistakes_are_told_at_once_each_with_its_place() {
    check(
        "antiphon: 1\nname: 7\nstat: {}\nstate:\n  drafts: {type: integer, default: none, reduce: append}\n  x: {type: strng}\nnodes:\n  a: {agnt: {}}\n  b: {function: \"state.draft + 1\", timeout: 5, effect: prue}\n  c: {function: '1 +', set: {draft: 1}}\n  d: {agent: {model: gpt}, tool: x}\nedges:\n  - a -> bb\n  - {from: a, to: b, wen: x}\n  - {from: b, to: c, when: state.drafts}\n  - a b\nlimits: {max_node_executions: 0}\n",
        expect![[r#"
            flow.yaml:2:7: error: expected a text, found `7`; put it in quotes
            flow.yaml:3:1: error: the flow has no member `stat`; did you mean `state`?
            flow.yaml:5:36: error: the default of state key `drafts`: "none" is not of type "integer"; give a default that fits, or leave it out
            flow.yaml:5:50: error: state key `drafts`: `append` wants a key of type array, this is an integer; of its type there are `last`, `first`, `sum`, `max`, `min`
            flow.yaml:6:13: error: no JSON Schema: "strng" fits none of the allowed forms; write a schema, such as `{type: string}`
            flow.yaml:8:7: error: the node has no member `agnt`; did you mean `agent`?
            flow.yaml:9:18: error: the state has no key `draft`; did you mean `state.drafts`?
            flow.yaml:9:45: error: expected a duration such as `30s`, found `5`; write it as `30s`
            flow.yaml:9:56: error: expected `pure`, `read`, `write`, `external` or `human`, found `prue`; did you mean `pure`?
            flow.yaml:10:21: error: in the expression `1 +`: expected a value, found the end; write an expression, such as `state.drafts < 3` or `'dear ' + input`
            flow.yaml:10:37: error: `c` sets `draft`, which is no key of the state; did you mean `drafts`?
            flow.yaml:11:22: error: there is no model `gpt`; add it under `models`
            flow.yaml:11:34: error: the node is `agent` already, it cannot be `tool` too; take `tool` out, or `agent`
            flow.yaml:13:10: error: the edge leads to `bb`, which is no node; did you mean `b`?
            flow.yaml:14:22: error: the edge has no member `wen`; did you mean `when`?
            flow.yaml:15:28: error: a condition must be true or false, this is an integer; compare it with a number, as in `… > 0`
            flow.yaml:16:5: error: expected an edge such as `a -> b`, found `a b`; ids of nodes have no spaces; `{from, to, when}` is the long form
            flow.yaml:17:31: error: expected a whole number of at least 1, found `0`; write it as `1`"#]],
    );
}

#[test]
fn one_mistake_hides_no_other_and_each_comes_with_what_to_do() {
    let text = r#"
antiphon: 1
entry: [a]
state:
  n: {type: integer, default: none, reduce: append}
nodes:
  a: {function: "1"}
  b: {function: "2", timeout: 5x}
  b: {function: "3"}
  lost: {function: "4"}
edges:
  - a -> b
  - b -> a -> nosuch
  - {from: a, to: elsewhere, when: "state.n > 'x'"}
  - {from: here, to: b, when: state.n}
"#;
    check(
        text,
        expect![[r#"
            flow.yaml:5:31: error: the default of state key `n`: "none" is not of type "integer"; give a default that fits, or leave it out
            flow.yaml:5:45: error: state key `n`: `append` wants a key of type array, this is an integer; of its type there are `last`, `first`, `sum`, `max`, `min`
            flow.yaml:8:31: error: no duration: "5x" needs a unit after each number: `ms`, `s`, `m` or `h`; write it as `30s`
            flow.yaml:9:3: error: `b` is there twice, first in line 8; give one of them another name
            flow.yaml:10:3: error: `lost` is unreachable: no path leads to it from an entry; add an edge to `lost`, or name it under `entry`
            flow.yaml:13:5: error: the edge from `b` back to `a` makes a cycle without a bound; set `limits.max_node_executions` or `limits.execution_timeout`
            flow.yaml:13:15: error: the edge leads to `nosuch`, which is no node; there are a, b, lost
            flow.yaml:14:19: error: the edge leads to `elsewhere`, which is no node; there are a, b, lost
            flow.yaml:14:45: error: `>` cannot compare an integer with a text; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
            flow.yaml:15:12: error: the edge leads from `here`, which is no node; there are a, b, lost
            flow.yaml:15:31: error: a condition must be true or false, this is an integer; compare it with a number, as in `… > 0`"#]],
    );
    for problem in read(text).expect_err("it is full of mistakes").0 {
        assert!(problem.help.is_some(), "{problem}");
    }
    // Nor does an unknown name hide others in the same expression.
    check(
        "antiphon: 1\nstate: {n: {type: integer}}\nnodes:\n  a: {function: \"outputs.zz == 1 || sttate.n == 2 || foo(state.m, bar) > 1 || 'x' + 1 == ''\"}\n",
        expect![[r#"
            flow.yaml:4:18: error: there is no node `zz`; there are a
            flow.yaml:4:37: error: in the expression `outputs.zz == 1 || sttate.n == 2 || foo(state.m, bar) > 1 ||…`: unknown name `sttate`; did you mean `state`? (known are task, input, state, output, outputs, status, executions, item, memory)
            flow.yaml:4:54: error: in the expression `outputs.zz == 1 || sttate.n == 2 || foo(state.m, bar) > 1 ||…`: unknown function `foo`; did you mean `floor`?
            flow.yaml:4:58: error: the state has no key `m`; there are n
            flow.yaml:4:67: error: in the expression `outputs.zz == 1 || sttate.n == 2 || foo(state.m, bar) > 1 ||…`: unknown name `bar` (known are task, input, state, output, outputs, status, executions, item, memory); write an expression, such as `state.drafts < 3` or `'dear ' + input`
            flow.yaml:4:83: error: `+` cannot take a text and an integer; did you mean `string(…)`?"#]],
    );
    // Nor does one that leaves the flow without a beginning.
    check(
        "antiphon: 1\nnodes: {a: {function: '1', timeout: soon}, b: {function: '2'}}\nedges: [a -> b, b -> a]\n",
        expect![[r#"
            flow.yaml:1:1: error: the flow has no entry: every node has an incoming edge; name the first node under `entry`
            flow.yaml:2:37: error: no duration: "soon" must be whole numbers with units, as in `250ms`, `5s`, `2m` or `1m30s`; write it as `30s`
            flow.yaml:3:17: error: the edge from `b` back to `a` makes a cycle without a bound; set `limits.max_node_executions` or `limits.execution_timeout`"#]],
    );
}

#[test]
fn what_makes_no_sense_is_told() {
    check(
        r#"
antiphon: 1
entry: []
state: {n: {type: integer, default: 0, reduce: smu}}
nodes:
  a: {command: [ls], retry: {max: 1, on: [tiemout, failed, mine]}}
  b: {tool: search, retry: {max: 1, on: [mine, tiemout]}}
  c: {human: {prompt: "?", timeout: 0s, options: []}}
  d: {human: {prompt: "?", options: [red, red, ""], on_timeout: accept}}
  e: {human: {prompt: "?", options: [red], schema: {type: string}}, guardrails: {output: [{length: {min: 5, max: 1}}]}}
  f: {guardrail: [{length: {min: 2, max: 1}}]}
  g: {map: {over: "[1]", node: {human: {prompt: "?", on_timeout: reject}}}}
  h: {function: "1", output: true}
  i: {human: {prompt: "?", timeout: 1m}, retry: {max: 2, on: [schema, timeout]}}
  j: {map: {over: "[1]", node: {human: {prompt: "?", timeout: 1m}, retry: 2}}}
  k: {human: "?", retry: {max: 2, on: [timeout]}}
  l: {human: {prompt: "?", timeout: 1m}, retry: {max: 2, on: [schema, expression]}}
  m: {human: {prompt: "?", timeout: 1m, on_timeout: reject}, retry: 2}
  n: {human: {prompt: "?", timeout: 1m}, retry: 0}
  o: {human: "?", retry: 2}
"#,
        expect![[r#"
            flow.yaml:3:8: error: expected at least one, found an empty list; name at least one, or leave it out
            flow.yaml:4:48: error: expected `last`, `first`, `append`, `sum`, `max`, `min` or `merge`, found `smu`; did you mean `sum`?
            flow.yaml:6:42: warning: `a` is tried again after `tiemout`, which is no known code of a failure; did you mean `timeout`?
            flow.yaml:6:42: warning: `a` is tried again after `mine`, which is no known code of a failure; there are failed, timeout, schema, expression, guardrail, in_doubt, hook, too_large, budget_exhausted, cancelled
            flow.yaml:7:41: warning: `b` is tried again after `tiemout`, which is no known code of a failure; did you mean `timeout`?
            flow.yaml:8:37: error: the question of `c` expires after 0, before anybody can answer; leave it out to wait for ever
            flow.yaml:8:50: error: expected at least one, found an empty list; name at least one, or leave it out
            flow.yaml:9:37: error: `d` has the option `red` twice; take one of them out
            flow.yaml:9:37: error: an option of `d` is empty; write what can be chosen, or take it out
            flow.yaml:9:65: warning: `d` says what happens when nobody answers in time, and has no `timeout`; add `timeout: …`, or take it out
            flow.yaml:10:52: warning: an answer to `e` has to be one of its `options` and to fit its `schema`; take one of the two out
            flow.yaml:10:81: error: `e` wants texts of at least 5 and at most 1 characters; let `min` be the smaller one
            flow.yaml:11:18: error: `f` wants texts of at least 2 and at most 1 characters; let `min` be the smaller one
            flow.yaml:12:66: warning: `g` says what happens when nobody answers in time, and has no `timeout`; add `timeout: …`, or take it out
            flow.yaml:14:62: warning: `i` has a `retry`, and a question that nobody answers in time is not asked again; say what holds then with `on_timeout: accept` or `reject`, or let a `fallback` take over
            flow.yaml:15:75: warning: `j` has a `retry`, and a question that nobody answers in time is not asked again; say what holds then with `on_timeout: accept` or `reject`, or let a `fallback` take over
            flow.yaml:16:39: warning: `k` has a `retry`, and a question that nobody answers in time is not asked again; say what holds then with `on_timeout: accept` or `reject`, or let a `fallback` take over"#]],
    );
}

#[test]
fn what_only_seems_missing_is_not_told() {
    // Its fallback, its edge, its bounds, all its edges could not be read.
    check(
        "antiphon: 1\nentry: a\nnodes: {a: {function: '1', fallbak: b}, b: {function: '2'}}\n",
        expect!["flow.yaml:3:28: error: the node has no member `fallbak`; did you mean `fallback`?"],
    );
    check(
        "antiphon: 1\nentry: a\nnodes: {a: {function: '1'}, b: {function: '2'}}\nedges: [a => b]\n",
        expect![
            "flow.yaml:4:9: error: expected an edge such as `a -> b`, found `a => b`; ids of nodes have no spaces; `{from, to, when}` is the long form"
        ],
    );
    check(
        "antiphon: 1\nentry: a\nnodes: {a: {function: '1'}}\nedges: [a -> a]\nlimits: {execution_timeout: 5, max_node_executions: 0}\n",
        expect![[r#"
            flow.yaml:5:29: error: expected a duration such as `30s`, found `5`; write it as `30s`
            flow.yaml:5:53: error: expected a whole number of at least 1, found `0`; write it as `1`"#]],
    );
    check(
        "antiphon: 1\nentry: a\nnodes: {a: {function: '1'}, b: {function: '2'}}\nedgs: [a -> b]\n",
        expect!["flow.yaml:4:1: error: the flow has no member `edgs`; did you mean `edges`?"],
    );
}

/// The places of what is wrong with each file, with what stands there.
#[track_caller]
fn check_places(texts: &[&str], expected: Expect) {
    let mut said = String::new();
    for text in texts {
        let problems = read(text).expect_err("each has a mistake").0;
        let places = problems.iter().map(|problem| {
            let place = problem.place;
            let line = text.lines().nth(place.line as usize - 1).unwrap_or_default();
            let there: String = line.chars().skip(place.column as usize - 1).take(10).collect();
            format!("{}:{} {}", place.line, place.column, there.trim_end())
        });
        writeln!(said, "{text:?}: {}", places.collect::<Vec<_>>().join(" | ")).expect("a text takes it");
    }
    expected.assert_eq(&said);
}

#[test]
fn a_mistake_in_an_expression_of_several_lines_is_told_where_it_stands() {
    // Blocks that keep their lines.
    check_places(
        &[
            "nodes:\n  a:\n    function: |\n      {\n        'one': 1,\n        'three': state.nope\n      }\nantiphon: 1\n",
            "antiphon: 1\nnodes: \n  a:\n    function: |-\n\n\n      1 +\n\n        state.nope + bar",
            "antiphon: 1\nnodes:\n  a:\n    function: |+\n      state.nope +\n      // é\n      'é' + foo(1)\n\n\n  b: {function: nope}\n",
            "antiphon: 1\nnodes:\n  a:\n    function: |2 # as written\n         \n        1 +\n      state.nope\n",
            "antiphon: 1\nnodes:\n  a:\n    function: |-1\n       state.nope\n     + nope\n",
            "antiphon: 1\r\nnodes:\r\n  a:\r\n    function: |\r\n\r\n      1 +\r\n\r\n        state.nope\r\n",
            "antiphon: 1\nnodes:\n  a:\n    function: |\n      1 +\n\n  b: {function: nope}\n",
            "antiphon: 1\nstate: {k: {type: integer}}\nnodes:\n  a:\n    function: '1'\n    set:\n      k: |\n        1 +\n          state.nope\n",
            "antiphon: 1\nentry: a\nnodes: {a: {function: '1'}, b: {function: '2'}}\nedges:\n  - from: a\n    to: b\n    when: |\n      output == 1\n        && state.nope\n",
        ],
        expect![[r#"
            "nodes:\n  a:\n    function: |\n      {\n        'one': 1,\n        'three': state.nope\n      }\nantiphon: 1\n": 6:18 state.nope
            "antiphon: 1\nnodes: \n  a:\n    function: |-\n\n\n      1 +\n\n        state.nope + bar": 9:9 state.nope | 9:22 bar
            "antiphon: 1\nnodes:\n  a:\n    function: |+\n      state.nope +\n      // é\n      'é' + foo(1)\n\n\n  b: {function: nope}\n": 5:7 state.nope | 7:13 foo(1) | 10:17 nope}
            "antiphon: 1\nnodes:\n  a:\n    function: |2 # as written\n         \n        1 +\n      state.nope\n": 7:7 state.nope
            "antiphon: 1\nnodes:\n  a:\n    function: |-1\n       state.nope\n     + nope\n": 5:8 state.nope | 6:8 nope
            "antiphon: 1\r\nnodes:\r\n  a:\r\n    function: |\r\n\r\n      1 +\r\n\r\n        state.nope\r\n": 8:9 state.nope
            "antiphon: 1\nnodes:\n  a:\n    function: |\n      1 +\n\n  b: {function: nope}\n": 5:10  | 7:17 nope}
            "antiphon: 1\nstate: {k: {type: integer}}\nnodes:\n  a:\n    function: '1'\n    set:\n      k: |\n        1 +\n          state.nope\n": 9:11 state.nope
            "antiphon: 1\nentry: a\nnodes: {a: {function: '1'}, b: {function: '2'}}\nedges:\n  - from: a\n    to: b\n    when: |\n      output == 1\n        && state.nope\n": 9:12 state.nope
        "#]],
    );
    // Blocks that fold them, and texts over several lines or with escapes, with and without quotes.
    check_places(
        &[
            "antiphon: 1\nnodes:\n  a:\n    function: >\n      1 +\n      2 +\n\n        3 +\n      state.nope\n",
            "antiphon: 1\nnodes:\n  a:\n    function: >-\n\n      1 +\n      state.nope",
            "antiphon: 1\nnodes:\n  a:\n    function: 'size(''é'') +\n\n      state.nope'\n",
            "antiphon: 1\nnodes:\n  a:\n    function: \"size(\\\"é\\\") + \\\n      1 + \n  \n      state.nope +\\n nope\"\n",
            "antiphon: 1\r\nnodes:\r\n  a:\r\n    function: \"1 +\r\n      state.nope\"\r\n",
            "antiphon: 1\nnodes:\n  a:\n    function: 1 +\n      state.nope\n      + nope # that is no name\n",
            "antiphon: 1\nnodes: {a: {function: 1 +\nstate.nope\n}}\n",
            "nodes: {a: {function: '1'}}\nantiphon: 1\noutput: \"[1,\n state.nope, nope]\"\n",
            "antiphon: 1\nnodes: {a: {function: '1'}, b: {function: '2'}}\nedges:\n  - a ->\n    b ->\n      c\n",
            r#"{"antiphon": 1, "nodes": {"a": {"function": "size(\"x\") +\n\t'\\\\' + nope"}}}"#,
        ],
        expect![[r#"
            "antiphon: 1\nnodes:\n  a:\n    function: >\n      1 +\n      2 +\n\n        3 +\n      state.nope\n": 9:7 state.nope
            "antiphon: 1\nnodes:\n  a:\n    function: >-\n\n      1 +\n      state.nope": 7:7 state.nope
            "antiphon: 1\nnodes:\n  a:\n    function: 'size(''é'') +\n\n      state.nope'\n": 6:7 state.nope
            "antiphon: 1\nnodes:\n  a:\n    function: \"size(\\\"é\\\") + \\\n      1 + \n  \n      state.nope +\\n nope\"\n": 7:7 state.nope | 7:22 nope"
            "antiphon: 1\r\nnodes:\r\n  a:\r\n    function: \"1 +\r\n      state.nope\"\r\n": 5:7 state.nope
            "antiphon: 1\nnodes:\n  a:\n    function: 1 +\n      state.nope\n      + nope # that is no name\n": 5:7 state.nope | 6:9 nope # tha
            "antiphon: 1\nnodes: {a: {function: 1 +\nstate.nope\n}}\n": 3:1 state.nope
            "nodes: {a: {function: '1'}}\nantiphon: 1\noutput: \"[1,\n state.nope, nope]\"\n": 4:2 state.nope | 4:14 nope]"
            "antiphon: 1\nnodes: {a: {function: '1'}, b: {function: '2'}}\nedges:\n  - a ->\n    b ->\n      c\n": 6:7 c
            "{\"antiphon\": 1, \"nodes\": {\"a\": {\"function\": \"size(\\\"x\\\") +\\n\\t'\\\\\\\\' + nope\"}}}": 1:58 +\n\t'\\\\ | 1:72 nope"}}}
        "#]],
    );
    // What is written in other words, or stands elsewhere, is told where it begins.
    check_places(
        &[
            "antiphon: 1\nnodes:\n  a: {function: \"\\x31 + state.nope\"}\n",
            "antiphon: 1\nname: &e 1 + state.nope\nnodes:\n  a: {function: *e}\n",
            "antiphon: 1\nnodes:\n  a:\n    function: |\n\n  b: {function: '1'}\n",
            "antiphon: 1\nnodes:\n  a:\n    function: |+\n\n\n  b: {function: '1'}\n",
            "antiphon: 1\nnodes:\n  a:\n    function: >\n",
            "antiphon: 1\nnodes:\n  a:\n    function: >2\n         \n\n  b: {function: '1'}\n",
            "antiphon: 1\nnodes:\n  a:\n    function:\n  b: {function: '1'}\n",
        ],
        expect![[r#"
            "antiphon: 1\nnodes:\n  a: {function: \"\\x31 + state.nope\"}\n": 3:17 "\x31 + st
            "antiphon: 1\nname: &e 1 + state.nope\nnodes:\n  a: {function: *e}\n": 4:17 *e}
            "antiphon: 1\nnodes:\n  a:\n    function: |\n\n  b: {function: '1'}\n": 4:5 function:
            "antiphon: 1\nnodes:\n  a:\n    function: |+\n\n\n  b: {function: '1'}\n": 4:5 function:
            "antiphon: 1\nnodes:\n  a:\n    function: >\n": 4:5 function:
            "antiphon: 1\nnodes:\n  a:\n    function: >2\n         \n\n  b: {function: '1'}\n": 4:5 function:
            "antiphon: 1\nnodes:\n  a:\n    function:\n  b: {function: '1'}\n": 4:13 :
        "#]],
    );
}

#[test]
fn mistakes_in_a_node_are_told() {
    check_nodes(expect![[r#"
        {function: 1 + 1}  =>  fine
        {function: {output: "task"}, set: {k: 1}}  =>  fine
        {}  =>  6: the node needs one of `agent`, `swarm`, `function`, `command`, `tool`, `flow`, `router`, `human`, `guardrail` or `map`; add `agent: …`
        {swarm: {}}  =>  14: the swarm has no `agents`; add `agents: …` | 14: a swarm has at least one agent; add one under `agents`
        {tool: x, function: "1"}  =>  13: the node is `function` already, it cannot be `tool` too; take `tool` out, or `function`
        {tool: 5}  =>  13: expected a mapping, or a text, found `5`; put it in quotes
        {command: ls}  =>  16: expected a mapping, or a list, found a text; write `[…]`
        {command: []}  =>  16: the command of `n` names no program; write it as `[program, argument, …]`
        {command: {run: [ls], env: {A: 1}}}  =>  37: expected a text, found `1`; put it in quotes
        {command: {run: [ls], cwd: x}}  =>  28: the command has no member `cwd`; known are `run`, `dir`, `env`
        {human: {}}  =>  14: the human has no `prompt`; add `prompt: …`
        {human: "Go?", timeout: 5m}  =>  fine
        {human: {prompt: "Go?", on_timeout: maybe}}  =>  42: expected `fail`, `accept` or `reject`, found `maybe`; write `fail`, or leave it out
        {tool: x, retry: 3}  =>  fine
        {tool: x, retry: {backoff: expo}}  =>  23: the retry has no `max`; add `max: …` | 33: expected `fixed`, `linear` or `exponential`, found `expo`; did you mean `exponential`?
        {tool: x, timeout: 5 minutes}  =>  25: no duration: "5 minutes" needs a unit after each number: `ms`, `s`, `m` or `h`; write it as `30s`
        {tool: x, join: none}  =>  22: expected `all` or `any`, found `none`; write `all`, or leave it out
        {tool: x, join: 0}  =>  22: expected a whole number of at least 1, found `0`; write it as `1`
        {tool: x, idempotent: maybe}  =>  28: expected true or false, found a text; write `true`, or leave it out
        {tool: x, output: {type: strng}}  =>  31: no JSON Schema: "strng" fits none of the allowed forms; write a schema, such as `{type: string}`
        {tool: x, output: string}  =>  24: no JSON Schema: "string" is not of types "boolean", "object"; write a schema, such as `{type: string}`
        {tool: x, guardrails: {input: [secret]}}  =>  37: expected `secrets` or `personal`, found `secret`; did you mean `secrets`?
        {tool: x, guardrails: {input: [{must_match: "("}]}}  =>  50: no pattern: unclosed group; put a backslash before a mark that stands for itself
        {tool: x, guardrails: {input: [{action: warn}]}}  =>  37: the guard needs one of `secrets`, `personal`, `must_match`, `must_not_match`, `schema` or `length`; add `secrets: …`
        {tool: x, guardrails: [secrets]}  =>  28: expected a mapping for the guardrails, found a list; write `{…: …}`
        {tool: x, guardrails: {input: [{secrets: true, action: reroute}]}}  =>  61: `reroute` needs the node to go to, as `to`; add `to: <node>`
        {tool: x, guardrails: {input: [{secrets: true, to: y}]}}  =>  57: `to` is for `action: reroute`; take it out
        {tool: x, guardrails: {output: [{must_mtch: a}, secrets, {schema: {type: string, maxLength: 2}, action: sanitize}]}}  =>  39: the guard has no member `must_mtch`; did you mean `must_match`? | 110: what the guardrail `schema` of `n` finds cannot be taken out; let it `block` or `warn`; `sanitize` is for `secrets`, `personal`, `must_not_match` and a `length` with `max`
        {tool: x, guardrails: {input: [{must_match: a, action: sanitize}], output: [{length: {min: 1}, action: sanitize}]}}  =>  61: what the guardrail `must_match` of `n` finds cannot be taken out; let it `block` or `warn`; `sanitize` is for `secrets`, `personal`, `must_not_match` and a `length` with `max` | 109: what the guardrail `length` of `n` finds cannot be taken out; let it `block` or `warn`; `sanitize` is for `secrets`, `personal`, `must_not_match` and a `length` with `max`
        {guardrail: [{must_match: a, action: sanitize}]}  =>  43: what the guardrail `must_match` of `n` finds cannot be taken out; let it `block` or `warn`; `sanitize` is for `secrets`, `personal`, `must_not_match` and a `length` with `max`
        {map: {over: "[1]", node: {tool: x, guardrails: {input: [{must_match: a, action: sanitize}]}}}}  =>  87: what the guardrail `must_match` of `n` finds cannot be taken out; let it `block` or `warn`; `sanitize` is for `secrets`, `personal`, `must_not_match` and a `length` with `max`
        {tool: x, guardrails: {input: [{secrets: true, action: sanitize}, {personal: true, action: sanitize}, {must_not_match: a, action: sanitize}, {length: {min: 1, max: 2}, action: sanitize}]}}  =>  fine
        {map: {over: "[1]", node: {tool: x, guardrails: {output: [{secrets: true, action: reroute, to: n}]}}}}  =>  12: a guardrail of the node inside `n` cannot reroute: items have no edges; let it `block` or `sanitize`, or put it on the map itself
        {tool: x, retry: {max: 1, jitter: 2}}  =>  40: expected a number from 0 to 1, found `2`; write it as `0.5`
        {tool: x, max_executions: 99999999999}  =>  fine
        {map: {over: "task"}}  =>  12: the map has no `node`; add `node: …`
        {map: {over: "task", node: {tool: x, set: {j: 1}}}}  =>  52: `n` sets `j`, which is no key of the state; there are k
        {map: {over: "task", node: {function: "outputs.m + state.k"}}}  =>  45: there is no node `m`; there are n
        {map: {over: "5", node: {tool: x}}}  =>  19: `over` must give a list, this is an integer; for a single value put it in brackets
        {map: {over: "state.k", node: {tool: x}}}  =>  19: `over` must give a list, this is an integer; for a single value put it in brackets
        {map: {over: "task", node: {}}}  =>  33: the node needs one of `agent`, `swarm`, `function`, `command`, `tool`, `flow`, `router`, `human`, `guardrail` or `map`; add `agent: …`
        {flow: ./other.yaml}  =>  13: cannot read `other.yaml`: no file other.yaml here; paths begin at the folder of the file they are in
        {flow: {antiphon: 1, nodes: {m: {functon: "1"}}}}  =>  39: the node has no member `functon`; did you mean `function`?
        {flow: {antiphon: 2, nodes: {m: {function: "1"}}}}  =>  24: this version reads format 1 only; write `antiphon: 1`
        {agent: {model: gpt}}  =>  22: there is no model `gpt`; add it under `models`
        {agent: {model: {provider: openai}, tools: search}}  =>  49: expected a list, found a text; write `[…]`
        {function: "stat.k"}  =>  18: in the expression `stat.k`: unknown name `stat`; did you mean `state`? (known are task, input, state, output, outputs, status, executions, item, memory)
        {function: "'a' + state.k"}  =>  22: `+` cannot take a text and an integer; did you mean `string(…)`?
        {function: ["1"]}  =>  17: expected a mapping, or an expression in quotes, found a list; write an expression, such as `state.drafts < 3`
        []  =>  6: expected a mapping for the node, found a list; write `{…: …}`
        x  =>  6: expected a mapping for the node, found a text; write `{…: …}`
    "#]]);
}

#[test]
fn what_can_never_be_written_given_or_gone_to_is_told() {
    let state = "
  n: {type: integer, default: 0}
  once: {type: string, reduce: first}
  mode: {enum: [fast, slow]}
  names: {type: array, items: {type: string}, default: [], reduce: append}
  lists: {type: array, items: {type: array}, default: [], reduce: append}
  total: {type: integer, default: 0, reduce: sum}
  best: {type: integer, reduce: max}
  facts: {type: object, properties: {size: {type: integer}}, reduce: merge}
  maybe: {type: [integer, 'null'], reduce: sum}
  any: {}";
    let table = expect![[r#"
        {function: "1", set: {n: "2", once: "'a'", mode: "'fast'", names: "'a'", lists: "[[1]]", total: "2.0", best: "1.5", facts: "{'size': 1}", maybe: "1", any: "[]"}}  =>  fine
        {function: "1", set: {n: input, once: task, mode: state.mode, names: input, lists: state.names, total: outputs.last, best: dyn('x'), facts: input}}  =>  fine
        {function: "1", set: {n: "'x'"}}  =>  32: expected an integer for `n`, found the text "x"; give it an integer
        {function: "1", set: {n: "true"}}  =>  32: expected an integer for `n`, found the boolean true; give it an integer
        {function: "1", set: {n: "[1]"}}  =>  32: expected an integer for `n`, found a list; give it an integer
        {function: "1", set: {n: "1.5"}}  =>  32: the value for `n` does not fit: 1.5 is not of type "integer"; write a value that fits its schema
        {function: "1", set: {n: "-1.5"}}  =>  32: the value for `n` does not fit: -1.5 is not of type "integer"; write a value that fits its schema
        {function: "1", set: {n: "null"}}  =>  32: expected an integer for `n`, found null; give it an integer
        {function: "1", set: {n: "input == 1 ? 1 : state.once"}}  =>  49: expected an integer for `n`, found a text; turn the text into a number with `int(…)`
        {function: "1", set: {n: "1 + 'a'"}}  =>  34: `+` cannot take an integer and a text; did you mean `string(…)`?
        {function: "1", set: {once: "1"}}  =>  35: expected a text for `once`, found the number 1; put it in quotes of its own: `'…'`
        {function: "1", set: {mode: "'medium'"}}  =>  35: the value for `mode` does not fit: "medium" is not one of "fast" or "slow"; write a value that fits its schema
        {function: "1", set: {mode: "input ? 'fast' : 'slw'"}}  =>  52: the value for `mode` does not fit: "slw" is not one of "fast" or "slow"; write a value that fits its schema
        {function: "1", set: {names: "1"}}  =>  36: expected a text for an item of `names`, found the number 1; put it in quotes of its own: `'…'`
        {function: "1", set: {names: "['a', 1]"}}  =>  42: expected a text for an item of `names`, found the number 1; put it in quotes of its own: `'…'`
        {function: "1", set: {names: "['a', state.n]"}}  =>  42: expected a text for an item of `names`, found an integer; turn it into a text with `string(…)`
        {function: "1", set: {names: "state.n"}}  =>  36: expected a text for an item of `names`, found an integer; turn it into a text with `string(…)`
        {function: "1", set: {lists: "[1]"}}  =>  37: expected a list for an item of `lists`, found the number 1; put it in brackets to make a list of it
        {function: "1", set: {total: "'1'"}}  =>  36: expected an integer for `total`, found the text "1"; give it an integer
        {function: "1", set: {total: "0.5"}}  =>  36: with 0.5 the sum of `total` is no integer; add an integer, or let its type be `number`
        {function: "1", set: {best: "'x'"}}  =>  35: expected a number for `best`, found the text "x"; give it a number
        {function: "1", set: {facts: "[1]"}}  =>  36: expected an object for `facts`, found a list; give it an object
        {function: "1", set: {facts: "{'size': 'big', 'more': 1}"}}  =>  45: expected an integer for `size` of `facts`, found the text "big"; give it an integer
        {function: "1", set: {maybe: "'x'"}}  =>  36: expected a number for `maybe`, found the text "x"; give it a number
        {map: {over: "[1]", node: {function: "1", set: {n: "'x'"}}}}  =>  58: expected an integer for `n`, found the text "x"; give it an integer
        {function: "'x'", output: {type: integer}}  =>  18: expected an integer for the output of `n`, found the text "x"; give it an integer
        {function: {output: "{'a': [state.n]}"}, output: {type: object, properties: {a: {type: array, items: {type: string}}}}}  =>  34: expected a text for an item of `a` of the output of `n`, found an integer; turn it into a text with `string(…)`
        {function: "'long'", output: {type: string, maxLength: 2}}  =>  18: the value for the output of `n` does not fit: "long" is longer than 2 characters; write a value that fits its schema
        {function: "input", output: {type: integer}}  =>  fine
        {router: "1"}  =>  16: expected a text for the node to go to, found the number 1; put it in quotes of its own: `'…'`
        {router: "'nope'"}  =>  16: `n` has no edge to `nope`; add an edge to it, or choose `last` or `other`
        {router: "'las'"}  =>  16: `n` has no edge to `las`; did you mean `last`?
        {router: "state.n > 1 ? 'last' : 'nope'"}  =>  39: `n` has no edge to `nope`; add an edge to it, or choose `last` or `other`
        {router: "state.n"}  =>  16: expected a text for the node to go to, found an integer; turn it into a text with `string(…)`
        {router: "[]"}  =>  16: expected a text for the node to go to, found a list; give it a text
        {router: "input"}  =>  fine
        {flow: {antiphon: 1, name: in, input: {type: string}, nodes: {x: {function: task}}}, input: state.n}  =>  98: expected a text for the task of `in`, found an integer; turn it into a text with `string(…)`
    "#]];
    let mut lines = String::new();
    for line in table.data().trim_matches(['\n', ' ']).lines() {
        let node = line.split("  =>").next().unwrap_or_default().trim();
        let edges = "[n -> last, n -> other]";
        let text = format!(
            "antiphon: 1\nstate:{state}\nnodes:\n  n: {node}\n  last: {{function: '1'}}\n  other: {{function: '1'}}\nedges: {edges}\n"
        );
        let said = match read(&text) {
            Ok(_) => "fine".to_owned(),
            Err(problems) => problems.to_string().replace("flow.yaml:14:", "").replace("error: ", ""),
        };
        writeln!(lines, "{node}  =>  {said}").expect("a text takes it");
    }
    table.assert_eq(&lines);
    // A node may be called as a number is written.
    check(
        "antiphon: 1\nnodes: {n: {router: '1'}, '1': {function: task}}\nedges: [n -> 1]\n",
        expect!["fine"],
    );
}

#[test]
fn one_mistake_is_told_once_and_at_the_value() {
    check(
        "\
antiphon: 1
limits: {max_concurrency: 0, execution_timeout: 0s, max_node_executions: 0}
models: {m: {provider: scripted, max_tokens: 0, replies: []}}
nodes:
  a: {function: '1', join: 0, max_executions: 0, timeout: 0s}
  b: {map: {over: '[1]', max_parallel: 0, node: {function: '1', max_executions: 0, timeout: 0s}}}
  c: {agent: {model: m, max_iterations: 0}}
  d: {swarm: {agents: {x: {model: m}}, max_turns: 0}}
  e: {function: '1', join: 2}
edges: [a -> e]
",
        expect![[r#"
            flow.yaml:2:27: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:2:49: error: the `execution_timeout` is 0, which nothing can keep; leave it out for no timeout
            flow.yaml:2:74: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:3:46: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:5:28: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:5:47: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:5:59: error: the timeout of `a` is 0, which nothing can keep; leave it out for no timeout
            flow.yaml:6:40: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:6:81: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:6:93: error: the timeout of `b` is 0, which nothing can keep; leave it out for no timeout
            flow.yaml:7:41: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:8:51: error: expected a whole number of at least 1, found `0`; write it as `1`
            flow.yaml:9:28: error: `e` waits for 2 of its sources, and it has 1; write `1`, or leave it out"#]],
    );
}

#[test]
fn what_is_no_yaml_is_told_with_its_place_and_what_to_do() {
    let mut said = String::new();
    for text in [
        "",
        "# nothing but this\n",
        "nodes:\n\ta: {function: task}\n",
        "nodes:\n  a: {function: task\n",
        "nodes:\n  a: {function: task\n  b: {function: task}\n",
        "nodes: {\n  a: {function: task}\n  b: {function: task}\n}\n",
        "nodes:\n  a: {function: [1, 2}\n",
        "nodes: {a: {function: task}}}\n",
        "nodes:\n  a: {function: \"1}\n",
        "nodes:\n  a: {function: \"\\q\"}\n",
        "nodes:\n  a: function: 1\n",
        "nodes\n  a: {function: 1}\n",
        "nodes:\n  a: {function: task}\n b: {function: task}\n",
        "nodes:\n  a: {function: @x}\n",
        "a: [1",
        "a: 1\na: 2",
        "a: 1\n---\nb: 2",
        "a: *x",
        "a: &x [*x]",
        "a: !!str 1",
        "{[1]: 2}",
        "[]",
        "\0",
        &"[".repeat(100),
        &" ".repeat(file::SIZE_MAX + 1),
    ] {
        let problems = read(text).expect_err(text).0;
        assert!(problems.iter().all(|problem| problem.help.is_some() && problem.place.line > 0), "{text}");
        let shown: String = text.chars().take(60).collect();
        let told = problems.last().expect("never empty").to_string().replace("flow.yaml:", "");
        writeln!(said, "{shown:?}: {told}").expect("a text takes it");
    }
    expect![[r##"
        "": 1:1: error: the file is empty; begin it with `antiphon: 1`
        "# nothing but this\n": 1:1: error: the file is empty; begin it with `antiphon: 1`
        "nodes:\n\ta: {function: task}\n": 2:1: error: no YAML: tabs disallowed within this context (block indentation); indent with spaces
        "nodes:\n  a: {function: task\n": 2:6: error: no YAML: this `{` is not closed; add a `}`
        "nodes:\n  a: {function: task\n  b: {function: task}\n": 3:4: error: no YAML: while parsing a flow mapping, did not find expected ',' or '}'; put a comma before it, or close the `{` of line 2 with `}`
        "nodes: {\n  a: {function: task}\n  b: {function: task}\n}\n": 3:3: error: no YAML: while parsing a flow mapping, did not find expected ',' or '}'; put a comma before it, or close the `{` of line 1 with `}`
        "nodes:\n  a: {function: [1, 2}\n": 2:22: error: no YAML: while parsing a flow sequence, expected ',' or ']'; put a comma before it, or close the `[` of line 2 with `]`
        "nodes: {a: {function: task}}}\n": 1:29: error: no YAML: misplaced bracket; take the bracket out; a text with brackets stands in quotes
        "nodes:\n  a: {function: \"1}\n": 2:17: error: no YAML: while scanning a quoted scalar, found unexpected end of stream; close the quote that begins here
        "nodes:\n  a: {function: \"\\q\"}\n": 2:17: error: no YAML: while parsing a quoted scalar, found unknown escape character; for a backslash write `\\`, or put the text in single quotes
        "nodes:\n  a: function: 1\n": 2:14: error: no YAML: mapping values are not allowed in this context; put what is within on lines of its own, after a name and its colon; a text with a colon stands in quotes
        "nodes\n  a: {function: 1}\n": 2:4: error: no YAML: mapping values are not allowed in this context; put what is within on lines of its own, after a name and its colon; a text with a colon stands in quotes
        "nodes:\n  a: {function: task}\n b: {function: task}\n": 3:2: error: no YAML: while parsing a block mapping, did not find expected key; let what belongs together begin in the same column
        "nodes:\n  a: {function: @x}\n": 2:17: error: no YAML: unexpected character: `@'; a text that begins with this character stands in quotes
        "a: [1": 1:4: error: no YAML: this `[` is not closed; add a `]`
        "a: 1\na: 2": 2:1: error: `a` is there twice, first in line 1; give one of them another name
        "a: 1\n---\nb: 2": 2:1: error: a second document begins here, and a file holds one; take out the `---` and what follows it
        "a: *x": 1:4: error: no YAML: while parsing node, found unknown anchor; mark what is meant with `&` and this name before it; a text that begins with `*` stands in quotes
        "a: &x [*x]": 1:8: error: the alias stands for something that contains it; write out what is meant
        "a: !!str 1": 1:4: error: tags are not supported; write the value as it is, without `!`
        "{[1]: 2}": 1:2: error: the name of a member must be a text; write a name, or put the text in quotes
        "[]": 1:1: error: expected a mapping for the flow, found a list; write `{…: …}`
        "\0": 1:1: error: no YAML: found unprintable character; take it out: a flow is written as text
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[": 1:66: error: nested too deep, at most 64 levels are allowed; put parts of it into flows of their own
        "                                                            ": 1:1: error: the file is 1048577 bytes long, at most 1048576 are allowed; put parts of it into flows of their own
    "##]].assert_eq(&said);
}

#[test]
fn a_file_that_is_named_json_is_json() {
    let mut said = String::new();
    for text in [
        r#"{"antiphon": 1, "nodes": {"a": {"function": "task"}}}"#,
        "{\n\t\"antiphon\": 1,\n\t\"nodes\": {\n\t\t\"a\": {\"functio\": \"task\"}}}",
        r#"{"antiphon": 1, "nodes": {"a": {"function": "task"},}}"#,
        r#"{"antiphon": 1, "antiphon": 1, "nodes": {"a": {"function": "task"}}}"#,
        r#"{"antiphon": 1, "nodes": {"ä": {"function": "task"}}} # so"#,
        r#"{"antiphon": 1, "nodes": {"ä": {"function": 'task'}}}"#,
        r#"{"antiphon": 1, nodes: {"a": {"function": "task"}}}"#,
        r#"{"antiphon": 1, "nodes": {"a": {"function" "task"}}}"#,
        r#"{"antiphon": 1 "nodes": {}}"#,
        "{\"antiphon\": 1,\n \"nodes\": {\"a\":\n",
        "antiphon: 1\n",
        "{\"name\": \"a\tb\"}",
        r#"{"name": "\q"}"#,
        "",
    ] {
        let told = match file::read("flow.json", text, &nothing) {
            Ok(_) => "fine".to_owned(),
            Err(problems) => problems.to_string().replace("flow.json:", ""),
        };
        writeln!(said, "{text:?}: {told}").expect("a text takes it");
    }
    expect![[r#"
        "{\"antiphon\": 1, \"nodes\": {\"a\": {\"function\": \"task\"}}}": fine
        "{\n\t\"antiphon\": 1,\n\t\"nodes\": {\n\t\t\"a\": {\"functio\": \"task\"}}}": 4:9: error: the node has no member `functio`; did you mean `function`?
        "{\"antiphon\": 1, \"nodes\": {\"a\": {\"function\": \"task\"},}}": 1:53: error: no JSON: trailing comma; take the comma out
        "{\"antiphon\": 1, \"antiphon\": 1, \"nodes\": {\"a\": {\"function\": \"task\"}}}": 1:17: error: `antiphon` is there twice, first in line 1; give one of them another name
        "{\"antiphon\": 1, \"nodes\": {\"ä\": {\"function\": \"task\"}}} # so": 1:55: error: no JSON: trailing characters; take out what follows the value
        "{\"antiphon\": 1, \"nodes\": {\"ä\": {\"function\": 'task'}}}": 1:45: error: no JSON: expected value; texts stand in double quotes, and there are no comments; a file that ends in `.yaml` may say more
        "{\"antiphon\": 1, nodes: {\"a\": {\"function\": \"task\"}}}": 1:17: error: no JSON: key must be a string; put the name in double quotes
        "{\"antiphon\": 1, \"nodes\": {\"a\": {\"function\" \"task\"}}}": 1:44: error: no JSON: expected `:`; put a colon after the name
        "{\"antiphon\": 1 \"nodes\": {}}": 1:16: error: no JSON: expected `,` or `}`; put a comma in between, or close what is open
        "{\"antiphon\": 1,\n \"nodes\": {\"a\":\n": 2:15: error: no JSON: EOF while parsing a value; close what is open
        "antiphon: 1\n": 1:1: error: no JSON: expected value; texts stand in double quotes, and there are no comments; a file that ends in `.yaml` may say more
        "{\"name\": \"a\tb\"}": 1:12: error: no JSON: control character (\u0000-\u001F) found while parsing a string; write it as an escape, such as `\n` or `\t`
        "{\"name\": \"\\q\"}": 1:12: error: no JSON: invalid escape; for a backslash write `\\`
        "": 1:1: error: the file is empty; begin it with `antiphon: 1`
    "#]].assert_eq(&said);
}

#[test]
fn a_name_that_comes_twice_hides_no_other_mistake() {
    let flow = "antiphon: 1\nnodes:\n  a: {function: task}\n  a: {functoin: task}\n  b: {functoin: task}\n";
    let problems = read(flow).expect_err("two mistakes").to_string();
    assert!(problems.contains("flow.yaml:4:3: error: `a` is there twice, first in line 3"), "{problems}");
    assert!(problems.contains("flow.yaml:5:7"), "{problems}");
}

#[test]
fn aliases_are_read_and_bounded() {
    let flow = "antiphon: 1\nnodes:\n  a: &n {function: task}\n  b: *n\n";
    assert_eq!(read(flow).expect("two nodes").flow.nodes().len(), 2);
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let last = level - 1;
        writeln!(bomb, "a{level}: &a{level} [{}]", vec![format!("*a{last}"); 10].join(", "))
            .expect("a text takes it");
    }
    let problems = read(&bomb).expect_err("too many").to_string();
    assert!(problems.contains("more than 200000 values"), "{problems}");
}

#[test]
fn files_that_name_files_are_read_into_one_document() {
    let files = |path: &str| match path {
        "flows/inner/b.yaml" => {
            Ok("antiphon: 1\nnodes: {x: {map: {over: task, node: {flow: ../c.yaml}}}}".to_owned())
        }
        "flows/c.yaml" => Ok("antiphon: 1\nname: see\nnodes: {y: {function: task}}".to_owned()),
        "flows/bad.yaml" => Ok("antiphon: 1\nnodes:\n  x: {functoin: task}".to_owned()),
        "flows/round.yaml" => Ok("antiphon: 1\nnodes: {x: {flow: ./again.yaml}}".to_owned()),
        "flows/again.yaml" => Ok("antiphon: 1\nnodes: {x: {flow: round.yaml}}".to_owned()),
        other => Err(format!("{other} is not there")),
    };
    let read = |path| {
        let text = format!("antiphon: 1\nnodes:\n  n: {{flow: {path}}}\n");
        file::read("flows/a.yaml", &text, &files)
    };
    let flow = read("inner/b.yaml").unwrap_or_else(|problems| panic!("{problems}")).flow;
    expect![[r#"{"antiphon":1,"nodes":{"n":{"flow":{"antiphon":1,"nodes":{"x":{"map":{"over":"task","node":{"flow":{"antiphon":1,"name":"see","nodes":{"y":{"function":"task"}}}}}}},"name":"b"}}},"name":"a"}"#]].assert_eq(flow.document().expect("from a file").as_str());
    Flow::from_document(flow.document().expect("from a file"))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let mut lines = String::new();
    for path in ["nowhere.yaml", "bad.yaml", "round.yaml", "./a.yaml"] {
        writeln!(lines, "{}", read(path).expect_err("something is wrong")).expect("a text takes it");
    }
    expect![[r#"
        flows/a.yaml:3:13: error: cannot read `flows/nowhere.yaml`: flows/nowhere.yaml is not there; paths begin at the folder of the file they are in
        flows/bad.yaml:3:7: error: the node has no member `functoin`; did you mean `function`?
        flows/again.yaml:2:19: error: files lead in a circle: flows/a.yaml -> flows/round.yaml -> flows/again.yaml -> flows/round.yaml; to go round, use an edge back within one flow
        flows/a.yaml:3:13: error: files lead in a circle: flows/a.yaml -> flows/a.yaml; to go round, use an edge back within one flow
    "#]].assert_eq(&lines);
}

#[test]
fn every_example_is_read_and_fits_the_schema_for_editors() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flows");
    let schema = Schema::compile(file::schema()).expect("the schema is one");
    let mut count = 0;
    for entry in std::fs::read_dir(root).expect("there are examples") {
        let path = entry.expect("a file").path();
        // In folders are the parts of others, which are read with them.
        if path.is_dir() {
            continue;
        }
        let path = path.to_string_lossy().into_owned();
        let load = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let text = load(&path).expect("readable");
        let Read { flow, warnings } =
            file::read(&path, &text, &load).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(warnings.is_empty(), "{}", Problems(warnings));
        let document = flow.document().expect("from a file").value();
        schema.validate(&document).unwrap_or_else(|violation| panic!("{path}: {violation}"));
        count += 1;
    }
    assert!(count >= 3, "{count} examples");
    let document = read(&catalogue()).expect("a flow").flow.document().expect("from a file").value();
    schema.validate(&document).unwrap_or_else(|violation| panic!("{violation}"));
    let mut wrong = document;
    wrong["nodes"]["plain"]["tiemout"] = "5s".into();
    schema.validate(&wrong).expect_err("an unknown member");
}

#[test]
fn what_others_know_is_wrong_has_the_place_where_it_stands() {
    let inspect = |inspected: Inspected<'_>| {
        let wrong = |pointer: &str, message: &str| Wrong {
            pointer: pointer.to_owned(),
            message: message.to_owned(),
            help: None,
        };
        match inspected {
            Inspected::Agent(_) => vec![wrong("/tools/1", "a tool"), wrong("/model/provider", "told twice")],
            Inspected::Model(_) => vec![wrong("/replies/0/1/txt", "a model")],
            Inspected::Tool("cat") => vec![wrong("", "a node")],
            Inspected::Tool(_) => Vec::new(),
        }
    };
    let text = "\
antiphon: 1
models:
  spare: {provider: scripted, replies: [[{text: a}, {txt: b}]]}
nodes:
  n: {agent: {model: spare, tools: [read, raed]}}
  look: {tool: cat}
  find: {tool: {name: search}}
  in: {map: {over: task, node: {tool: {name: cat}}}}
";
    let told = file::read_inspected("flow.yaml", text, &nothing, &inspect).expect_err("it is wrong");
    expect![[r#"
        flow.yaml:3:59: error: a model
        flow.yaml:5:43: error: a tool
        flow.yaml:6:16: error: a node
        flow.yaml:8:46: error: a node"#]]
    .assert_eq(&told.to_string());
}

#[test]
fn a_name_that_stands_for_nothing_is_told_where_it_is_used() {
    check(
        "\
antiphon: 1
state: {count: {type: integer, default: 0}}
entry: [a, bb]
output: input
nodes:
  a: {function: item}
  b: {function: output + 1, input: 'has(output) ? 1 : 2', set: {count: output, conut: 1}}
  c: {router: output}
  each: {map: {over: item, node: {function: '[item, output]', set: {conut: item}}}}
  twice: {map: {over: '[[1]]', node: {map: {over: item, node: {function: item + output}}}}}
edges:
  - {from: a, to: b, when: output == item}
  - c -> each
  - a -> c
  - a -> twice
",
        expect![[r#"
            flow.yaml:3:12: error: the entry `bb` is no node; did you mean `b`?
            flow.yaml:4:9: error: `input` stands for nothing here; there are `task`, `state` and `outputs.NODE`
            flow.yaml:6:17: error: `item` stands for nothing here; there is an item in the node of a `map`; what a node gets is `input`
            flow.yaml:7:17: error: `output` stands for nothing here; an output is seen by `set` and by the conditions of edges; that of another node is `outputs.NODE`
            flow.yaml:7:87: error: `b` sets `conut`, which is no key of the state; did you mean `count`?
            flow.yaml:8:15: error: `output` stands for nothing here; an output is seen by `set` and by the conditions of edges; that of another node is `outputs.NODE`
            flow.yaml:9:22: error: `item` stands for nothing here; there is an item in the node of a `map`; what a node gets is `input`
            flow.yaml:9:53: error: `output` stands for nothing here; an output is seen by `set` and by the conditions of edges; that of another node is `outputs.NODE`
            flow.yaml:9:76: error: `each` sets `conut`, which is no key of the state; did you mean `count`?
            flow.yaml:10:81: error: `output` stands for nothing here; an output is seen by `set` and by the conditions of edges; that of another node is `outputs.NODE`
            flow.yaml:12:38: error: `item` stands for nothing here; there is an item in the node of a `map`; what a node gets is `input`"#]],
    );
}
