//! What holds whatever happens: no panic, replay = live, one result for each call, an end that can always be had.
//! The laws themselves are those of [`Table`], checked after every line.

use antiphon_agent::machine::Open;
use proptest::prelude::*;

use crate::read::Setup;
use crate::table::Table;

/// Agents with everything that makes a difference to the loop.
const AGENTS: [&str; 5] = [
    "max 2; limit max_parallel_tools 2; limit max_agents 2; retries 1",
    "max 1; on_limit ask; limit relay_timeout_ms 50; limit max_calls 2",
    "compact 20 keep 1; limit max_result_chars 4; retries 0; user hello; agent hi; user go",
    "output {\"type\":\"integer\"}; limit max_repairs 1; max 3",
    "harness rlm; max 3; limit max_parallel_tools 2; limit max_agents 2; output {\"type\":\"integer\"}",
];

const TOOLS: &str = "tool read read; tool bash write; tool agent write; tool ask write; tool handoff write; \
                     tool rm write; rule allow read; rule deny rm; rule allow agent";

fn setup(which: usize) -> Setup {
    let lines: Vec<&str> = TOOLS.split("; ").chain(AGENTS[which % AGENTS.len()].split("; ")).collect();
    Setup::read(&lines)
}

/// Something that happens: which kind of thing, and to which of the things it can happen to.
type Step = (u8, u8);

/// What happens as a line of a script.
fn line(table: &Table, (kind, pick): Step) -> String {
    let pick = pick as usize;
    let of = |list: &[&str]| list[pick % list.len()].to_owned();
    let call = call(table, pick);
    let about = about(table, pick);
    match kind % 26 {
        0 => "says word".to_owned(),
        1 => of(&["thinks so", "signs s", "says 1"]),
        2 | 3 => of(&[
            "calls a read {} & b bash {}",
            "calls a read {} & a read {} & a~2 bash {}",
            "calls c bash {",
        ]),
        4 => of(&[
            "calls d agent {} & e agent {} & f agent {}",
            "calls g ask {} & h ask {}",
            "calls i handoff {}",
        ]),
        5 => of(&["calls j rm {} & k nothing [1]", "calls i handoff {} & i handoff {} & a bash {}"]),
        6..=8 => of(&["replies 10/5", "replies 30/5", "replies 30/5 cut"]),
        9 => of(&["fails overloaded retry", "fails overloaded retry after 1", "fails authentication"]),
        10..=12 => format!("{call} {}", of(&["gives 1", "finds something long", "fails badly", "reports 2"])),
        13 => format!("lost {call}"),
        14 | 15 => {
            format!("allow {about}{}", of(&["", " always session", " always project", " with {\"x\":1}"]))
        }
        16 => format!("deny {about} because {}", of(&["no", "never"])),
        17 => format!("answer {about} {}", of(&["\"run again\"", "\"take as done\"", "\"fail\"", "7", ""])),
        18 => of(&["time 10", "time 100"]),
        19 => format!("expire {about}"),
        20 => of(&["resume", "resume", "summary of it", "summary fails", "start", "user and more"]),
        21 | 22 => of(&["writes 1", "code prints x", "code gives 1", "code gives one"]),
        23 => of(&["code execs 0 ls", "code execs 1 rm", "code asks 2 a", "code asks 3 b", "code asks 4 c"]),
        24 => of(&["writes 1", "replies 10/5", "code throws up", "code ends well", "code warns y"]),
        _ => of(&["resume", "says x", "says y", "cancel graceful", "spent", "summary all"]),
    }
}

/// One of the calls under way, or one that nobody made.
fn call(table: &Table, pick: usize) -> String {
    let open = table.agent.open();
    let mut calls: Vec<&str> = open
        .iter()
        .filter_map(|open| match open {
            Open::Call(call) | Open::Agent(call) => call.as_str().strip_prefix("r/"),
            Open::Ask | Open::Wait(_) | Open::Code(_) | Open::Watch(..) => None,
        })
        .collect();
    calls.push("a");
    calls[pick % calls.len()].to_owned()
}

/// What one of the pending requests is about.
fn about(table: &Table, pick: usize) -> String {
    let pending = table.agent.relays().filter_map(|relay| relay.as_str().strip_prefix("r/"));
    let about = pending.filter_map(|relay| relay.rsplit_once(':').map(|(about, _)| about));
    let mut about: Vec<&str> = about.map(|about| if about == "continue" { "go_on" } else { about }).collect();
    about.push("a");
    about[pick % about.len()].to_owned()
}

fn play(which: usize, steps: &[Step]) -> Table {
    let mut table = Table::new(setup(which));
    table.step("start");
    for step in steps {
        let line = line(&table, *step);
        table.step(&line);
    }
    table
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 0..40)
}

/// Ends a run that has not ended.
fn end(table: &mut Table) {
    if table.agent.ended().is_none() {
        table.step("cancel now");
    }
    assert!(table.agent.ended().is_some(), "a run that is cancelled now has ended");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_a_run_keeps_its_laws_and_can_be_ended(which in 0..5_usize, steps in steps()) {
        let mut table = play(which, &steps);
        end(&mut table);
    }

    #[test]
    fn wherever_the_process_dies_another_one_goes_on(
        which in 0..5_usize,
        steps in steps(),
        at in any::<prop::sample::Index>(),
        more in steps(),
    ) {
        let table = play(which, &steps);
        let appends = 1 + at.index(table.appends.len());
        let mut table = table.after_crash(appends);
        if table.agent.ended().is_none() {
            table.step("resume");
            for open in table.agent.open() {
                if let Open::Call(call) = open {
                    let call = call.as_str().strip_prefix("r/").expect("a call of the run");
                    table.step(&format!("lost {call}"));
                }
            }
            for step in more {
                let line = line(&table, step);
                table.step(&line);
            }
            end(&mut table);
        }
    }
}
