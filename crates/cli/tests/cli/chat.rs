//! `chat` without a terminal: messages in, replies out, and what happens when nobody is there to answer.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use regex::Regex;

use crate::door::feed;
use crate::place::{Place, plain};

/// Counts what was said to it, uses tools, fails, asks.
const AGENT: &str = "\
antiphon: 1
name: helper
model:
  provider: scripted
  replies:
    - {when: look, steps: [{text: I look.}, {tool_call: {id: c1, name: read, input: {path: notes.txt}}}]}
    - {when: tides, steps: [{text: It says tides.}, {usage: {input: 10, output: 5}}]}
    - {when: change, steps: [{tool_call: {id: c1, name: bash, input: {command: touch made}}}]}
    - {when: exit code, steps: [{text: Changed.}]}
    - {when: denied, steps: [{text: Then not.}]}
    - {when: colour, steps: [{tool_call: {id: c1, name: ask, input: {question: Which?, options: [red, blue]}}}]}
    - {when: blue, steps: [{text: Blue it is.}]}
    - {when: slowly, steps: [{tool_call: {id: c1, name: bash, input: {command: sh slow.sh}}}]}
    - {when: rewrite, steps: [{tool_call: {id: r1, name: read, input: {path: other.txt}}}]}
    - {when: waves, steps: [{tool_call: {id: w1, name: write, input: {path: other.txt, content: new}}}]}
    - {when: wrote, steps: [{text: It is new.}]}
    - {when: break, steps: [{error: the model is gone}]}
    - [{text: first}]
    - [{text: [sec, ond]}]
    - [{text: later}]
tools: [read, write, bash, ask]
permissions: [{allow: bash, command: sh slow.sh}]
";

/// Runs commands, each with what stands behind `<` on standard input (`|` for line breaks), and tells what came of it.
fn check(script: &str, expected: Expect) {
    let place = Place::new(&[
        ("agent.yaml", AGENT),
        ("notes.txt", "tides\n"),
        ("other.txt", "waves\n"),
        ("bad.yaml", "antiphon: 1\nmodle: x\n"),
        ("lost.yaml", "antiphon: 1\nmodel: {provider: scripted}\nskills: [nosuch, skills]\n"),
        ("skills/broken/SKILL.md", "no front matter\n"),
    ]);
    let mut told = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (command, input) = line.split_once(" < ").unwrap_or((line, ""));
        let args: Vec<&str> = command.split_whitespace().collect();
        let mut command = place.command(&args);
        for name in ["ANTIPHON_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
            command.env_remove(name);
        }
        let input = input.replace('|', "\n");
        told.extend(["$ ", line, "\n", &plain(&feed(command, input.as_bytes()).told())]);
    }
    let told = told.replace(place.path().to_str().expect("a plain name"), "<folder>");
    let took = Regex::new(r"([✓✗]) \d+(\.\d)? m?s").expect("a pattern");
    expected.assert_eq(&took.replace_all(&told, "$1"));
}

#[test]
fn each_line_is_a_message_and_the_session_goes_on() {
    check(
        "chat --agent agent.yaml < hello||again
         chat --session last < once more
         chat --session last --input hello
         chat --session last --model scripted --input hello",
        expect![[r#"
            $ chat --agent agent.yaml < hello||again
            exit 0
            first
            second
            session <id>
            $ chat --session last < once more
            exit 0
            later
            $ chat --session last --input hello
            exit 0
            later
            $ chat --session last --model scripted --input hello
            exit 0
            I am a scripted model: I need no key and no network, and this is all I can say. `antiphon chat --agent examples/agents/offline.yaml` shows more.
        "#]],
    );
}

#[test]
fn the_session_is_free_as_soon_as_a_turn_is_over() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let ran = feed(place.command(&["chat", "--agent", "agent.yaml"]), "hello\n".repeat(100).as_bytes());
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 100), "{}", ran.err);
}

