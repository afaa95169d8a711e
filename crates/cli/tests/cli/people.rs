//! `resume`, `cancel` and what people decide.

use expect_test::expect;

use crate::place::Place;

const GATE: &str = "\
antiphon: 1
nodes:
  gate: {human: {prompt: \"Publish?\"}}
  colour: {human: {prompt: \"Which?\", options: [red, blue]}}
  many: {human: {prompt: \"How many?\", schema: {type: integer}}}
  tell: {function: \"[outputs.gate.approved, outputs.colour.answer, outputs.many.answer]\"}
edges: [gate -> tell, colour -> tell, many -> tell]
";

#[test]
fn a_run_that_goes_on_and_waits_has_not_given_what_it_had_when_it_was_cancelled() {
    let flow = "antiphon: 1\nnodes: {a: {function: \"'draft'\"}, gate: {human: ok?}}\nedges: [a -> gate]\n";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml"]);
    assert_eq!(place.run(&["cancel", "last"]).code, Some(0));
    let resumed = place.run(&["resume", "last"]);
    assert_eq!((resumed.code, resumed.out.as_str()), (Some(3), ""), "{}", resumed.err);
}

#[test]
fn a_run_waits_until_everything_is_answered_and_says_how() {
    let told = Place::new(&[("gate.yaml", GATE)]).tell(
        "run gate.yaml
         resume last
         resume last --approve gate --answer colour=green
         resume last --approve nobody
         resume last --answer many=7 --answer colour=blue --approve gate
         resume last
         resume last --approve gate
         sessions ls --limit 0",
    );
    expect![[r#"
        $ run gate.yaml
        exit 3
        session <id>
        flow gate started
        gate  started
        colour  started
        many  started
        gate  asks: Publish? (<id>/gate:1:1:ask)
        colour  asks: Which? (<id>/colour:1:1:ask)
        many  asks: How many? (<id>/many:1:1:ask)
        paused: waiting for a person
          gate  Publish?
            antiphon resume <id> --approve gate
            antiphon resume <id> --deny gate --reason …
          colour  Which?
            antiphon resume <id> --answer 'colour=red'
            antiphon resume <id> --answer 'colour=blue'
          many  How many?
            antiphon resume <id> --answer 'many=…'
        $ resume last
        exit 3
        session <id>
        resumed
        paused: waiting for a person
          gate  Publish?
            antiphon resume <id> --approve gate
            antiphon resume <id> --deny gate --reason …
          colour  Which?
            antiphon resume <id> --answer 'colour=red'
            antiphon resume <id> --answer 'colour=blue'
          many  How many?
            antiphon resume <id> --answer 'many=…'
        $ resume last --approve gate --answer colour=green
        exit 2
        session <id>
        error: the answer to relay <id>/colour:1:1:ask does not fit: answer with one of: red, blue
        $ resume last --approve nobody
        exit 2
        session <id>
        error: nothing that is asked goes by nobody; there are gate, colour, many
        $ resume last --answer many=7 --answer colour=blue --approve gate
        exit 0
        [true,"blue",7]
        session <id>
        resumed
        gate  approved by user
        gate  completed
        many  answered 7 by user
        many  completed
        colour  answered blue by user
        colour  completed
        tell  started
        tell  completed
        flow completed
        $ resume last
        exit 0
        [true,"blue",7]
        session <id>
        $ resume last --approve gate
        exit 2
        session <id>
        error: <id>/gate:1:1:ask is not asked any more: it was approved by user
        $ sessions ls --limit 0
        exit 0
        (no sessions)
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_no_has_a_reason_and_a_run_that_waits_can_be_cancelled() {
    let flow = "antiphon: 1\nnodes:\n  gate: {human: {prompt: \"Publish?\"}}\n";
    let told = Place::new(&[("gate.yaml", flow)]).tell(
        "run gate.yaml
         resume last --deny gate --reason 'not yet'
         cancel last
         run gate.yaml
         cancel last
         cancel last
         resume nobody",
    );
    expect![[r#"
        $ run gate.yaml
        exit 3
        session <id>
        flow gate started
        gate  started
        gate  asks: Publish? (<id>/gate:1:1:ask)
        paused: waiting for a person
          gate  Publish?
            antiphon resume <id> --approve gate
            antiphon resume <id> --deny gate --reason …
        $ resume last --deny gate --reason 'not yet'
        exit 0
        {"approved":false,"reason":"not yet","by":"user"}
        session <id>
        resumed
        gate  denied by user: not yet
        gate  completed
        flow completed
        $ cancel last
        exit 2
        error: run <id> has ended: completed
        $ run gate.yaml
        exit 3
        session <id>
        flow gate started
        gate  started
        gate  asks: Publish? (<id>/gate:1:1:ask)
        paused: waiting for a person
          gate  Publish?
            antiphon resume <id> --approve gate
            antiphon resume <id> --deny gate --reason …
        $ cancel last
        exit 0
        session <id>: run <id> is cancelled
        $ cancel last
        exit 2
        error: run <id> has ended: cancelled
        $ resume nobody
        exit 2
        error: there is no session nobody in sqlite:kept/store.db
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_word_for_no_is_a_no_and_what_is_neither_is_refused() {
    let flow = "\
antiphon: 1
nodes:
  gate: {human: {prompt: \"Publish?\"}}
  publish: {function: \"'published'\"}
  keep: {function: \"'kept'\"}
edges:
  - {from: gate, to: publish, when: output.approved}
  - {from: gate, to: keep, default: true}
";
    let place = Place::new(&[("gate.yaml", flow)]);
    for (answer, came) in [
        ("no", "kept"),
        ("false", "kept"),
        ("Reject", "kept"),
        ("deny", "kept"),
        ("yes", "published"),
        ("true", "published"),
        ("approve", "published"),
    ] {
        place.run(&["run", "gate.yaml"]);
        let ran = place.run(&["resume", "last", "--answer", &format!("gate={answer}")]);
        assert_eq!((ran.code, ran.out.trim()), (Some(0), came), "{answer}: {}", ran.err);
    }
    place.run(&["run", "gate.yaml"]);
    expect![[r#"
        $ resume last --answer gate=maybe
        exit 2
        session <id>
        error: the answer to relay <id>/gate:1:1:ask does not fit: answer with yes or no
        $ resume last --input-for 'gate={"approved":false}'
        exit 2
        session <id>
        error: the answer to relay <id>/gate:1:1:ask does not fit: it takes no output: that is for work in doubt that is taken as done, and for one that a guardrail stopped
        $ resume last --approve gate --input-for 'gate={"approved":false}'
        exit 2
        session <id>
        error: the answer to relay <id>/gate:1:1:ask does not fit: it takes no output: that is for work in doubt that is taken as done, and for one that a guardrail stopped
    "#]]
    .assert_eq(&place.tell(
        "resume last --answer gate=maybe
         resume last --input-for 'gate={\"approved\":false}'
         resume last --approve gate --input-for 'gate={\"approved\":false}'",
    ));
}

#[test]
fn a_question_with_a_schema_is_not_answered_by_a_yes() {
    let flow = "antiphon: 1\nnodes:\n  many: {human: {prompt: \"How many?\", schema: {type: integer}}}\n";
    let place = Place::new(&[("many.yaml", flow)]);
    place.run(&["run", "many.yaml"]);
    expect![[r#"
        $ resume last --approve many
        exit 2
        session <id>
        error: the answer to relay <id>/many:1:1:ask does not fit: a yes is not enough: say what the answer is
        $ resume last --deny many
        exit 0
        {"approved":false,"by":"user"}
        session <id>
        resumed
        many  denied by user
        many  completed
        flow completed
    "#]]
    .assert_eq(&place.tell("resume last --approve many\n resume last --deny many"));
}

#[test]
fn an_answer_that_comes_too_late_changes_nothing() {
    let flow = "\
antiphon: 1
nodes:
  gate: {human: {prompt: \"Publish?\", timeout: 1ms, on_timeout: reject}}
  wait: {human: {prompt: \"And?\"}}
  tell: {function: \"outputs.gate.approved\"}
edges: [gate -> tell, wait -> tell]
";
    let place = Place::new(&[("late.yaml", flow)]);
    let events = place.run(&["run", "late.yaml", "--json"]).out;
    let asked = events.lines().position(|line| line.contains("\"interrupt\"") && line.contains("\"gate\""));
    let at = (asked.expect("it asks") + 1).to_string();
    place.run(&["fork", "last", "--at", &at, "--branch", "late"]);
    let ran = place.run(&["resume", "last", "--branch", "late", "--approve", "gate", "--approve", "wait"]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "false"), "{}", ran.err);
    assert!(ran.err.contains("gate:1:1:ask came too late: nobody had answered in time"), "{}", ran.err);
}

#[test]
fn the_name_of_a_node_is_enough_whatever_ids_end_with() {
    let flow = "antiphon: 1\nnodes:\n  ask: {human: {prompt: A?}}\n  k: {human: {prompt: K?}}\n";
    let place = Place::new(&[("flow.yaml", flow)]);
    let codes = [
        &["run", "flow.yaml"][..],
        &["resume", "last", "--approve", "k"],
        &["resume", "last", "--approve", "ask"],
    ]
    .map(|args| place.run(args).code);
    assert_eq!(codes, [Some(3), Some(3), Some(0)]);
    let beyond = place.run(&["sessions", "show", "last", "--at", "999"]);
    assert!(beyond.told().contains("so there is no event 999"), "{}", beyond.told());
}

/// What asks first and then fails once, and an agent that fails once.
const AGAIN: &str = "\
antiphon: 1
models: {s: {provider: scripted, replies: [[{error: {message: \"no\"}}], [{text: fine}]]}}
nodes:
  inner:
    retry: {max: 1, delay: 1ms}
    flow:
      antiphon: 1
      nodes: {gate: {human: {prompt: q}}, once: {command: [sh, -c, \"test -e done || { touch done; exit 1; }\"]}}
      edges: [gate -> once]
  talks: {agent: {model: s}, retry: 1}
";

#[test]
fn what_waited_for_a_person_is_tried_again_like_anything_else() {
    let place = Place::new(&[("again.yaml", AGAIN)]);
    let told = place.tell("run again.yaml\n resume last --approve gate");
    expect![[r#"
        $ run again.yaml
        exit 3
        session <id>
        flow again started
        inner  started
        talks  started
        inner/gate  started
        inner/gate  asks: q (<id>/gate:1:1:ask)
        talks  attempt 1 failed, again after 0 ms: no
        talks  started, attempt 2
        talks  completed
        paused: waiting for a person
          inner/gate  q
            antiphon resume <id> --approve inner/gate
            antiphon resume <id> --deny inner/gate --reason …
        $ resume last --approve gate
        exit 0
        {"inner":"","talks":"fine"}
        session <id>
        resumed
        inner/gate  approved by user
        inner/gate  completed
        inner/once  started
        inner/once  failed: `sh` ended with code 1
        inner  attempt 1 failed, again after 1 ms: `once`: `sh` ended with code 1
        inner  started, attempt 2
        inner/once  started, attempt 2
        inner/once  completed
        inner  completed
        flow completed
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_agent_whose_next_attempt_has_only_begun_goes_on() {
    let place = Place::new(&[("again.yaml", AGAIN)]);
    let events = place.run(&["run", "again.yaml", "--json"]).out;
    let begins = |line: &str| line.contains("node_start") && line.contains("\"attempt\":2");
    let at = 1 + events.lines().position(begins).expect("it is tried again");
    place.run(&["fork", "last", "--at", &at.to_string(), "--branch", "cut"]);
    let ran = place.run(&["resume", "last", "--branch", "cut", "--approve", "gate", "--json"]);
    assert!(ran.out.contains("\"fine\""), "{}{}", ran.out, ran.err);
}

#[test]
fn what_an_agent_on_a_branch_of_its_own_asks_is_answered_where_it_was_called() {
    for policy in ["same_branch", "fresh_branch", "fork", "existing_branch", "new_session"] {
        let flow = format!(
            "antiphon: 1
models:
  lead: {{provider: scripted, replies: [[{{tool_call: {{name: agent, input: {{agent: hand, task: go}}}}}}], [{{text: led}}]]}}
  hand: {{provider: scripted, replies: [[{{tool_call: {{name: bash, input: {{command: echo x}}}}}}], [{{text: done}}]]}}
nodes: {{l: {{agent: {{model: lead, tools: [bash], agents: {{hand: {{model: hand, policy: {policy}}}}}}}}}}}
"
        );
        let place = Place::new(&[("flow.yaml", &flow)]);
        let asked = place.tell("run flow.yaml");
        assert!(asked.contains("exit 3") && asked.contains("--approve l"), "{policy}: {asked}");
        let answered = place.tell("resume last --approve l");
        assert!(answered.contains("exit 0") && answered.contains("led"), "{policy}: {answered}");
    }
}

/// An agent that asks for a word, and one that asks for one of several.
pub(crate) const ASKS: &str = "\
antiphon: 1
models:
  open: {provider: scripted, replies: [[{tool_call: {name: ask, input: {question: \"Which colour?\", options: []}}}], [{text: thanks}]]}
  some: {provider: scripted, replies: [[{tool_call: {name: ask, input: {question: \"Which?\", options: [red, blue]}}}], [{text: fine}]]}
nodes:
  a: {agent: {model: open, tools: [ask]}}
  b: {agent: {model: some, tools: [ask]}}
edges: [a -> b]
";

#[test]
fn what_an_agent_asks_is_answered_the_way_it_says_and_with_nothing_but_its_options() {
    let told = Place::new(&[("asks.yaml", ASKS)]).tell(
        "run asks.yaml
         resume last --approve a
         resume last --answer a=yes
         resume last --answer b=green
         resume last --answer b=blue",
    );
    expect![[r#"
        $ run asks.yaml
        exit 3
        session <id>
        flow asks started
        a  started
        a  asks: Which colour? (<id>/call_1_1:question)
        paused: waiting for a person
          a  Which colour?
            antiphon resume <id> --answer 'a=…'
        $ resume last --approve a
        exit 2
        session <id>
        error: the answer to relay <id>/call_1_1:question does not fit: say what the answer is
        $ resume last --answer a=yes
        exit 3
        session <id>
        resumed
        a  resumed
        a  answered yes by user
        a  completed
        b  started
        b  asks: Which? (<id>/call_1_1:question)
        paused: waiting for a person
          b  Which?
            antiphon resume <id> --answer 'b=red'
            antiphon resume <id> --answer 'b=blue'
        $ resume last --answer b=green
        exit 2
        session <id>
        error: the answer to relay <id>/call_1_1:question does not fit: answer with one of: red, blue
        $ resume last --answer b=blue
        exit 0
        fine
        session <id>
        resumed
        b  resumed
        b  answered blue by user
        b  completed
        flow completed
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_run_that_ends_by_a_late_answer_says_so_and_exits_by_how_it_ended() {
    let flow = "\
antiphon: 1
nodes:
  gate: {human: {prompt: \"ok?\", timeout: 1ms, on_timeout: accept}}
  yes: {function: \"'yes by ' + input.by\"}
edges: [{from: gate, to: yes, when: output.approved}]
";
    let place = Place::new(&[("late.yaml", flow)]);
    let events = place.run(&["run", "late.yaml", "--json"]).out;
    let asked = events.lines().position(|line| line.contains("\"interrupt\""));
    let at = (asked.expect("it asks") + 1).to_string();
    place.run(&["fork", "last", "--at", &at, "--branch", "late"]);
    expect![[r#"
        $ resume last --branch late --deny gate
        exit 0
        yes by timeout
        session <id>
        resumed
        the answer to <id>/gate:1:1:ask came too late: nobody had answered in time
        gate  approved by timeout: nobody answered in time
        gate  completed
        yes  started
        yes  completed
        flow completed
    "#]]
    .assert_eq(&place.tell("resume last --branch late --deny gate"));
}

#[test]
fn an_answer_that_another_one_made_needless_does_not_refuse_a_run_that_went_on() {
    let flow = "\
antiphon: 1
on_failure: fail_fast
nodes:
  a: {command: ['true']}
  b: {command: ['true']}
";
    let place = Place::new(&[("doubt.yaml", flow)]);
    let events = place.run(&["run", "doubt.yaml", "--json"]).out;
    let starts = |line: &str| line.contains("node_start") && line.contains("\"b\"");
    let at = 1 + events.lines().position(starts).expect("both start");
    place.run(&["fork", "last", "--at", &at.to_string(), "--branch", "cut"]);
    expect![[r#"
        $ resume last --branch cut
        exit 3
        session <id>
        resumed
        a  asks: `a` had started, and nobody knows whether it did its work (<id>/a:1:1:doubt)
        b  asks: `b` had started, and nobody knows whether it did its work (<id>/b:1:1:doubt)
        paused: waiting for a person
          a  `a` had started, and nobody knows whether it did its work
            antiphon resume <id> --branch cut --answer 'a=run again'
            antiphon resume <id> --branch cut --answer 'a=take as done'
            antiphon resume <id> --branch cut --answer 'a=fail'
          b  `b` had started, and nobody knows whether it did its work
            antiphon resume <id> --branch cut --answer 'b=run again'
            antiphon resume <id> --branch cut --answer 'b=take as done'
            antiphon resume <id> --branch cut --answer 'b=fail'
        $ resume last --branch cut --answer a=fail --answer 'b=run again'
        exit 1
        session <id>
        resumed
        a  answered fail by user
        a  failed: user said no
        the answer to <id>/b:1:1:doubt came too late: the run had gone on without it
        b  denied by run: another node failed, and the flow fails fast
        b  cancelled: another node failed, and the flow fails fast
        flow failed
        failed: node failed
    "#]]
    .assert_eq(&place.tell(
        "resume last --branch cut
         resume last --branch cut --answer a=fail --answer 'b=run again'",
    ));
}

#[test]
fn all_that_a_yes_would_be_about_is_shown_with_its_line_ends() {
    let flow = "\
antiphon: 1
models:
  m: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: \"echo status\\nrm -rf build\", timeout_ms: 500}}}]]}
nodes:
  a: {agent: {model: m, tools: [bash]}}
  pay: {human: {prompt: \"Pay 10 to Bob?\\nAnd 1,000,000 to Mallory.\"}}
";
    let place = Place::new(&[("flow.yaml", flow)]);
    let paused =
        |told: String| told.split_once("paused: ").map_or(String::new(), |(_, after)| after.to_owned());
    let asked = paused(place.tell("run flow.yaml"));
    assert_eq!(paused(place.tell("sessions show last")), asked);
    expect![[r#"
        waiting for a person
          pay  Pay 10 to Bob?
            And 1,000,000 to Mallory.
            antiphon resume <id> --approve pay
            antiphon resume <id> --deny pay --reason …
          a  bash echo status ↵
            rm -rf build
            timeout_ms: 500
            bash: no rule allows `echo status` (a part of the line)
            antiphon resume <id> --approve a
            antiphon resume <id> --deny a --reason …
        $ view permissions last
        exit 0
        ▶ waiting <id>/pay:1:1:ask Pay 10 to Bob? ↵ And 1,000,000 to Mallor…
        ▶ waiting <id>/call_1_1:permission bash command: echo status ↵ rm -…

        asked         request              kind        agent  about                                  status
        pay:1:1:ask          approval           Pay 10 to Bob? ↵ And 1,000,000 to Ma…  pending
        call_1_1:permission  permission  a      bash command: echo status ↵ rm -rf b…  pending
        what ends with … is whole in `antiphon sessions events`, and with --json
    "#]]
    .assert_eq(&(asked + &place.tell("view permissions last")));
}

#[test]
fn a_request_that_no_terminal_could_show_ends_with_how_much_is_left_out() {
    let prompt = "line\\n".repeat(300);
    let flow = format!("antiphon: 1\nnodes:\n  gate: {{human: {{prompt: \"{prompt}end\"}}}}\n");
    let ran = Place::new(&[("flow.yaml", &flow)]).run(&["run", "flow.yaml"]);
    let told = crate::place::plain(&ran.err);
    assert_eq!(told.matches("    line\n").count(), 198, "{told}");
    assert!(told.contains("    … 102 more lines: `antiphon sessions events <id>` has them all\n"), "{told}");
}

#[test]
fn what_is_printed_to_be_run_is_one_argument_to_a_shell_whoever_chose_the_words() {
    let flow = "\
antiphon: 1
nodes:
  a: {human: {prompt: Which?, options: [\"red'; touch pwned; echo '\", \"a\\nb\", blue]}}
";
    let told = Place::new(&[("flow.yaml", flow)]).tell("run flow.yaml --store 'sqlite:an other.db'");
    let after = told.split_once("paused: ").map_or("", |(_, after)| after);
    expect![[r#"
        waiting for a person
          a  Which?
            antiphon resume <id> --store 'sqlite:an other.db' --answer 'a=red'\''; touch pwned; echo '\'''
            antiphon resume <id> --store 'sqlite:an other.db' --answer $'a=a\012b'
            antiphon resume <id> --store 'sqlite:an other.db' --answer 'a=blue'
    "#]]
    .assert_eq(after);
}

#[test]
fn what_an_agent_that_is_talked_with_asks_has_the_names_people_see() {
    let agent = "\
antiphon: 1
model: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: touch made}}}], [{text: done}]]}
tools: [bash]
";
    let place = Place::new(&[("agent.yaml", agent)]);
    place.run(&["chat", "--agent", "agent.yaml", "--input", "go"]);
    expect![[r#"
        $ resume last --approve foo
        exit 2
        session <id>
        error: nothing that is asked goes by foo; there are call_1_1:permission
        $ resume last --approve call_1_1
        exit 0
        done
        session <id>
        resumed
        approved by user
        $ resume last --approve call_1_1
        exit 2
        session <id>
        error: <id>/call_1_1:permission is not asked any more: it was approved by user
    "#]]
    .assert_eq(
        &place.tell(
            "resume last --approve foo\n resume last --approve call_1_1\n resume last --approve call_1_1",
        ),
    );
}
