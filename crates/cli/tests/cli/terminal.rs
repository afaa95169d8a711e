//! `run` on a terminal, which `tmux` plays: the tree, a resize, a question.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::place::Place;

const FLOW: &str = "\
antiphon: 1
models:
  script: {provider: scripted, replies: [[{text: \"thinking about it\"}, {delay: 400}, {usage: {input: 1000, output: 234}}]]}
nodes:
  talk: {agent: {model: script}}
  wait: {command: [sh, -c, 'until test -e go; do sleep 0.02; done'], effect: pure}
  gate: {human: {prompt: \"Publish?\"}}
  tell: {function: \"outputs.gate.approved ? 'published' : 'kept'\"}
edges: [talk -> gate, wait -> gate, gate -> tell]
";

/// A terminal with the binary in it.
pub(crate) struct Terminal<'p> {
    place: &'p Place,
}

impl<'p> Terminal<'p> {
    pub(crate) fn start(place: &'p Place, args: &[&str]) -> Self {
        let terminal = Self { place };
        let line = line(args);
        let store = "ANTIPHON_STORE=sqlite:kept/store.db";
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-e", store, &line]);
        terminal
    }

    /// Runs the binary once more, on an empty screen.
    pub(crate) fn again(&self, args: &[&str]) {
        self.tmux(&["respawn-pane", "-k", &line(args)]);
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let socket = self.place.path().join("tmux");
        let mut command = Command::new("tmux");
        command.arg("-S").arg(socket).args(args).current_dir(self.place.path());
        let output = command.output().expect("tmux runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The screen, once it shows all of this.
    pub(crate) fn until(&self, words: &[&str]) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if words.iter().all(|word| screen.contains(word)) {
                return screen;
            }
            assert!(Instant::now() < deadline, "no {words:?} in:\n{screen}");
            std::thread::yield_now();
        }
    }
}

/// Runs the binary, says how it exited, and keeps the terminal open.
fn line(args: &[&str]) -> String {
    format!("{} {}; echo exit $?; cat", env!("CARGO_BIN_EXE_antiphon"), args.join(" "))
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_tree_is_drawn_in_place_also_after_a_resize_and_questions_are_asked_inline() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return;
    }
    let place = Place::new(&[("flow.yaml", FLOW)]);
    let terminal = Terminal::start(&place, &["run", "flow.yaml"]);
    terminal.until(&["talk  agent", "thinking about it", "wait  command"]);
    let screen = terminal.until(&["✓ talk  agent", "1,234 tokens"]);
    assert_eq!(screen.matches("wait  command").count(), 1, "{screen}");
    terminal.tmux(&["resize-window", "-x", "20", "-y", "24"]);
    let screen = terminal.until(&["✓ talk", "wait"]);
    assert_eq!((screen.matches(" talk").count(), screen.matches(" wait").count()), (1, 1), "{screen}");
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]);
    terminal.until(&["1,234 tokens"]);
    place.write("go", "");
    terminal.until(&["? gate  Publish?", "talk: thinking about it", "yes or no"]);
    terminal.tmux(&["send-keys", "perhaps", "Enter"]);
    terminal.until(&["answer with yes or no"]);
    terminal.tmux(&["send-keys", "y", "Enter"]);
    let screen = terminal.until(&["✓ tell  function", "published", "exit 0"]);
    assert_eq!(screen.matches("✓ talk").count(), 1, "{screen}");
}

#[test]
fn the_end_of_input_leaves_a_question_open() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return;
    }
    let place = Place::new(&[("flow.yaml", FLOW), ("go", "")]);
    let terminal = Terminal::start(&place, &["run", "flow.yaml"]);
    terminal.until(&["? gate  Publish?"]);
    terminal.tmux(&["send-keys", "C-d"]);
    terminal.until(&["paused: waiting for a person", "--approve gate", "exit 3"]);
}

#[test]
fn what_an_agent_asks_is_answered_in_words() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return;
    }
    let place = Place::new(&[("asks.yaml", crate::people::ASKS)]);
    let terminal = Terminal::start(&place, &["run", "asks.yaml"]);
    terminal.until(&["? a  Which colour?", "  answer:"]);
    terminal.tmux(&["send-keys", "no idea", "Enter"]);
    terminal.until(&["? b  Which?", "1) red", "1-2:"]);
    terminal.tmux(&["send-keys", "green", "Enter"]);
    terminal.until(&["answer with one of: red, blue"]);
    terminal.tmux(&["send-keys", "2", "Enter"]);
    terminal.until(&["✓ b  agent", "fine", "exit 0"]);
}

