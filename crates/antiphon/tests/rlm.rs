//! Agents whose model writes code: what the code keeps, calls and may do, and that all of it outlives its process.

use std::fmt::Write as _;
use std::sync::Arc;

use antiphon::{
    Body, Definition, Engine, Event, Flow, Invocation, Json, Node, Outcome, Report, Run, Script, Step,
    Wardrobe, Workspace,
};
use antiphon_event::Mode;
use antiphon_event::body::request::RelayResolved;
use antiphon_flow::Limits;
use antiphon_port::{Batch, Branch, Journal};
use antiphon_view::messages::Scope;
use antiphon_view::{Changes, Messages, Projected, Repl, View};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// An answer of a model with code.
fn code(code: &str) -> [Step; 2] {
    [Step::text(format!("I run this:\n```js\n{code}\n```\n")), Step::usage(10, 5)]
}

fn says(text: &str) -> [Step; 2] {
    [Step::text(text), Step::usage(10, 5)]
}

fn engine(script: Script, journal: Arc<dyn Journal>) -> Engine {
    let folder = Workspace::new(".").expect("a folder");
    Engine::new(journal).agents(Wardrobe::new(folder).model("m", Arc::new(script.model())))
}

fn memory() -> Arc<dyn Journal> {
    antiphon::open_store("memory:").expect("a store in memory")
}

fn definition(more: Value) -> Definition {
    let mut all = json!({"harness": "rlm", "model": {"provider": "own", "model": "m"}});
    let members = more.as_object().expect("members").clone();
    all.as_object_mut().expect("an object").extend(members);
    serde_json::from_value(all).expect("a definition")
}

/// Answers everything that is asked.
async fn answer(run: &mut Run, approved: bool) -> Report {
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return report;
        }
        for relay_id in report.relays {
            let doubt = relay_id.as_str().contains("in_doubt");
            let answer = doubt.then(|| Json::from(json!("run again")));
            let reason = (!approved).then(|| "not today".to_owned());
            let approved = (!doubt).then_some(approved);
            let (input, scope, by) = (None, None, "ann".to_owned());
            run.answer(RelayResolved { relay_id, approved, answer, input, scope, reason, by })
                .await
                .expect("taken");
        }
    }
}

async fn events(run: &Run) -> Vec<Event> {
    let mut tail = run.events();
    let mut events = Vec::new();
    while let Some(page) = tail.next().await.expect("readable") {
        events.extend(page);
    }
    events
}

/// The events a line each, with a letter for each run.
fn told(events: &[Event]) -> String {
    let mut runs: Vec<String> = Vec::new();
    let mut lines = String::new();
    for event in events {
        let Some(run) = event.head.run_id.as_ref().map(ToString::to_string) else { continue };
        let words = match &event.body {
            Body::HarnessStart(_) => {
                event.head.parent_id.as_ref().map(|parent| format!("in {parent}")).unwrap_or_default()
            }
            Body::User(user) => user.content.to_text().into_owned(),
            Body::Text(text) => text.content.replace('\n', " ⏎ "),
            Body::ReplInput(input) => input.id.to_string(),
            Body::ReplProgress(progress) => format!("{} {:?}", progress.stream, progress.chunk),
            Body::ReplOutput(output) => {
                let error = output.error.as_ref().map(|error| format!(" error: {error}")).unwrap_or_default();
                let done = if output.done { " done" } else { "" };
                format!("{:?}{error}{done}", output.stdout)
            }
            Body::ToolCall(call) => format!("{} {}", call.id, call.input.as_str()),
            Body::ToolResult(result) => format!("{} {}", result.id, result.output.as_str()),
            Body::Relay(relay) => format!("{} {}", relay.id, relay.kind),
            Body::RelayResolved(resolved) => format!("{:?}", resolved.approved),
            Body::HarnessEnd(end) => end.reason.as_ref().map(ToString::to_string).unwrap_or_default(),
            Body::Usage(_) | Body::ToolProgress(_) => continue,
            _ => String::new(),
        };
        if !runs.contains(&run) {
            runs.push(run.clone());
        }
        let letter = |at: usize| char::from(b'a' + at as u8).to_string();
        let at = runs.iter().position(|known| *known == run).expect("it was just added");
        let mut line = format!("{} {} {words}", letter(at), event.body.tag());
        for (at, run) in runs.iter().enumerate() {
            line = line.replace(run, &letter(at));
        }
        writeln!(lines, "{}", line.trim_end()).expect("text takes it");
    }
    lines
}

