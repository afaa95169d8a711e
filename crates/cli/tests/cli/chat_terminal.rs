//! `chat` on a terminal, which `tmux` plays: streaming, one-key approvals, Ctrl-C, a session that goes on.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::place::Place;
use crate::terminal::Terminal;

const AGENT: &str = "\
antiphon: 1
name: helper
model:
  provider: scripted
  replies:
    - {when: /^stream/, steps: [{text: \"# Title\\n\\nSome **bold\"}, {delay: 1500}, {text: \"** words.\\n\"}]}
    - {when: /^change/, steps: [{tool_call: {name: bash, input: {command: touch made}}}]}
    - {when: /^undo/, steps: [{tool_call: {name: bash, input: {command: rm made}}}]}
    - {when: exit code, steps: [{text: It is done.}]}
    - {when: too dangerous, steps: [{text: Then not.}]}
    - {when: /^choose/, steps: [{tool_call: {name: ask, input: {question: Which colour?, options: [red, blue]}}}]}
    - {when: /^blue/, steps: [{text: Blue it is.}]}
    - {when: /^dig/, steps: [{text: I dig}, {delay: 1500}, {text: .}]}
    - {when: /^deeper/, steps: [{text: I dig deeper.}]}
    - {when: /^then/, steps: [{text: Then I rest.}]}
    - {when: /^wait/, steps: [{text: I begin}, {delay: 60000}, {text: never}]}
    - [{text: Hello to you.}]
tools: [bash, ask]
";

fn keys(terminal: &Terminal<'_>, keys: &[&str]) {
    terminal.tmux(&[&["send-keys"], keys].concat());
}

/// A terminal with a chat in it, if there is `tmux`.
fn chat<'p>(place: &'p Place, args: &[&str]) -> Option<Terminal<'p>> {
    Command::new("tmux").arg("-V").output().ok()?;
    let terminal = Terminal::start(place, &[&["chat"], args].concat());
    terminal.until(&["/help lists commands"]);
    Some(terminal)
}

#[test]
fn a_reply_streams_and_keeps_its_place_on_a_narrow_terminal() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let Some(terminal) = chat(&place, &["--agent", "agent.yaml"]) else { return };
    keys(&terminal, &["stream", "Enter"]);
    terminal.until(&["Title", "Some **bold"]);
    terminal.tmux(&["resize-window", "-x", "12", "-y", "24"]);
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]);
    let screen = terminal.until(&["Some bold words."]);
    assert_eq!(screen.matches("Title").count(), 1, "{screen}");
    assert_eq!(screen.matches("Some").count(), 1, "{screen}");
}

#[test]
fn one_key_decides_and_may_decide_for_the_session() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let Some(terminal) = chat(&place, &["--agent", "agent.yaml"]) else { return };
    keys(&terminal, &["change", "Enter"]);
    terminal.until(&["? bash touch made", "y yes · s for this session"]);
    keys(&terminal, &["x"]);
    keys(&terminal, &["v"]);
    terminal.until(&["command: touch made"]);
    keys(&terminal, &["s"]);
    terminal.until(&["→ yes, for this session", "▸ bash touch made ✓", "It is done."]);
    assert!(place.path().join("made").exists());
    keys(&terminal, &["change again", "Enter"]);
    let screen = terminal.until(&["> change again", "It is done.\n\n>\n"]);
    assert_eq!(screen.matches("y yes").count(), 2, "asked once and shown whole once: {screen}");
    keys(&terminal, &["undo", "Enter"]);
    terminal.until(&["? bash rm made"]);
    keys(&terminal, &["n"]);
    terminal.until(&["no, because"]);
    keys(&terminal, &["too dangerous", "Enter"]);
    terminal.until(&["▸ bash rm made ✗", "Then not."]);
    // Whoever asked for words has given the terminal back.
    keys(&terminal, &["wait", "Enter"]);
    terminal.until(&["I begin"]);
    keys(&terminal, &["C-c"]);
    terminal.until(&["stopped\n\n>\n"]);
    keys(&terminal, &["choose", "Enter"]);
    terminal.until(&["? Which colour?", "1 red", "2 blue"]);
    keys(&terminal, &["2"]);
    terminal.until(&["→ blue", "Blue it is."]);
}

