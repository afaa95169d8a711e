//! `/` commands: what can be typed besides messages, as a table.
//!
//! Start reading at [`COMMANDS`].

/// A command.
pub(super) struct Entry {
    /// What is typed behind the `/`.
    pub(super) name: &'static str,
    /// What may follow.
    pub(super) takes: &'static str,
    /// What it does.
    pub(super) about: &'static str,
    /// The command.
    pub(super) command: Slash,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Model,
    New,
    Quit,
    Retry,
    Session,
    Thread,
    Tools,
    Usage,
}

const fn entry(name: &'static str, takes: &'static str, command: Slash, about: &'static str) -> Entry {
    Entry { name, takes, about, command }
}

/// All commands.
pub(super) static COMMANDS: &[Entry] = &[
    entry("help", "", Slash::Help, "list the commands"),
    entry("model", "[NAME]", Slash::Model, "say which model answers, or let another one"),
    entry("new", "", Slash::New, "begin a new session"),
    entry("quit", "", Slash::Quit, "end the chat; so does Ctrl-D"),
    entry("retry", "", Slash::Retry, "say the last message again"),
    entry("session", "", Slash::Session, "say which session this is"),
    entry("thread", "", Slash::Thread, "show the conversation so far"),
    entry("tools", "", Slash::Tools, "list what the agent can use"),
    entry("usage", "", Slash::Usage, "show tokens and cost of the session"),
];

/// What a typed text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard<'t> {
    /// Something for the agent.
    Message(&'t str),
    /// A command and what follows it.
    Command(Slash, &'t str),
    /// No command; perhaps this one was meant.
    Unknown(Option<&'static str>),
}

/// Whether a text is a command: a `/` and a word, and not a path. The beginning of a command is enough.
pub(super) fn hear(text: &str) -> Heard<'_> {
    let text = text.trim();
    let Some(line) = text.strip_prefix('/') else { return Heard::Message(text) };
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if word.contains('/') || !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Heard::Message(text);
    }
    let exact = COMMANDS.iter().find(|entry| entry.name == word);
    let mut begun = COMMANDS.iter().filter(|entry| entry.name.starts_with(word));
    let only = begun.next().filter(|_| begun.next().is_none());
    if let Some(entry) = exact.or(only) {
        return Heard::Command(entry.command, rest.trim());
    }
    let far = |entry: &&Entry| strsim::damerau_levenshtein(entry.name, word);
    let nearest = COMMANDS.iter().min_by_key(far).filter(|entry| far(entry) <= 2);
    Heard::Unknown(nearest.map(|entry| entry.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_and_a_word_are_a_command() {
        for (text, heard) in [
            ("hello", Heard::Message("hello")),
            ("/quit", Heard::Command(Slash::Quit, "")),
            (" /model  a/b ", Heard::Command(Slash::Model, "a/b")),
            ("/q", Heard::Command(Slash::Quit, "")),
            ("/t", Heard::Unknown(None)),
            ("/foo", Heard::Unknown(None)),
            ("/hlep", Heard::Unknown(Some("help"))),
            ("/completely", Heard::Unknown(None)),
            ("/etc/passwd is a file", Heard::Message("/etc/passwd is a file")),
            ("/ alone", Heard::Message("/ alone")),
        ] {
            assert_eq!(hear(text), heard, "{text:?}");
        }
    }
}
