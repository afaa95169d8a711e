//! `run`, `check` and `draw`: what a flow does, what is wrong with one, what one looks like.

use expect_test::{Expect, expect};

use crate::door;
use crate::place::Place;

const GREET: &str = "\
antiphon: 1
input: {type: string}
nodes:
  hello: {function: \"'hello ' + task\"}
  shout: {function: \"input + '!'\"}
edges: [hello -> shout]
";

const SUM: &str = "\
antiphon: 1
input: {type: array}
state: {seen: {type: integer, default: 0, reduce: sum}}
nodes:
  count: {function: size(task), set: {seen: output}}
  tell: {function: \"{'n': input, 'seen': state.seen}\"}
edges: [count -> tell]
";

const FAILS: &str = "\
antiphon: 1
nodes:
  fine: {function: \"'so far'\"}
  bad: {command: [sh, -c, 'echo no such thing >&2; exit 7']}
  after: {function: input}
edges: [fine -> bad -> after]
";

fn check(files: &[(&str, &str)], script: &str, expected: Expect) {
    expected.assert_eq(&Place::new(files).tell(script));
}

#[test]
fn a_run_whose_output_cannot_be_worked_out_says_why_and_gives_what_there_is() {
    let flow = "antiphon: 1\noutput: 1 / int(outputs.a)\nnodes: {a: {function: \"'0'\"}}\n";
    let place = Place::new(&[("flow.yaml", flow)]);
    let told = place.tell("run flow.yaml");
    expect![[r#"
        $ run flow.yaml
        exit 1
        0
        session <id>
        flow flow started
        a  started
        a  completed
        flow failed
        failed: expression: the flow's output: division by zero at column 3 in `1 / int(outputs.a)`
    "#]]
    .assert_eq(&told);
}

#[test]
fn whatever_ends_a_run_it_gives_what_it_came_to_last() {
    let chain = "antiphon: 1\nnodes:\n  a: {function: \"'first'\"}\n  b: {function: 1 / size(task)}\nedges: [a -> b]\n";
    let cycle = |most: u32| {
        format!(
            "antiphon: 1\nentry: a\nlimits: {{max_node_executions: {most}}}\nnodes:\n  a: {{function: \"1\"}}\n  \
             b: {{function: \"'draft ' + string(executions.b)\"}}\nedges: [a -> b, b -> a]\n"
        )
    };
    let spent = cycle(9).replace("\"1\"}", "\"1\", max_executions: 3}");
    let rows = [
        (chain, 1, "first\n"),
        (&cycle(4), 1, "draft 2\n"),
        (&cycle(5), 1, "draft 2\n"),
        (&spent, 0, "draft 3\n"),
    ];
    for (flow, code, output) in rows {
        let ran = Place::new(&[("flow.yaml", flow)]).run(&["run", "flow.yaml"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), output), "{flow}");
    }
}

#[test]
fn progress_goes_to_standard_error_and_the_result_to_standard_output() {
    check(
        &[("greet.yaml", GREET), ("task.txt", "file\n")],
        "run greet.yaml --input world
         run greet.yaml --input @task.txt
         run greet.yaml --input -",
        expect![[r#"
            $ run greet.yaml --input world
            exit 0
            hello world!
            session <id>
            flow greet started
            hello  started
            hello  completed
            shout  started
            shout  completed
            flow completed
            $ run greet.yaml --input @task.txt
            exit 0
            hello file!
            session <id>
            flow greet started
            hello  started
            hello  completed
            shout  started
            shout  completed
            flow completed
            $ run greet.yaml --input -
            exit 0
            hello !
            session <id>
            flow greet started
            hello  started
            hello  completed
            shout  started
            shout  completed
            flow completed
        "#]],
    );
}

#[test]
fn input_and_state_are_json_where_the_flow_wants_that() {
    check(
        &[("sum.yaml", SUM)],
        "run sum.yaml --input '[1, 2, 3]' --state '{\"seen\": 10}' --store memory:
         run sum.yaml --input many
         run sum.yaml --input '[]' --state '{\"seen\": \"x\"}'
         run sum.yaml --input '[]' --state '[]'
         run sum.yaml --input @missing
         sessions ls",
        expect![[r#"
            $ run sum.yaml --input '[1, 2, 3]' --state '{"seen": 10}' --store memory:
            exit 0
            {"n":3,"seen":13}
            session <id>
            flow sum started
            count  started
            count  completed
            tell  started
            tell  completed
            flow completed
            $ run sum.yaml --input many
            exit 2
            error: the input does not fit the flow: "many" is not of type "array"
            $ run sum.yaml --input '[]' --state '{"seen": "x"}'
            exit 2
            error: the state does not fit the flow: state key `seen`: "x" is not of type "integer"
            $ run sum.yaml --input '[]' --state '[]'
            exit 2
            error: --state is no JSON object
            $ run sum.yaml --input @missing
            exit 2
            error: missing cannot be opened: No such file or directory (os error 2)
            $ sessions ls
            exit 0
            (no sessions)
        "#]],
    );
}

#[test]
fn a_failure_is_told_with_its_reason_and_what_was_not_done() {
    check(
        &[("fails.yaml", FAILS)],
        "run fails.yaml",
        expect![[r#"
            $ run fails.yaml
            exit 1
            so far
            session <id>
            flow fails started
            fine  started
            fine  completed
            bad  started
            bad  failed: `sh` ended with code 7: no such thing
            flow failed
            failed: node failed
              not done: after, it waits for `bad`, which failed
        "#]],
    );
}

#[test]
fn json_gives_the_events_and_nothing_else() {
    let place = Place::new(&[("greet.yaml", GREET)]);
    let ran = place.run(&["run", "greet.yaml", "--input", "x", "--json"]);
    let types: Vec<String> = ran
        .out
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            event["type"].as_str().expect("a type").to_owned()
        })
        .collect();
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        (types.first().map(String::as_str), types.last().map(String::as_str)),
        (Some("session_created"), Some("run_end"))
    );
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert_eq!(ran.out, place.run(&["sessions", "events", "last"]).out);
}

#[test]
fn a_flow_with_mistakes_is_refused_with_every_place() {
    let wrong = GREET.replace("hello -> shout", "hello -> shuot").replace("input + '!'", "inptu + '!'");
    check(
        &[("wrong.yaml", &wrong), ("greet.yaml", GREET)],
        "run wrong.yaml
         check greet.yaml wrong.yaml missing.yaml
         check wrong.yaml --json
         check greet.yaml",
        expect![[r#"
            $ run wrong.yaml
            exit 2
            wrong.yaml:5:22: error: in the expression `inptu + '!'`: unknown name `inptu`
             5 |   shout: {function: "inptu + '!'"}
               |                      ^
              help: did you mean `input`? (known are task, input, state, output, outputs, status, executions, item, memory)
            wrong.yaml:6:18: error: the edge leads to `shuot`, which is no node
             6 | edges: [hello -> shuot]
               |                  ^
              help: did you mean `shout`?
            $ check greet.yaml wrong.yaml missing.yaml
            exit 2
            greet.yaml: ok, 2 nodes, 1 edges
            wrong.yaml:5:22: error: in the expression `inptu + '!'`: unknown name `inptu`
             5 |   shout: {function: "inptu + '!'"}
               |                      ^
              help: did you mean `input`? (known are task, input, state, output, outputs, status, executions, item, memory)
            wrong.yaml:6:18: error: the edge leads to `shuot`, which is no node
             6 | edges: [hello -> shuot]
               |                  ^
              help: did you mean `shout`?
            missing.yaml: error: there is no such file
              help: paths begin at the folder you are in
            $ check wrong.yaml --json
            exit 2
            {"file":"wrong.yaml","line":5,"column":22,"level":"error","message":"in the expression `inptu + '!'`: unknown name `inptu`","help":"did you mean `input`? (known are task, input, state, output, outputs, status, executions, item, memory)"}
            {"file":"wrong.yaml","line":6,"column":18,"level":"error","message":"the edge leads to `shuot`, which is no node","help":"did you mean `shout`?"}
            $ check greet.yaml
            exit 0
            greet.yaml: ok, 2 nodes, 1 edges
        "#]],
    );
}

#[test]
fn a_mistake_in_a_block_is_shown_with_its_line() {
    let flow = "\
antiphon: 1
nodes:
  a:
    function: |
      {
        'one': 1,
        'two': 2,
        'three': state.nope
      }
  b:
    function: >
      1 +
      state.nope
";
    let crlf = flow.replace('\n', "\r\n");
    check(
        &[("block.yaml", flow), ("crlf.yaml", &crlf)],
        "check block.yaml crlf.yaml",
        expect![[r#"
        $ check block.yaml crlf.yaml
        exit 2
        block.yaml:8:18: error: the state has no key `nope`
         8 |         'three': state.nope
           |                  ^
          help: there is none at all
        block.yaml:13:7: error: the state has no key `nope`
         13 |       state.nope
            |       ^
          help: there is none at all
        crlf.yaml:8:18: error: the state has no key `nope`
         8 |         'three': state.nope
           |                  ^
          help: there is none at all
        crlf.yaml:13:7: error: the state has no key `nope`
         13 |       state.nope
            |       ^
          help: there is none at all
    "#]],
    );
}

#[test]
fn pictures_show_kinds_conditions_and_ways_back() {
    let flow = "\
antiphon: 1
entry: write
nodes:
  write: {function: \"'draft'\", fallback: spare}
  ask: {human: {prompt: \"Good?\"}}
  spare: {function: \"'spare'\"}
edges:
  - write -> ask
  - {from: ask, to: write, when: \"!output.approved && executions.ask < 3\"}
limits: {max_node_executions: 9}
";
    let place = Place::new(&[("loop.yaml", flow)]);
    let told = place.tell("draw loop.yaml\ndraw loop.yaml --format mermaid\ndraw loop.yaml --format dot");
    expect![[r#"
        $ draw loop.yaml
        exit 0
        loop
          1  write  function
               ─▶ ask
               ╌▷ spare  if it fails
          2  ask  human
               ╌▷ write  !output.approved && executions.ask < 3
          3  spare  function
        $ draw loop.yaml --format mermaid
        exit 0
        flowchart TD
          n0["write<br/>function"]
          n1[/"ask<br/>human"/]
          n2["spare<br/>function"]
          n0 --> n1
          n1 -.->|"!output.approved #38;#38; executions.ask #60; 3"| n0
          n0 -.->|"if it fails"| n2
        $ draw loop.yaml --format dot
        exit 0
        digraph "loop" {
          node [fontname="sans-serif", style=rounded];
          n0 [label="write\nfunction", shape=box];
          n1 [label="ask\nhuman", shape=parallelogram];
          n2 [label="spare\nfunction", shape=box];
          n0 -> n1 [label=""];
          n1 -> n0 [style=dashed, constraint=false, label="!output.approved &amp;&amp; executions.ask < 3"];
          n0 -> n2 [style=dashed, label="if it fails"];
        }
    "#]]
    .assert_eq(&told);
    let svg = place.run(&["draw", "loop.yaml", "--format", "svg"]).out;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!((svg.matches("class=\"node\"").count(), svg.matches("edge back").count()), (3, 2));
    assert!(svg.contains("!output.approved &amp;&amp; executions.ask &lt; 3"));
}

#[test]
fn the_store_is_that_of_the_flag_the_environment_the_settings_or_the_user() {
    let place = Place::new(&[("greet.yaml", GREET), ("antiphon.toml", "store = \"sqlite:set/it.db\"\n")]);
    let run = |prepare: &dyn Fn(&mut std::process::Command), args: &[&str]| {
        let mut command = place.command(&[&["run", "greet.yaml"], args].concat());
        prepare(&mut command);
        let ran = door::feed(command, b"");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    let kept = |file: &str| place.path().join(file).exists();
    run(&|_| {}, &["--store", "sqlite:flag/it.db"]);
    assert!(kept("flag/it.db") && !kept("kept/store.db"));
    run(&|_| {}, &[]);
    assert!(kept("kept/store.db") && !kept("set/it.db"));
    std::fs::create_dir(place.path().join("below")).expect("a folder");
    std::fs::copy(place.path().join("greet.yaml"), place.path().join("below/greet.yaml")).expect("a copy");
    run(
        &|command| {
            command.env_remove("ANTIPHON_STORE").current_dir(place.path().join("below"));
        },
        &[],
    );
    assert!(kept("set/it.db"));
    place.write("antiphon.toml", "");
    run(
        &|command| {
            command.env_remove("ANTIPHON_STORE").env("XDG_DATA_HOME", place.path());
        },
        &[],
    );
    assert!(kept("antiphon/antiphon.db"));
    place.write("antiphon.toml", "stroe = 1");
    let mut command = place.command(&["sessions", "ls"]);
    command.env_remove("ANTIPHON_STORE");
    let ran = door::feed(command, b"");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("antiphon.toml") && ran.err.contains("stroe"), "{}", ran.err);
}

#[test]
fn an_input_that_is_too_large_to_be_kept_is_refused_with_its_bound_and_leaves_nothing_behind() {
    let scripted = "antiphon: 1\nmodel: {provider: scripted, replies: [[{text: hi}]]}\n";
    let flow = "antiphon: 1\nnodes: {a: {function: \"'x'\"}, b: {command: [cat], input: task}}\n";
    let place = Place::new(&[("f.yaml", flow), ("a.yaml", scripted), ("big", &"x".repeat(13 << 20))]);
    let bound = "is 13631490 bytes of JSON, and 12582912 is the most: put it into a file and give its name";
    for args in [["run", "f.yaml", "--input", "@big"], ["chat", "--agent=a.yaml", "--input", "@big"]] {
        let ran = place.run(&args);
        assert_eq!((ran.code, ran.err.contains(bound)), (Some(2), true), "{args:?}: {}", ran.err);
    }
    assert_eq!(place.run(&["sessions", "ls"]).out, "(no sessions)\n");
}

#[test]
fn what_a_flow_names_is_looked_up_before_it_runs() {
    let flow = "\
antiphon: 1
models:
  m: {provider: scriptd}
  n: {provider: scripted, replies: [[{text: a}, {txt: hi}]]}
  o: {provider: scripted, replies: [[{error: {message: x, code: zz}}]]}
nodes:
  a: {agent: {model: m, tools: [read, raed]}}
  d: {tool: serch}
";
    check(
        &[("wrong.yaml", flow)],
        "check wrong.yaml",
        expect![[r#"
        $ check wrong.yaml
        exit 2
        wrong.yaml:3:17: error: there is no provider `scriptd`
         3 |   m: {provider: scriptd}
           |                 ^
          help: did you mean `scripted`?
        wrong.yaml:4:49: error: the script cannot be read: unknown variant `txt`
         4 |   n: {provider: scripted, replies: [[{text: a}, {txt: hi}]]}
           |                                                 ^
          help: did you mean `text`?
        wrong.yaml:5:38: error: the script cannot be read: no code `zz`
         5 |   o: {provider: scripted, replies: [[{error: {message: x, code: zz}}]]}
           |                                      ^
          help: there are rate_limited, overloaded, timeout, connection, authentication, invalid_request, context_length, malformed, script
        wrong.yaml:7:39: error: there is no tool `raed`
         7 |   a: {agent: {model: m, tools: [read, raed]}}
           |                                       ^
          help: did you mean `read`?
        wrong.yaml:8:13: error: there is no tool `serch`
         8 |   d: {tool: serch}
           |             ^
          help: did you mean `search`?
    "#]],
    );
}

#[test]
fn a_task_that_begins_like_json_and_is_none_is_told_as_such_where_text_would_not_do() {
    let either = GREET.replace("string}", "[string, object]}");
    check(
        &[
            ("sum.yaml", SUM),
            ("greet.yaml", GREET),
            ("either.yaml", &either),
            ("task.json", "[\n  \"ä\" 1]\n"),
            ("task.txt", "you\r\n"),
        ],
        "run sum.yaml --input [1
         run sum.yaml --input @task.json
         run sum.yaml --input one
         run greet.yaml --input {no
         run greet.yaml --input @task.txt
         run either.yaml --input {no",
        expect![[r#"
            $ run sum.yaml --input [1
            exit 2
            error: --input begins like a list and is no JSON: EOF while parsing a list at line 1, column 2; mend it there, as the flow takes no text
            $ run sum.yaml --input @task.json
            exit 2
            error: task.json begins like a list and is no JSON: expected `,` or `]` at line 2, column 7; mend it there, as the flow takes no text
            $ run sum.yaml --input one
            exit 2
            error: the input does not fit the flow: "one" is not of type "array"
            $ run greet.yaml --input {no
            exit 0
            hello {no!
            session <id>
            flow greet started
            hello  started
            hello  completed
            shout  started
            shout  completed
            flow completed
            $ run greet.yaml --input @task.txt
            exit 0
            hello you!
            session <id>
            flow greet started
            hello  started
            hello  completed
            shout  started
            shout  completed
            flow completed
            $ run either.yaml --input {no
            exit 0
            hello {no!
            session <id>
            flow either started
            hello  started
            hello  completed
            shout  started
            shout  completed
            flow completed
        "#]],
    );
}

#[test]
fn a_file_that_is_not_there_has_a_place_and_what_to_do() {
    check(
        &[("greet.yaml", GREET)],
        "check gret.yaml
         check --json gret.yaml
         check --json flows/other.yaml
         check .",
        expect![[r#"
            $ check gret.yaml
            exit 2
            gret.yaml: error: there is no such file
              help: did you mean `greet.yaml`?
            $ check --json gret.yaml
            exit 2
            {"file":"gret.yaml","line":1,"column":1,"level":"error","message":"there is no such file","help":"did you mean `greet.yaml`?"}
            $ check --json flows/other.yaml
            exit 2
            {"file":"flows/other.yaml","line":1,"column":1,"level":"error","message":"there is no such file","help":"paths begin at the folder you are in"}
            $ check .
            exit 2
            .: error: it is a directory
              help: name a file in it
        "#]],
    );
}

#[test]
fn more_programs_than_there_may_be_open_files_for_wait_for_their_turn() {
    let flow = "\
antiphon: 1
nodes:
  all: {map: {over: task, node: {command: [sh, -c, 'sleep 0.1; cat'], timeout: 1500ms}}}
";
    let items: Vec<String> = (0..200).map(|item| item.to_string()).collect();
    let place = Place::new(&[("all.yaml", flow), ("items.json", &format!("[{}]", items.join(",")))]);
    let whole = place.command(&["run", "all.yaml", "--input", "@items.json"]);
    let mut few = std::process::Command::new("sh");
    few.arg("-c").arg("ulimit -n 128 && exec \"$0\" \"$@\"");
    few.arg(whole.get_program()).args(whole.get_args()).current_dir(place.path());
    few.env("ANTIPHON_STORE", "memory:");
    let ran = door::feed(few, b"");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.trim(), serde_json::to_string(&items).expect("it is text"));
}

#[test]
fn what_a_program_says_while_it_works_is_no_call_that_never_ends() {
    let flow = "\
antiphon: 1
nodes:
  a: {command: [sh, -c, 'echo working >&2; echo done']}
";
    let place = Place::new(&[("a.yaml", flow)]);
    let ran = place.run(&["run", "a.yaml", "--json"]);
    assert!(ran.out.contains(r#""level":"info","source":"stderr","message":"working"}"#), "{}", ran.out);
    for view in ["tools", "risk", "nested"] {
        let shown = place.run(&["view", view, "last"]).out;
        assert!(!shown.contains("running") && !shown.contains("unknown"), "{shown}");
    }
}

#[test]
fn no_part_of_a_secret_is_told_where_what_a_program_says_is_cut() {
    let flow = "\
antiphon: 1
nodes:
  told:
    command:
      run: [sh, -c, 'head -c 262126 /dev/zero | tr \"\\\\0\" . >&2; printf %s $API_TOKEN >&2; head -c 9000 /dev/zero | tr \"\\\\0\" . >&2']
      env: {API_TOKEN: $API_TOKEN}
  kept:
    command:
      run: [sh, -c, 'printf %s $API_TOKEN >&2; head -c 4073 /dev/zero | tr \"\\\\0\" . >&2; exit 1']
      env: {API_TOKEN: $API_TOKEN}
";
    let place = Place::new(&[("leak.yaml", flow)]);
    let mut command = place.command(&["run", "leak.yaml", "--json"]);
    command.env("API_TOKEN", "abc-secret-token-1234567890");
    let ran = door::feed(command, b"");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains("no more is shown while it runs"), "{}", ran.out);
    for part in ["abc-", "secret-token", "1234567890"] {
        assert!(!ran.out.contains(part), "{part}");
    }
}