#[test]
fn replies_go_to_standard_output_and_the_rest_to_standard_error() {
    check(
        "chat --agent agent.yaml --input look",
        expect![[r#"
        $ chat --agent agent.yaml --input look
        exit 0
        It says tides.
        session <id>
        I look.

        ▸ read notes.txt ✓
    "#]],
    );
}

#[test]
fn what_was_read_may_be_changed_by_whoever_goes_on() {
    check(
        "chat --agent agent.yaml < rewrite
         resume last --approve w1:permission",
        expect![[r#"
            $ chat --agent agent.yaml < rewrite
            exit 3
            session <id>
            ▸ read other.txt ✓
            ▸ write other.txt ?
            paused: waiting for a person
              write other.txt
                content: new
                write: no rule allows writing `other.txt` (really `<folder>/other.txt`)
                antiphon resume <id> --approve w1:permission
                antiphon resume <id> --deny w1:permission --reason …
            $ resume last --approve w1:permission
            exit 0
            It is new.
            session <id>
            resumed
            approved by user
        "#]],
    );
}

#[test]
fn a_fork_of_a_conversation_is_talked_with_like_any_other() {
    check(
        "chat --agent agent.yaml < hello||again
         fork last --at 8 --branch other
         chat --session last --branch other < hello
         chat --session last --branch other < change it
         resume last --branch other --deny c1:permission
         chat --session last --branch none < hello
         chat --branch other < hello
         view messages last --branch other",
        expect![[r#"
            $ chat --agent agent.yaml < hello||again
            exit 0
            first
            second
            session <id>
            $ fork last --at 8 --branch other
            exit 0
            other
            $ chat --session last --branch other < hello
            exit 0
            second
            later
            $ chat --session last --branch other < change it
            exit 3
            ▸ bash touch made ?
            paused: waiting for a person
              bash touch made
                bash: no rule allows `touch made`
                antiphon resume <id> --branch other --approve c1:permission
                antiphon resume <id> --branch other --deny c1:permission --reason …
            $ resume last --branch other --deny c1:permission
            exit 0
            Then not.
            session <id>
            resumed
            denied by user
            $ chat --session last --branch none < hello
            exit 2
            error: there is no branch <id>/none
            $ chat --branch other < hello
            exit 2
            error: the following required arguments were not provided:
              --session <ID>

            Usage: antiphon chat --session <ID> --branch <BRANCH>

            For more information, try '--help'.
            $ view messages last --branch other
            exit 0
            user
              hello

            assistant
              first

            user
              again

            assistant
              second

            user
              hello

            assistant
              later

            user
              change it

            assistant
              ● bash c1 command: touch made

            tool bash c1
              {"error":"denied: user said no","code":"denied"}

            assistant
              Then not.
        "#]],
    );
}

#[test]
fn a_yes_from_elsewhere_may_hold_for_longer() {
    check(
        "chat --agent agent.yaml < change it
         resume last --approve c1:permission --always session
         chat --session last < change it
         chat --session last < colour
         resume last --approve c1:question --always project
         resume last --answer c1:question=red --always project",
        expect![[r#"
            $ chat --agent agent.yaml < change it
            exit 3
            session <id>
            ▸ bash touch made ?
            paused: waiting for a person
              bash touch made
                bash: no rule allows `touch made`
                antiphon resume <id> --approve c1:permission
                antiphon resume <id> --deny c1:permission --reason …
            $ resume last --approve c1:permission --always session
            exit 0
            Changed.
            session <id>
            resumed
            approved by user
            $ chat --session last < change it
            exit 0
            Changed.
            ▸ bash touch made ✓
            $ chat --session last < colour
            exit 3
            ▸ ask Which? ?
            paused: waiting for a person
              Which?
                antiphon resume <id> --answer 'c1:question=red'
                antiphon resume <id> --answer 'c1:question=blue'
            $ resume last --approve c1:question --always project
            exit 2
            session <id>
            error: <id>/c1:question is asked once: only a permission can be given for longer (--always)
            $ resume last --answer c1:question=red --always project
            exit 2
            error: the following required arguments were not provided:
              --approve <ID>

            Usage: antiphon resume --approve <ID> --answer <ID=TEXT> --always <WHERE> <SESSION>

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn what_needs_a_person_ends_the_chat_and_can_be_answered_later() {
    check(
        "chat --agent agent.yaml < change it|never said
         chat --session last < more
         resume last --approve c1:permission
         chat --session last < hello
         chat --session last < change it
         resume last --deny c1:permission --reason no
         chat --session last < colour
         resume last --answer c1:question=blue",
        expect![[r#"
            $ chat --agent agent.yaml < change it|never said
            exit 3
            session <id>
            ▸ bash touch made ?
            paused: waiting for a person
              bash touch made
                bash: no rule allows `touch made`
                antiphon resume <id> --approve c1:permission
                antiphon resume <id> --deny c1:permission --reason …
            $ chat --session last < more
            exit 3
            ▸ bash touch made ?
            paused: waiting for a person
              bash touch made
                bash: no rule allows `touch made`
                antiphon resume <id> --approve c1:permission
                antiphon resume <id> --deny c1:permission --reason …
            $ resume last --approve c1:permission
            exit 0
            Changed.
            session <id>
            resumed
            approved by user
            $ chat --session last < hello
            exit 0
            later
            $ chat --session last < change it
            exit 3
            ▸ bash touch made ?
            paused: waiting for a person
              bash touch made
                bash: no rule allows `touch made`
                antiphon resume <id> --approve c1:permission
                antiphon resume <id> --deny c1:permission --reason …
            $ resume last --deny c1:permission --reason no
            exit 0
            Then not.
            session <id>
            resumed
            denied by user: no
            $ chat --session last < colour
            exit 3
            ▸ ask Which? ?
            paused: waiting for a person
              Which?
                antiphon resume <id> --answer 'c1:question=red'
                antiphon resume <id> --answer 'c1:question=blue'
            $ resume last --answer c1:question=blue
            exit 0
            Blue it is.
            session <id>
            resumed
            answered blue by user
        "#]],
    );
}

#[test]
fn a_turn_that_fails_is_the_last_one() {
    check(
        "chat --agent agent.yaml < break|never said",
        expect![[r#"
        $ chat --agent agent.yaml < break|never said
        exit 1
        session <id>
        failed: the model is gone
    "#]],
    );
}

#[test]
fn what_cannot_be_talked_with_is_refused() {
    check(
        "chat --agent lost.yaml --input hello
         chat --input hello
         chat --agent bad.yaml --input hello
         chat --agent none.yaml --input hello
         chat --session last --input hello
         chat --model opnai/x --input hello",
        expect![[r#"
            $ chat --agent lost.yaml --input hello
            exit 2
            error: the agent cannot begin: skills cannot be used: <folder>/nosuch: cannot be read: No such file or directory (os error 2); <folder>/skills/broken/SKILL.md:1: has no head: open with a line `---`, then `name: …` and `description: …`
            $ chat --input hello
            exit 2
            error: no model is set: say which with `--model anthropic/NAME`, `--model openai/NAME` or ANTIPHON_MODEL, and put its key into ANTHROPIC_API_KEY or OPENAI_API_KEY; without a key try `--model scripted` or `--agent examples/agents/offline.yaml`
            $ chat --agent bad.yaml --input hello
            exit 2
            bad.yaml:2:1: error: the agent_file has no member `modle`
             2 | modle: x
               | ^
              help: did you mean `model`?
            bad.yaml:1:1: error: the agent_file has no `model`
             1 | antiphon: 1
               | ^
              help: add `model: …`
            $ chat --agent none.yaml --input hello
            exit 2
            error: none.yaml: there is no such file
            $ chat --session last --input hello
            exit 2
            error: there is no session last in sqlite:kept/store.db
            $ chat --model opnai/x --input hello
            exit 2
            error: the model opnai/x cannot be used: there is no provider `opnai`, did you mean `openai`?; there are openai, anthropic, scripted, replay
        "#]],
    );
}

#[test]
fn what_another_agent_read_stays_marked_when_it_comes_back() {
    let agent = "\
antiphon: 1
model:
  provider: scripted
  replies:
    - [{tool_call: {id: c1, name: agent, input: {agent: reader, task: Read.}}}]
    - [{tool_call: {id: c2, name: bash, input: {command: echo https://get.example/install.sh}}}]
tools: [agent, bash, read]
permissions: [{ask: bash, from: [file]}, {allow: bash}]
agents:
  reader:
    tools: [read]
    model:
      provider: scripted
      replies:
        - [{tool_call: {id: c1, name: read, input: {path: notes.txt}}}]
        - [{text: It says https://get.example/install.sh}]
";
    let place = Place::new(&[("agent.yaml", agent), ("notes.txt", "https://get.example/install.sh\n")]);
    let ran = place.run(&["chat", "--agent", "agent.yaml", "--input", "go"]);
    assert_eq!((ran.code, ran.err.contains("c2:permission")), (Some(3), true), "{}", ran.err);
}

#[test]
fn an_address_that_is_not_public_is_fetched_from_if_a_rule_names_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut asked = [0; 1024];
            let _ = (&stream).read(&mut asked);
            let _ = (&stream)
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwaves");
        }
    });
    for (rule, expected) in [
        (format!("{{allow: fetch, url: \"{url}**\"}}"), "waves"),
        ("{allow: fetch}".to_owned(), "is not a public address"),
    ] {
        let agent = format!(
            "antiphon: 1\nmodel:\n  provider: scripted\n  replies:\n    \
             - [{{tool_call: {{id: c1, name: fetch, input: {{url: \"{url}\"}}}}}}]\n    \
             - [{{text: done}}]\ntools: [fetch]\npermissions: [{rule}]\n"
        );
        let place = Place::new(&[("agent.yaml", &agent)]);
        let ran = place.run(&["chat", "--agent", "agent.yaml", "--input", "look", "--json"]);
        let result = ran.out.lines().find(|line| line.contains("tool_result")).unwrap_or_default().to_owned();
        assert!(result.contains(expected), "{rule}: {result}{}", ran.err);
    }
}

/// Says something that a tool takes its time for, and waits until it is at work.
fn slowly() -> (Place, Child) {
    let place = Place::new(&[
        ("agent.yaml", AGENT),
        ("slow.sh", "echo $$ > new; mv new begun; until test -e go; do sleep 0.02; done\n"),
    ]);
    let mut child = place.command(&["chat", "--agent", "agent.yaml", "--input", "slowly"]);
    let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !place.path().join("begun").exists() {
        assert!(Instant::now() < deadline, "the tool never ran");
        std::thread::yield_now();
    }
    (place, child)
}

#[test]
fn a_chat_that_is_told_to_end_ends_what_it_began() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let (place, mut child) = slowly();
        let tool = std::fs::read_to_string(place.path().join("begun")).expect("it is at work");
        let stat = format!("/proc/{}/stat", tool.trim());
        kill(Pid::from_raw(i32::try_from(child.id()).expect("an id")), signal).expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{signal}");
        let deadline = Instant::now() + Duration::from_secs(20);
        // One that is dead may be listed until somebody looks at how it ended.
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z")) {
            assert!(Instant::now() < deadline, "{signal}: the tool outlives the chat");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_chat_that_was_killed_goes_on_where_it_was() {
    let (place, mut child) = slowly();
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    place.write("go", "");
    let told = [
        "chat --session last",
        "resume last --answer 'c1:in_doubt=run again'",
        "chat --session last --input hello",
    ];
    expect![[r#"
        $ chat --session last
        exit 3
        ▸ bash sh slow.sh ?
        paused: waiting for a person
          bash sh slow.sh
            `bash` had started, and nobody knows whether it did its work
            antiphon resume <id> --answer 'c1:in_doubt=run again'
            antiphon resume <id> --answer 'c1:in_doubt=take as done'
            antiphon resume <id> --answer 'c1:in_doubt=fail'
        $ resume last --answer 'c1:in_doubt=run again'
        exit 0
        Changed.
        session <id>
        resumed
        answered run again by user
        $ chat --session last --input hello
        exit 0
        later
    "#]]
    .assert_eq(&place.tell(&told.join("\n")));
}

#[test]
fn events_are_lines_for_programs() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let ran = place.run(&["chat", "--agent", "agent.yaml", "--json", "--input", "hello"]);
    let kinds = ran.out.lines().map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
        event["type"].as_str().expect("an event has a type").to_owned()
    });
    let kinds: Vec<String> = kinds.collect();
    assert_eq!(
        kinds,
        ["session_created", "user", "harness_start", "text", "usage", "harness_end"],
        "{}",
        ran.err
    );
}

#[test]
fn a_session_goes_on_with_its_agent_and_not_with_one_that_it_called() {
    let agent = "\
antiphon: 1
name: lead
model:
  provider: scripted
  replies:
    - {when: begin, steps: [{tool_call: {id: c1, name: agent, input: {agent: hand, task: work}}}]}
    - [{text: the lead}]
agents: {hand: {model: {provider: scripted, replies: [[{text: the hand}]]}}}
";
    let place = Place::new(&[("agent.yaml", agent)]);
    let mut told = place.run(&["chat", "--agent", "agent.yaml", "--input", "begin"]).out;
    told += &place.run(&["chat", "--session", "last", "--input", "go on"]).out;
    assert_eq!(told, "the lead\nthe lead\n");
}

#[test]
fn a_turn_that_waits_can_be_cancelled_and_the_list_says_so() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let status = || {
        let listed = place.run(&["sessions", "ls"]).out;
        let words = ["waiting", "cancelled", "completed"];
        words.into_iter().filter(|word| listed.contains(word)).collect::<Vec<_>>().join(" ")
    };
    place.run(&["chat", "--agent", "agent.yaml", "--input", "change it"]);
    assert_eq!(status(), "waiting");
    let cancelled = place.run(&["cancel", "last", "--now"]);
    assert_eq!((cancelled.code, status().as_str()), (Some(0), "cancelled"), "{}", cancelled.err);
    let again = place.run(&["cancel", "last"]);
    assert_eq!((again.code, again.err.contains("has ended: cancelled")), (Some(2), true), "{}", again.err);
    place.run(&["chat", "--session", "last", "--input", "hello"]);
    assert_eq!(status(), "completed");
}

#[test]
fn all_that_a_command_has_printed_so_far_is_seen_while_it_runs() {
    let agent = AGENT
        .replace("command: sh slow.sh}}}", "command: sh talk.sh}}}")
        .replace("sh slow.sh}]", "sh talk.sh}]");
    let place = Place::new(&[
        ("agent.yaml", &agent),
        ("talk.sh", "echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three"),
    ]);
    let ran = place.run(&["chat", "--agent", "agent.yaml", "--input", "slowly", "--json"]);
    let before = |line: &&str| !line.contains(r#""type":"tool_result""#);
    let events: String = ran.out.lines().take_while(before).map(|line| format!("{line}\n")).collect();
    for view in ["tools", "thread"] {
        let shown = feed(place.command(&["view", view, "-"]), events.as_bytes()).out;
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.windows(4).any(|words| words == ["…", "one", "two", "three"]), "{view}: {shown}");
    }
}

#[test]
fn how_long_a_model_is_waited_for_is_told() {
    let fails = "{error: {message: too many, code: rate_limited, retryable: true, retry_after: 1200}}";
    let agent =
        format!("antiphon: 1\nmodel: {{provider: scripted, replies: [[{fails}], [{{text: done}}]]}}\n");
    let flow = format!(
        "antiphon: 1\nnodes: {{work: {{agent: {{model: {{provider: scripted, replies: [[{fails}], [{{text: done}}]]}}}}}}}}\n"
    );
    let place = Place::new(&[("agent.yaml", &agent), ("flow.yaml", &flow)]);
    for args in
        [&["chat", "--agent", "agent.yaml", "--input", "hi"][..], &["run", "flow.yaml", "--input", "hi"]]
    {
        let ran = place.run(args);
        assert_eq!(ran.out, "done\n", "{}", ran.err);
        let told = "once more in 1.2 s, for the last try failed: too many";
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
    }
}