#[test]
fn a_terminal_that_moves_no_cursor_gets_lines_and_is_asked_all_the_same() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return;
    }
    let place = Place::new(&[("flow.yaml", FLOW), ("go", "")]);
    let terminal = Terminal::start(&place, &["sessions", "ls"]);
    terminal.until(&["(no sessions)"]);
    terminal.tmux(&["respawn-pane", "-k", &format!("export TERM=dumb; {}", line(&["run", "flow.yaml"]))]);
    terminal.until(&["talk  started", "wait  completed", "? gate  Publish?"]);
    terminal.tmux(&["send-keys", "y", "Enter"]);
    terminal.until(&["gate  approved by user", "flow completed", "exit 0"]);
}

#[test]
fn what_is_asked_is_shown_whole_or_with_how_much_is_left_out_and_the_key_for_it() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return;
    }
    let words: String = (0..150).map(|n| format!("word{n} ")).collect();
    let flow = format!(
        "\
antiphon: 1
models: {{m: {{provider: scripted, replies: [[{{tool_call: {{name: bash, input: {{command: \"echo {words}; touch evil\"}}}}}}], [{{text: ok}}]]}}}}
nodes:
  a: {{agent: {{model: m, tools: [bash]}}}}
"
    );
    let place = Place::new(&[("flow.yaml", &flow)]);
    let terminal = Terminal::start(&place, &["run", "flow.yaml"]);
    let screen = terminal.until(&["? a  bash echo word0", "; touch evil", "no rule allows", "yes or no"]);
    assert!(!screen.contains("more lines"), "{screen}");
    terminal.tmux(&["send-keys", "C-d"]);
    terminal.until(&["exit 3"]);
    terminal.tmux(&["resize-window", "-x", "80", "-y", "12"]);
    terminal.again(&["resume", "last"]);
    let screen = terminal.until(&["more lines: v shows them", "yes or no"]);
    assert!(screen.contains("? a  bash echo word0") && !screen.contains("evil"), "{screen}");
    terminal.tmux(&["send-keys", "v", "Enter"]);
    terminal.until(&["; touch evil", "no rule allows", "yes or no"]);
    terminal.tmux(&["send-keys", "n", "Enter"]);
    terminal.until(&["exit 0"]);
    assert!(!place.path().join("evil").exists());
}

#[test]
fn a_question_that_expires_says_so_and_what_was_typed_answers_nothing_else() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return;
    }
    let flow = "\
antiphon: 1
nodes:
  gate: {human: {prompt: \"Publish?\", timeout: 2s, on_timeout: reject}}
  wait: {human: {prompt: \"And?\"}}
";
    let place = Place::new(&[("flow.yaml", flow)]);
    let terminal = Terminal::start(&place, &["run", "flow.yaml"]);
    terminal.until(&["? gate  Publish?", "yes or no"]);
    terminal.tmux(&["send-keys", "yes", "Space", "but"]);
    terminal.until(&["yes but", "(nobody had answered in time)", "? wait  And?"]);
    terminal.tmux(&["send-keys", "n", "Enter"]);
    terminal.until(&["\"reason\": \"nobody answered in time\"", "exit 0"]);
}