/// Runs an agent and compares what it came to and all that happened.
async fn check(more: Value, script: Script, approved: bool, expected: Expect) -> Vec<Event> {
    let engine = engine(script, memory());
    let mut run = engine.talk(definition(more), Invocation::new("go")).await.expect("accepted");
    let report = answer(&mut run, approved).await;
    let events = events(&run).await;
    expected.assert_eq(&format!("{:?} {}\n{}", report.outcome, report.output.as_str(), told(&events)));
    events
}

#[tokio::test]
async fn what_code_declares_and_puts_into_scope_is_there_in_the_next_turn() {
    let script = Script::new()
        .reply(code(
            "const words = context.split(' '); scope.n = 40; console.log(words.length); console.error('!')",
        ))
        .reply(code("scope.n += words.length"))
        .reply(code("FINAL({n: scope.n, last: words.at(-1)})"));
    check(json!({"options": {"context": "one two"}}), script, true, expect![[r#"
        Completed "{\"n\":42,\"last\":\"two\"}"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ const words = context.split(' '); scope.n = 40; console.log(words.length); console.error('!') ⏎ ``` ⏎
        b repl_input b/code
        b repl_progress stdout "2\n"
        b repl_progress stderr "!\n"
        b repl_output "2\n!\n"
        b text I run this: ⏎ ```js ⏎ scope.n += words.length ⏎ ``` ⏎
        b repl_input b/code~2
        b repl_output ""
        b text I run this: ⏎ ```js ⏎ FINAL({n: scope.n, last: words.at(-1)}) ⏎ ``` ⏎
        b repl_input b/code~3
        b repl_output "" done
        b text {"n":42,"last":"two"}
        b harness_end done
    "#]]).await;
}

#[tokio::test]
async fn queries_at_once_are_runs_of_their_own_with_their_own_code() {
    let script = Script::new()
        .when(
            "go",
            code("const two = [llm_query('say', 'a b'), llm_query('say', 'c')];\nFINAL((await Promise.all(two)).join())"),
        )
        .when("say", code("await exec('true'); FINAL(context.split(' ').length)"));
    let engine = engine(script, memory());
    let definition = definition(json!({"tools": ["bash"]}));
    let mut run = engine.talk(definition, Invocation::new("go")).await.expect("accepted");
    let paused = run.wait().await.expect("no fault");
    assert_eq!(paused.relays.len(), 2, "both are under way at once");
    let report = answer(&mut run, true).await;
    assert_eq!(report.output.to_text(), "2,1");
    let lines = told(&events(&run).await);
    let of = |run: char| -> String {
        lines.lines().filter(|line| line.starts_with(run)).map(|line| line.to_owned() + "\n").collect()
    };
    for (run, nth) in [('c', 0), ('d', 1)] {
        assert!(lines.contains(&format!("b tool_call b/code:query:{nth} ")), "{lines}");
        let mine = of(run).replace(&format!("{run}/"), "-/").replace(&format!("\n{run} "), "\n- ");
        assert!(mine.starts_with(&format!("{run} harness_start in b/code\n")), "{mine}");
        let tags: Vec<&str> = mine.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(
            tags,
            [
                "harness_start",
                "text",
                "repl_input",
                "tool_call",
                "relay",
                "relay_resolved",
                "tool_call",
                "tool_result",
                "repl_output",
                "text",
                "harness_end",
            ]
        );
    }
}

#[tokio::test]
async fn code_that_runs_is_stopped_when_its_run_is() {
    let engine = engine(Script::new().reply(code("console.log('on'); while (true) {}")), memory());
    let definition = definition(json!({"options": {"time_ms": 600_000}}));
    let mut run = engine.talk(definition, Invocation::new("go")).await.expect("accepted");
    let mut tail = run.events();
    let is_on = |event: &Event| matches!(event.body, Body::ReplProgress(_));
    while !tail.next().await.expect("readable").expect("it goes on").iter().any(is_on) {}
    run.cancel("ann", Mode::Now).await.expect("taken");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Cancelled);
    let events = events(&run).await;
    let outputs = events.iter().filter(|event| matches!(event.body, Body::ReplOutput(_))).count();
    assert_eq!(outputs, 1, "every piece of code has an output");
}

#[test]
fn an_agent_file_says_that_its_model_writes_code() {
    let text = "antiphon: 1\nharness: rlm\nmodel: {provider: scripted}\noptions: {context_file: book.txt}\n";
    let agent = antiphon_flow::file::read_agent("agent.yaml", text, &antiphon::inspect)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let definition: Definition = serde_json::from_str(agent.as_str()).expect("a definition");
    assert_eq!(definition.harness, antiphon_agent::Harness::Rlm);
}

#[tokio::test]
async fn as_deep_as_it_may_a_query_is_a_plain_question() {
    let script = Script::new()
        .when("go", code("FINAL(await llm_query('name it', 'a rose'))"))
        .when("name it\n\na rose", says("a rose is a rose"));
    check(
        json!({"options": {"max_depth": 0}}),
        script,
        true,
        expect![[r#"
        Completed "a rose is a rose"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ FINAL(await llm_query('name it', 'a rose')) ⏎ ``` ⏎
        b repl_input b/code
        b tool_call b/code:query:0 {"prompt":"name it","context":"a rose"}
        b tool_call b/code:query:0 {"prompt":"name it","context":"a rose"}
        c harness_start in b/code
        c text a rose is a rose
        c harness_end done
        b tool_result b/code:query:0 "a rose is a rose"
        b repl_output "" done
        b text a rose is a rose
        b harness_end done
    "#]],
    )
    .await;
}

#[tokio::test]
async fn commands_of_code_are_asked_about_and_run_when_allowed() {
    let script = Script::new()
        .when("go", code("console.log('before'); const out = await exec('echo $((6 * 7))'); FINAL(out)"));
    check(json!({"tools": ["bash"]}), script, true, expect![[r#"
        Completed "exit code: 0\nstdout:\n42"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ console.log('before'); const out = await exec('echo $((6 * 7))'); FINAL(out) ⏎ ``` ⏎
        b repl_input b/code
        b repl_progress stdout "before\n"
        b tool_call b/code:exec:0 {"command":"echo $((6 * 7))"}
        b relay b/code:exec:0:permission permission
        b relay_resolved Some(true)
        b tool_call b/code:exec:0 {"command":"echo $((6 * 7))"}
        b tool_result b/code:exec:0 "exit code: 0\nstdout:\n42"
        b repl_output "before\n" done
        b text exit code: 0 ⏎ stdout: ⏎ 42
        b harness_end done
    "#]]).await;
}

#[tokio::test]
async fn a_command_that_is_denied_is_an_exception_in_the_code() {
    let script = Script::new()
        .when("go", code("try { await exec('rm -rf /') } catch (error) { FINAL('no: ' + error.message) }"));
    check(json!({"tools": ["bash"]}), script, false, expect![[r#"
        Completed "no: denied: not today"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ try { await exec('rm -rf /') } catch (error) { FINAL('no: ' + error.message) } ⏎ ``` ⏎
        b repl_input b/code
        b tool_call b/code:exec:0 {"command":"rm -rf /"}
        b relay b/code:exec:0:permission permission
        b relay_resolved Some(false)
        b tool_result b/code:exec:0 {"error":"denied: not today","code":"denied"}
        b repl_output "" done
        b text no: denied: not today
        b harness_end done
    "#]]).await;
}

#[tokio::test]
async fn without_a_shell_and_beyond_its_queries_code_is_told_so() {
    let script = Script::new()
        .when("go", code("await exec('ls')"))
        .when("no tool", code(
            "await llm_query('one'); try { await llm_query('two') } catch (error) { FINAL(error.message) }",
        ))
        .when("one", code("FINAL(1)"));
    check(json!({"limits": {"max_agents": 1}}), script, true, expect![[r#"
        Completed "an agent may call 1 agents, and this one has"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ await exec('ls') ⏎ ``` ⏎
        b repl_input b/code
        b tool_call b/code:exec:0 {"command":"ls"}
        b tool_result b/code:exec:0 {"error":"there is no tool `bash`; there are llm_query","code":"schema"}
        b repl_output "" error: Error: there is no tool `bash`; there are llm_query
        b text I run this: ⏎ ```js ⏎ await llm_query('one'); try { await llm_query('two') } catch (error) { FINAL(error.message) } ⏎ ``` ⏎
        b repl_input b/code~2
        b tool_call b/code~2:query:0 {"prompt":"one"}
        b tool_call b/code~2:query:0 {"prompt":"one"}
        c harness_start in b/code~2
        c text I run this: ⏎ ```js ⏎ FINAL(1) ⏎ ``` ⏎
        c repl_input c/code
        c repl_output "" done
        c text 1
        c harness_end done
        b tool_result b/code~2:query:0 "1"
        b tool_call b/code~2:query:1 {"prompt":"two"}
        b tool_result b/code~2:query:1 {"error":"an agent may call 1 agents, and this one has","code":"failed"}
        b repl_output "" done
        b text an agent may call 1 agents, and this one has
        b harness_end done
    "#]]).await;
}

#[tokio::test]
async fn whatever_code_does_wrong_is_told_and_the_session_goes_on() {
    let script = Script::new()
        .reply(code("scope.kept = 1; while (true) {}"))
        .reply(code("throw new Error('thrown')"))
        .reply(says("no code at all"))
        .reply(says("```js\n1\n```\n```js\n2\n```"))
        .reply(code("not code"))
        .reply(code("console.log('x'.repeat(50))"))
        .reply(code("FINAL('still here, with ' + scope.kept)"));
    let options = json!({"options": {"time_ms": 300, "output_chars": 10}});
    check(
        options,
        script,
        true,
        expect![[r#"
            Completed "still here, with 1"
            a user go
            b harness_start in a:user
            b text I run this: ⏎ ```js ⏎ scope.kept = 1; while (true) {} ⏎ ``` ⏎
            b repl_input b/code
            b repl_output "" error: out of time: at work for 300ms, which is the bound of a turn
            b text I run this: ⏎ ```js ⏎ throw new Error('thrown') ⏎ ``` ⏎
            b repl_input b/code~2
            b repl_output "" error: Error: thrown (turn 2, line 1)
            b text no code at all
            b user There is no code in your answer: write one block fenced with ```js and ```.
            b text ```js ⏎ 1 ⏎ ``` ⏎ ```js ⏎ 2 ⏎ ```
            b user There are 2 blocks of code in your answer: write one.
            b text I run this: ⏎ ```js ⏎ not code ⏎ ``` ⏎
            b repl_input b/code~3
            b repl_output "" error: SyntaxError: expecting ';' (turn 3, line 1)
            b text I run this: ⏎ ```js ⏎ console.log('x'.repeat(50)) ⏎ ``` ⏎
            b repl_input b/code~4
            b repl_progress stdout "xxxxxxxxxx"
            b repl_output "xxxxxxxxxx"
            b text I run this: ⏎ ```js ⏎ FINAL('still here, with ' + scope.kept) ⏎ ``` ⏎
            b repl_input b/code~5
            b repl_output "" done
            b text still here, with 1
            b harness_end done
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_memory_bomb_is_an_error_of_its_turn() {
    let script = Script::new()
        .reply(code("const big = []; while (true) big.push(new Uint8Array(1 << 20))"))
        .reply(code("'x'.repeat(1 << 29)"))
        .reply(code("FINAL('still here')"));
    let engine = engine(script, memory());
    let definition = definition(json!({"options": {"memory_mb": 8}}));
    let mut run = engine.talk(definition, Invocation::new("go")).await.expect("accepted");
    let report = answer(&mut run, true).await;
    assert_eq!(report.output.to_text(), "still here");
    let events = events(&run).await;
    let errors = events.iter().filter_map(|event| match &event.body {
        Body::ReplOutput(output) => output.error.as_deref(),
        _ => None,
    });
    let errors: Vec<&str> = errors.collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("memory") || error.contains("string")), "{errors:?}");
}

#[tokio::test]
async fn a_query_may_do_no_more_than_its_caller_and_is_asked_about_the_same_way() {
    let script = Script::new()
        .when("go", code("FINAL(await llm_query('deeper'))"))
        .when("deeper", code(
            "const tried = [];\nfor (const command of ['rm x', 'echo ok'])\n\
             try { tried.push(await exec(command)) } catch (error) { tried.push(error.message) }\nFINAL(tried)",
        ));
    let rules = json!({"tools": ["bash"], "permissions": ["deny bash: rm *"]});
    check(rules, script, true, expect![[r#"
        Completed "[\"denied: bash: {deny: bash, command: \\\"rm *\\\"} (agent) denies `rm x`\",\"exit code: 0\\nstdout:\\nok\"]"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ FINAL(await llm_query('deeper')) ⏎ ``` ⏎
        b repl_input b/code
        b tool_call b/code:query:0 {"prompt":"deeper"}
        b tool_call b/code:query:0 {"prompt":"deeper"}
        c harness_start in b/code
        c text I run this: ⏎ ```js ⏎ const tried = []; ⏎ for (const command of ['rm x', 'echo ok']) ⏎ try { tried.push(await exec(command)) } catch (error) { tried.push(error.message) } ⏎ FINAL(tried) ⏎ ``` ⏎
        c repl_input c/code
        c tool_call c/code:exec:0 {"command":"rm x"}
        c tool_result c/code:exec:0 {"error":"denied: bash: {deny: bash, command: \"rm *\"} (agent) denies `rm x`","code":"denied"}
        c tool_call c/code:exec:1 {"command":"echo ok"}
        c relay c/code:exec:1:permission permission
        c relay_resolved Some(true)
        c tool_call c/code:exec:1 {"command":"echo ok"}
        c tool_result c/code:exec:1 "exit code: 0\nstdout:\nok"
        c repl_output "" done
        c text ["denied: bash: {deny: bash, command: \"rm *\"} (agent) denies `rm x`","exit code: 0\nstdout:\nok"]
        c harness_end done
        b tool_result b/code:query:0 "[\"denied: bash: {deny: bash, command: \\\"rm *\\\"} (agent) denies `rm x`\",\"exit code: 0\\nstdout:\\nok\"]"
        b repl_output "" done
        b text ["denied: bash: {deny: bash, command: \"rm *\"} (agent) denies `rm x`","exit code: 0\nstdout:\nok"]
        b harness_end done
    "#]]).await;
}

#[tokio::test]
async fn as_a_node_of_a_flow_it_and_what_it_asks_draw_on_one_budget() {
    for (max_tokens, outcome) in [(45, Outcome::Completed), (44, Outcome::Failed)] {
        let limits = Limits { max_tokens: Some(max_tokens), ..Limits::default() };
        let node = Node::agent("rlm", json!({"model": {"provider": "own", "model": "m"}}));
        let flow = Flow::new("bounded").limits(limits).node("a", node).build().expect("sound");
        let script = Script::new()
            .when("task", code("FINAL(await llm_query('once') + await llm_query('once'))"))
            .when("once", code("FINAL(1)"));
        let mut run = engine(script, memory()).start(flow, Invocation::new("task")).await.expect("accepted");
        let report = answer(&mut run, true).await;
        assert_eq!(report.outcome, outcome, "{max_tokens}:\n{}", told(&events(&run).await));
    }
}

#[tokio::test]
async fn at_its_bound_on_steps_it_says_what_it_found() {
    let script = Script::new().reply(code("console.log(1)")).reply(says("I found 1"));
    check(
        json!({"max_iterations": 1}),
        script,
        true,
        expect![[r#"
        Completed "I found 1"
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ console.log(1) ⏎ ``` ⏎
        b repl_input b/code
        b repl_progress stdout "1\n"
        b repl_output "1\n"
        b text I found 1
        b harness_end max_iterations
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_its_schema_is_asked_for_again() {
    let script = Script::new().reply(code("FINAL('many')")).reply(code("FINAL(3)"));
    check(json!({"output": {"type": "integer"}}), script, true, expect![[r#"
        Completed 3
        a user go
        b harness_start in a:user
        b text I run this: ⏎ ```js ⏎ FINAL('many') ⏎ ``` ⏎
        b repl_input b/code
        b repl_output "" done
        b text many
        b user Your answer does not fit: it is not JSON: expected value at line 1 column 1. Give `FINAL` the JSON and nothing else.
        b text I run this: ⏎ ```js ⏎ FINAL(3) ⏎ ``` ⏎
        b repl_input b/code~2
        b repl_output "" done
        b text 3
        b harness_end done
    "#]]).await;
}

#[tokio::test]
async fn options_that_do_not_fit_are_refused_before_anything_begins() {
    for (options, why) in [
        (json!({"memory_mb": 0}), "its option `memory_mb` is 0; it has to be 1 to 1024"),
        (json!({"speed": 1}), "its options do not fit: unknown field `speed`"),
        (json!({"context": "a", "context_file": "b"}), "its options name both"),
        (json!({"context_file": "nowhere.txt"}), "its context `nowhere.txt` cannot be read"),
    ] {
        let engine = engine(Script::new(), memory());
        let refused = engine.talk(definition(json!({"options": options})), Invocation::new("go")).await;
        let refused = refused.err().expect("refused").to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

#[tokio::test]
async fn the_repl_view_shows_turns_and_the_runs_their_code_called() {
    let script = Script::new()
        .when("go", code("console.log(await llm_query('count', 'a b'))"))
        .when("count", code("FINAL(context.length)"))
        .when("3", code("FINAL('three')"));
    let engine = engine(script, memory());
    let mut run = engine.talk(definition(json!({})), Invocation::new("go")).await.expect("accepted");
    answer(&mut run, true).await;
    let mut view = Repl::default();
    for event in events(&run).await {
        view.apply(&event, &mut Changes::unwanted());
    }
    let runs = view.walk().map(|(depth, run)| {
        let turns = run.turns.iter().map(|turn| (turn.stdout.as_str(), turn.children.len()));
        (depth, turns.collect::<Vec<_>>(), run.answer.as_str(), run.status.as_str())
    });
    let runs: Vec<_> = runs.collect();
    assert_eq!(runs, [(0, vec![("3\n", 1), ("", 0)], "three", "done"), (1, vec![("", 0)], "3", "done")]);
}

/// Goes on from every position of a run that came to its end, each as if its process had died there.
#[tokio::test]
async fn wherever_its_process_dies_another_one_comes_to_the_same_answer() {
    let script = || {
        Script::new()
            .when("go", code("const r = Math.random(); scope.got = [await exec('echo one')]; console.log('turn 1')"))
            .when("turn 1", code(
                "console.log('start');\nscope.got.push(...await Promise.all([llm_query('up', 'x'), llm_query('up', 'y')]));\n\
                 console.log('then'); scope.got.push(await exec('echo two')); console.log('turn 2', r)",
            ))
            .when("up", code("FINAL(context.toUpperCase())"))
            .when("turn 2", code("FINAL([r, Date.now(), ...scope.got])"))
    };
    let definition = definition(json!({"tools": ["bash"], "permissions": ["allow bash"]}));
    let mut run = engine(script(), memory()).talk(definition, Invocation::new("go")).await.expect("accepted");
    let report = answer(&mut run, true).await;
    assert_eq!(report.outcome, Outcome::Completed);
    let all = events(&run).await;
    let done = |event: &Event| matches!(&event.body, Body::ReplOutput(output) if output.done);
    let first = all.iter().position(|event| matches!(event.body, Body::HarnessStart(_))).expect("it began");
    let printed = |events: &[Event]| -> String {
        let chunks = events.iter().filter_map(|event| match &event.body {
            Body::ReplProgress(progress) => Some(progress.chunk.as_str()),
            _ => None,
        });
        chunks.collect()
    };
    for kept in first + 1..all.len() {
        if done(&all[kept - 1]) {
            continue; // It is appended together with the answer.
        }
        let (journal, branch) = (memory(), Branch::main(run.session().clone()));
        journal.create(&branch).await.expect("created");
        let batch = Batch::new(all[..kept].to_vec()).expect("not empty");
        journal.append(&branch, 0, batch).await.expect("appended");
        let mut again = engine(script(), journal).resume(branch, None).await.expect("resumed");
        let came = answer(&mut again, true).await;
        let events = events(&again).await;
        assert_eq!(came.output, report.output, "after {kept} events:\n{}", told(&events));
        assert_eq!(printed(&events), printed(&all), "after {kept} events:\n{}", told(&events));
    }
}

#[tokio::test]
async fn the_answer_of_code_is_a_message_of_its_own_after_what_the_code_printed() {
    let script = Script::new().reply(code("console.log('one'); FINAL('two')"));
    let engine = engine(script, memory());
    let mut run = engine.talk(definition(json!({})), Invocation::new("go")).await.expect("accepted");
    answer(&mut run, true).await;
    let mut seen = Projected::new(Messages::of(Scope::Root));
    for event in &events(&run).await {
        seen.apply(event, &mut Changes::default());
    }
    let messages = serde_json::to_value(seen.projection().list(seen.conversation())).expect("JSON");
    let contents: Vec<&Value> =
        messages.as_array().expect("a list").iter().map(|said| &said["content"]).collect();
    let wrote = "I run this:\n```js\nconsole.log('one'); FINAL('two')\n```\n";
    assert_eq!(contents, ["go", wrote, "one\n", "two"]);
}