#[test]
fn what_is_typed_while_it_works_is_heard_or_kept_for_the_next_turn() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let Some(terminal) = chat(&place, &["--agent", "agent.yaml"]) else { return };
    keys(&terminal, &["dig", "Enter"]);
    terminal.until(&["I dig"]);
    keys(&terminal, &["then rest"]);
    terminal.until(&["> then rest"]);
    keys(&terminal, &["Tab"]);
    terminal.until(&["> then rest  (for the next turn)"]);
    keys(&terminal, &["deeper", "Enter"]);
    terminal.until(&["I dig deeper."]);
    let screen = terminal.until(&["Then I rest.\n\n>\n"]);
    let order = ["I dig.", "I dig deeper.", "Then I rest."].map(|words| screen.find(words));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{screen}");
}

#[test]
fn ctrl_c_stops_the_turn_and_the_session_goes_on_in_another_process() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let Some(terminal) = chat(&place, &["--agent", "agent.yaml"]) else { return };
    keys(&terminal, &["wait", "Enter"]);
    terminal.until(&["I begin"]);
    keys(&terminal, &["C-c"]);
    terminal.until(&["stopped\n\n>\n"]);
    keys(&terminal, &["change", "Enter"]);
    terminal.until(&["? bash touch made"]);
    keys(&terminal, &["C-c"]);
    terminal.until(&["not run: the agent was cancelled", "stopped\n\n>\n"]);
    keys(&terminal, &["half a line", "C-c"]);
    terminal.until(&["half a line", "Ctrl-C again or Ctrl-D to leave"]);
    keys(&terminal, &["hello", "Enter"]);
    terminal.until(&["Hello to you."]);
    keys(&terminal, &["/sesion", "Enter"]);
    terminal.until(&["did you mean /session?"]);
    keys(&terminal, &["C-d"]);
    terminal.until(&["go on with: antiphon chat --session", "exit 0"]);
    terminal.again(&["chat", "--session", "last"]);
    terminal.until(&["· session", "/help lists commands"]);
    keys(&terminal, &["/thread", "Enter"]);
    terminal.until(&["helper", "Hello to you."]);
    keys(&terminal, &["Up", "Up"]);
    terminal.until(&["> /sesion"]);
    keys(&terminal, &["C-c"]);
    terminal.until(&["Ctrl-C again or Ctrl-D to leave)\n>\n"]);
    keys(&terminal, &["C-c"]);
    terminal.until(&["exit 0"]);
}

#[test]
fn a_turn_that_was_cut_off_is_taken_up() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let ran = place.run(&["chat", "--agent", "agent.yaml", "--input", "change"]);
    assert_eq!(ran.code, Some(3), "{}", ran.told());
    let Some(terminal) = chat(&place, &["--session", "last"]) else { return };
    terminal.until(&["? bash touch made"]);
    keys(&terminal, &["y"]);
    terminal.until(&["→ yes", "▸ bash touch made ✓", "It is done."]);
}

#[test]
fn a_chat_ends_with_its_terminal() {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let Some(terminal) = chat(&place, &["--agent", "agent.yaml"]) else { return };
    keys(&terminal, &["wait", "Enter"]);
    terminal.until(&["I begin"]);
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let shell = shell.trim();
    let started = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).expect("it runs");
    let chat = format!("/proc/{}/stat", started.trim());
    assert!(std::fs::exists(&chat).expect("a process"), "{started}");
    drop(terminal);
    let deadline = Instant::now() + Duration::from_secs(20);
    while std::fs::read_to_string(&chat).is_ok_and(|stat| !stat.contains(") Z")) {
        assert!(Instant::now() < deadline, "the chat outlives its terminal");
        std::thread::yield_now();
    }
}
