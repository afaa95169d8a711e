//! The folder of a run: wherever it is gone on with, it works where it began, unless somebody says otherwise.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};

use crate::door;
use crate::place::{Place, plain};

/// Programs that say where they are, with people in between.
const FLOW: &str = "\
antiphon: 1
nodes:
  a: {command: [pwd]}
  gate: {human: ok?}
  b: {command: [pwd]}
  again: {human: ok?}
  c: {command: {run: [cat, name.txt], dir: .}}
edges: [a -> gate -> b -> again -> c]
output: \"[outputs.a, outputs.b, outputs.c]\"
";

/// An agent that asks somebody, and reads a file then.
const AGENT: &str = "\
antiphon: 1
tools: [ask, read]
model:
  provider: scripted
  replies:
    - [{tool_call: {name: ask, input: {question: Which?}}}]
    - [{tool_call: {name: read, input: {path: name.txt}}}]
    - [{text: done}]
";

/// Two folders, and one store.
fn place() -> Place {
    Place::new(&[
        ("one/flow.yaml", FLOW),
        ("one/agent.yaml", AGENT),
        ("one/name.txt", "first"),
        ("two/name.txt", "second"),
    ])
}

/// Runs commands, each after the folder it is run in, and tells what came of them.
fn tell(place: &Place, script: &str) -> String {
    let root = place.path().canonicalize().expect("it is there");
    let store = format!("sqlite:{}", root.join("store.db").display());
    let mut told = String::new();
    for line in script.lines().map(str::trim) {
        let (folder, args) = line.split_once(" $ ").expect("a folder and a command");
        let mut command = door::command(&args.split(' ').collect::<Vec<_>>());
        command.current_dir(root.join(folder)).env("ANTIPHON_STORE", &store);
        let ran = door::feed(command, b"");
        told.extend([line, "\n", &plain(&ran.told()).replace(&*root.to_string_lossy(), "ROOT")]);
    }
    told
}

fn check(place: &Place, script: &str, expected: Expect) {
    expected.assert_eq(&tell(place, script));
}

/// The files below a folder that hold a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("readable").path());
    let holds = files.filter(|path| fs::read_to_string(path).is_ok_and(|read| read.contains(text)));
    holds.map(|path| path.display().to_string()).collect()
}

#[test]
fn a_flow_goes_on_in_the_folder_it_began_in() {
    check(
        &place(),
        "one $ run flow.yaml
         two $ resume last --approve gate
         two $ resume last --approve again",
        expect![[r#"
            one $ run flow.yaml
            exit 3
            session <id>
            flow flow started
            a  started
            a  completed
            gate  started
            gate  asks: ok? (<id>/gate:1:1:ask)
            paused: waiting for a person
              gate  ok?
                a: ROOT/one
                antiphon resume <id> --approve gate
                antiphon resume <id> --deny gate --reason …
            two $ resume last --approve gate
            exit 3
            session <id>
            in the folder ROOT/one
            resumed
            gate  approved by user
            gate  completed
            b  started
            b  completed
            again  started
            again  asks: ok? (<id>/again:1:1:ask)
            paused: waiting for a person
              again  ok?
                b: ROOT/one
                antiphon resume <id> --approve again
                antiphon resume <id> --deny again --reason …
            two $ resume last --approve again
            exit 0
            ["ROOT/one","ROOT/one","first"]
            session <id>
            in the folder ROOT/one
            resumed
            again  approved by user
            again  completed
            c  started
            c  completed
            flow completed
        "#]],
    );
}

#[test]
fn where_the_folder_is_gone_it_says_so_and_goes_on_where_it_is_told_to() {
    let place = place();
    tell(&place, "one $ run flow.yaml");
    fs::rename(place.path().join("one"), place.path().join("gone")).expect("it is there");
    check(
        &place,
        "two $ resume last --approve gate
         two $ cancel last
         two $ resume last --folder ../none
         two $ resume last --approve gate --folder .
         gone $ resume last --approve again",
        expect![[r#"
            two $ resume last --approve gate
            exit 2
            session <id>
            error: the run cannot work in the folder ROOT/one: No such file or directory (os error 2): make it again, or go on in another one: antiphon resume <id> --folder DIR
            two $ cancel last
            exit 2
            error: the run cannot work in the folder ROOT/one: No such file or directory (os error 2): make it again, or go on in another one: antiphon resume <id> --folder DIR
            two $ resume last --folder ../none
            exit 2
            session <id>
            error: the run cannot work in the folder ../none: No such file or directory (os error 2)
            two $ resume last --approve gate --folder .
            exit 3
            session <id>
            resumed in ROOT/two
            gate  approved by user
            gate  completed
            b  started
            b  completed
            again  started
            again  asks: ok? (<id>/again:1:1:ask)
            paused: waiting for a person
              again  ok?
                b: ROOT/two
                antiphon resume <id> --approve again
                antiphon resume <id> --deny again --reason …
            gone $ resume last --approve again
            exit 0
            ["ROOT/one","ROOT/two","second"]
            session <id>
            in the folder ROOT/two
            resumed
            again  approved by user
            again  completed
            c  started
            c  completed
            flow completed
        "#]],
    );
}

#[test]
fn an_agent_reads_the_files_of_the_folder_it_began_in() {
    check(
        &place(),
        "one $ chat --agent agent.yaml --input go
         two $ resume last --answer call_1_1:question=blue
         two $ view messages last",
        expect![[r#"
            one $ chat --agent agent.yaml --input go
            exit 3
            session <id>
            ▸ ask Which? ?
            paused: waiting for a person
              Which?
                antiphon resume <id> --answer 'call_1_1:question=…'
            two $ resume last --answer call_1_1:question=blue
            exit 0
            done
            session <id>
            in the folder ROOT/one
            resumed
            answered blue by user
            two $ view messages last
            exit 0
            user
              go

            assistant
              ● ask call_1_1 question: Which?

            tool ask call_1_1
              blue

            assistant
              ● read call_2_1 path: name.txt

            tool read call_2_1
                 1 first

            assistant
              done
        "#]],
    );
}

#[test]
fn a_fixture_is_of_no_folder() {
    let place = place();
    tell(
        &place,
        "one $ run flow.yaml
         two $ resume last --approve gate --folder .
         one $ resume last --approve again
         one $ record last --to ../flow
         one $ chat --agent agent.yaml --input go
         one $ resume last --answer call_1_1:question=blue
         one $ record last --to ../agent",
    );
    for name in ["flow", "agent"] {
        let files = holding(&place.path().join(name), "\"folder\"");
        assert_eq!(files, Vec::<String>::new());
    }
    check(
        &place,
        "two $ test ../flow ../agent",
        expect![[r#"
            two $ test ../flow ../agent
            exit 0
            ../flow  same, 12 things compared
            ../agent  same, 9 things compared
            2 same, 0 changed
        "#]],
    );
}
