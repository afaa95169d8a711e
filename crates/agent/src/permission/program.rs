//! What the shell's own commands and well-known programs do with their arguments, as far as rules have to know.
//!
//! In: a command of a line. Out: whether it runs others, changes what the rest of the line means, works out what it is
//! given, or runs what it reads. Tables, not proofs: a program can do anything that its name does not say.

use super::shell::{Simple, Word};

/// Shells: without a script they run what they read.
const SHELLS: &str = "ash bash busybox csh dash fish ksh mksh pwsh rbash sh tcsh zsh";

/// Programs that run what they are given: what denies and asks looks into them, and a rule for any program does not
/// cover them.
const RUNNERS: &str = ". at batch builtin capsh chroot chronic chrt command doas entr env eval exec fakeroot find flock \
    gdb ionice ld.so ltrace nice nohup nsenter numactl parallel perf pkexec prlimit runuser screen script setpriv setsid sg \
    source ssh stdbuf strace su sudo systemd-run taskset time timeout tmux trap unshare valgrind watch xargs";

/// Commands that change what the rest of a line means: never allowed beside others.
const CHANGERS: &str = ". alias bind builtin compgen complete compopt declare enable eval exec export getopts hash let local \
    mapfile read readarray readonly set shopt source trap typeset unalias unset";

/// Commands of the shell that work out the names or words they are given, and run what stands in their brackets.
const WORKERS: &str =
    "compgen complete declare export getopts let local mapfile read readarray readonly typeset unset";

/// Those that do so with an option only, and then set a variable, too: the letters of such options.
const OPTIONAL: &[(&str, &str)] = &[("test", "vR"), ("printf", "v"), ("wait", "p")];

/// Whether a command runs others.
pub(super) fn is_runner(command: &Simple<'_>) -> bool {
    let program = name_of(&command.words[0].text);
    is_in(RUNNERS, program) || is_in(SHELLS, program)
}

/// Whether a command changes what the rest of its line means.
pub(super) fn is_changer(command: &Simple<'_>) -> bool {
    is_in(CHANGERS, &command.words[0].text) || names_variable(command)
}

/// Whether a command may run what stands within its arguments, though the shell that reads the line does not.
pub(super) fn works_out(command: &Simple<'_>) -> bool {
    let may_run = |word: &Word| !word.is_literal() || word.text.contains(['[', '$', '`']);
    let is_worker = is_in(WORKERS, &command.words[0].text);
    names_variable(command) || (is_worker && command.words[1..].iter().any(may_run))
}

/// Whether a command has, or may come to have, an option that names a variable.
fn names_variable(command: &Simple<'_>) -> bool {
    let (program, arguments) = (&command.words[0].text, &command.words[1..]);
    let Some((_, letters)) = OPTIONAL.iter().find(|(name, _)| name == program) else { return false };
    let names = |word: &Word| {
        let option = word.text.strip_prefix('-').unwrap_or_default();
        !word.is_literal() || option.contains(|letter| letters.contains(letter))
    };
    arguments.iter().any(names)
}

/// Whether what these words run is what they read: nobody knows what that is.
pub(super) fn runs_what_it_reads(words: &[Word]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = name_of(&program.text);
    let reads = |word: &Word| matches!(word.text.as_str(), "-" | "-s" | "/dev/stdin" | "/dev/fd/0");
    if is_in(SHELLS, program) || matches!(program, "source" | ".") {
        return arguments.iter().any(reads) || arguments.iter().all(|word| word.text.starts_with(['-', '+']));
    }
    matches!(program, "at" | "batch" | "parallel") && !arguments.iter().any(|word| word.text == ":::")
}

/// The name of a program without its folder.
pub(super) fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_in(table: &str, name: &str) -> bool {
    table.split_ascii_whitespace().any(|entry| entry == name)
}
