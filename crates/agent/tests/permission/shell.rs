//! Shell lines against grants: what each comes to, and why.
//!
//! A row is a verdict, the line, and the reason without the tool. `-` in front of a group are the rules it is judged by.

use antiphon_agent::permission::{Ask, Policy, Rule, Subject, Verdict};
use antiphon_event::Json;
use expect_test::{Expect, expect};

fn judge(policy: &Policy, line: &str) -> Verdict {
    let subjects = [Subject::Command(line.to_owned())];
    let input = Json::from(serde_json::json!({ "command": line }));
    policy.judge(&Ask { tool: "bash", input: &input, subjects: &subjects, sources: &[] })
}

/// Judges each line by rules, and by the same rules as grants of a person where all of them allow.
#[track_caller]
fn check(rules: &[&str], lines: &[&str], expected: Expect) {
    let rules: Vec<Rule> = rules.iter().map(|rule| rule.parse().expect("a rule of a test")).collect();
    let policy = Policy::new(rules);
    let mut table = String::new();
    for line in lines {
        let (verdict, why) = match judge(&policy, line) {
            Verdict::Allow => ("allow", String::new()),
            Verdict::Ask(why) => ("ask", why),
            Verdict::Deny(why) => ("deny", why),
        };
        let why = why.strip_prefix("bash: ").unwrap_or(&why);
        let shown: String = line.chars().flat_map(char::escape_debug).take(60).collect();
        table.push_str(format!("{verdict:<6}{shown:<44}{why}").trim_end());
        table.push('\n');
    }
    expected.assert_eq(&table);
}

const GIT_STATUS: &[&str] = &["allow bash: git status"];

#[test]
fn a_grant_covers_its_command_and_nothing_else() {
    check(
        GIT_STATUS,
        &[
            "git status",
            "  git   status  ",
            "git\tstatus",
            "git status\n",
            "git 'status'",
            "git \\\n status",
            "git status 2>&1",
            "git status 2>/dev/null",
            "git status > /dev/null 2>&1",
            "git status --short",
            "git",
            "git statusx",
            "git push",
            "/usr/bin/git status",
            "./git status",
            "status",
            "",
            "   ",
        ],
        expect![[r#"
            allow git status
            allow   git   status
            allow git\tstatus
            allow git status\n
            allow git \'status\'
            allow git \\\n status
            allow git status 2>&1
            allow git status 2>/dev/null
            allow git status > /dev/null 2>&1
            ask   git status --short                          no rule allows `git status --short`
            ask   git                                         no rule allows `git`
            ask   git statusx                                 no rule allows `git statusx`
            ask   git push                                    no rule allows `git push`
            ask   /usr/bin/git status                         no rule allows `/usr/bin/git status`
            ask   ./git status                                no rule allows `./git status`
            ask   status                                      no rule allows `status`
            ask                                               no rule allows a line that cannot be read (it holds no command)
            ask                                               no rule allows a line that cannot be read (it holds no command)
        "#]],
    );
}

#[test]
fn a_grant_covers_no_second_command() {
    check(
        GIT_STATUS,
        &[
            "git status; rm -rf x",
            "git status;rm -rf x",
            "git status && rm -rf x",
            "git status || rm -rf x",
            "git status | sh",
            "git status |& sh",
            "git status\nrm -rf x",
            "git status &",
            "git status & rm -rf x",
            "rm -rf x; git status",
            "git status; git status",
            "git status && git status | git status",
            "(git status)",
            "(git status; rm x)",
            "{ git status; }",
            "! git status",
            "if git status; then rm x; fi",
            "while git status; do rm x; done",
            "for f in *; do git status; done",
            "case x in x) git status;; esac",
            "git() { rm -rf x; }; git status",
            "git () { rm -rf x; }; git status",
            "function git { rm x; }; git status",
            "alias git=rm; git status",
            "coproc git status",
            "[[ -f x ]] && git status",
            "((1)) && git status",
            "git status;",
            "git status;;",
            "; git status",
            "git status &&",
            "&& git status",
            "git status |",
            "git status # and more",
        ],
        expect![[r#"
            ask   git status; rm -rf x                        no rule allows `rm -rf x` (a part of the line)
            ask   git status;rm -rf x                         no rule allows `rm -rf x` (a part of the line)
            ask   git status && rm -rf x                      no rule allows `rm -rf x` (a part of the line)
            ask   git status || rm -rf x                      no rule allows `rm -rf x` (a part of the line)
            ask   git status | sh                             no rule allows `sh` (a part of the line)
            ask   git status |& sh                            no rule allows a line that cannot be read from `|& sh` on (it is not understood)
            ask   git status\nrm -rf x                        no rule allows `rm -rf x` (a part of the line)
            ask   git status &                                no rule allows `&` (it goes on in the background)
            ask   git status & rm -rf x                       no rule allows `rm -rf x` (a part of the line)
            ask   rm -rf x; git status                        no rule allows `rm -rf x` (a part of the line)
            allow git status; git status
            allow git status && git status | git status
            ask   (git status)                                no rule allows `(git status)` (a subshell)
            ask   (git status; rm x)                          no rule allows `rm x` (a part of the line)
            ask   { git status; }                             no rule allows `{` (it is more than one command)
            ask   ! git status                                no rule allows `!` (it is more than one command)
            ask   if git status; then rm x; fi                no rule allows `rm x` (a part of the line)
            ask   while git status; do rm x; done             no rule allows `rm x` (a part of the line)
            ask   for f in *; do git status; done             no rule allows a line that cannot be read from `for f in *; do git status; done` on (it is not understood)
            ask   case x in x) git status;; esac              no rule allows a line that cannot be read from `case x in x) git status;; esac` on (it is not understood)
            ask   git() { rm -rf x; }; git status             no rule allows a line that cannot be read from `() { rm -rf x; }; git status` on (it is not understood)
            ask   git () { rm -rf x; }; git status            no rule allows a line that cannot be read from `() { rm -rf x; }; git status` on (it is not understood)
            ask   function git { rm x; }; git status          no rule allows a line that cannot be read from `function git { rm x; }; git status` on (it is not understood)
            ask   alias git=rm; git status                    no rule allows `alias git=rm` (a part of the line)
            ask   coproc git status                           no rule allows a line that cannot be read from `coproc git status` on (it is not understood)
            ask   [[ -f x ]] && git status                    no rule allows a line that cannot be read from `[[ -f x ]] && git status` on (it is not understood)
            ask   ((1)) && git status                         no rule allows a line that cannot be read from `((1)) && git status` on (it is not understood)
            allow git status;
            ask   git status;;                                no rule allows a line that cannot be read from `;;` on (it is not understood)
            ask   ; git status                                no rule allows a line that cannot be read from `; git status` on (a command is missing)
            ask   git status &&                               no rule allows a line that cannot be read (the line is not complete)
            ask   && git status                               no rule allows a line that cannot be read from `&& git status` on (a command is missing)
            ask   git status |                                no rule allows a line that cannot be read (the line is not complete)
            ask   git status # and more                       no rule allows a line that cannot be read from `# and more` on (a comment)
        "#]],
    );
}

#[test]
fn a_grant_covers_no_substitution_and_no_redirection() {
    check(
        GIT_STATUS,
        &[
            "git status $(rm -rf x)",
            "git status \"$(rm -rf x)\"",
            "git status `rm -rf x`",
            "git status \"`rm -rf x`\"",
            "git status '$(rm -rf x)'",
            "git status <(rm x)",
            "git status >(rm x)",
            "git status $((1+1))",
            "git status $[1+1]",
            "git status ${x:-$(rm x)}",
            "git $(echo status)",
            "git status > file",
            "git status >file",
            "git status >> file",
            "git status >| file",
            "git status 2> file",
            "git status &> file",
            "git status &>> file",
            "git status >& file",
            "git status >&3",
            "git status < file",
            "git status <> file",
            "git status <<< text",
            "git status << END\nrm x\nEND",
            "git status <<- END\nEND",
            "git status > /dev/null/../../etc/passwd",
            "> file git status",
            "git status > $(rm x)",
            "git status >",
        ],
        expect![[r#"
            ask   git status $(rm -rf x)                      no rule allows `rm -rf x` (a part of the line)
            ask   git status \"$(rm -rf x)\"                  no rule allows `rm -rf x` (a part of the line)
            ask   git status `rm -rf x`                       no rule allows `rm -rf x` (a part of the line)
            ask   git status \"`rm -rf x`\"                   no rule allows `rm -rf x` (a part of the line)
            ask   git status \'$(rm -rf x)\'                  no rule allows `git status '$(rm -rf x)'`
            ask   git status <(rm x)                          no rule allows `rm x` (a part of the line)
            ask   git status >(rm x)                          no rule allows `rm x` (a part of the line)
            ask   git status $((1+1))                         no rule allows a line that cannot be read from `$((1+1))` on (it is not understood)
            ask   git status $[1+1]                           no rule allows a line that cannot be read from `$[1+1]` on (it is not understood)
            ask   git status ${x:-$(rm x)}                    no rule allows a line that cannot be read from `${x:-$(rm x)}` on (it is not understood)
            ask   git $(echo status)                          no rule allows `echo status` (a part of the line)
            ask   git status > file                           no rule allows `> file` (it sends input or output elsewhere)
            ask   git status >file                            no rule allows `>file` (it sends input or output elsewhere)
            ask   git status >> file                          no rule allows `>> file` (it sends input or output elsewhere)
            ask   git status >| file                          no rule allows `>| file` (it sends input or output elsewhere)
            ask   git status 2> file                          no rule allows `2> file` (it sends input or output elsewhere)
            ask   git status &> file                          no rule allows `&> file` (it sends input or output elsewhere)
            ask   git status &>> file                         no rule allows `&>> file` (it sends input or output elsewhere)
            ask   git status >& file                          no rule allows `>& file` (it sends input or output elsewhere)
            ask   git status >&3                              no rule allows `>&3` (it sends input or output elsewhere)
            ask   git status < file                           no rule allows `< file` (it sends input or output elsewhere)
            ask   git status <> file                          no rule allows `<> file` (it sends input or output elsewhere)
            ask   git status <<< text                         no rule allows `<<< text` (it sends input or output elsewhere)
            ask   git status << END\nrm x\nEND                no rule allows a line that cannot be read from `<< END\nrm x\nEND` on (a here-document)
            ask   git status <<- END\nEND                     no rule allows a line that cannot be read from `<<- END\nEND` on (a here-document)
            ask   git status > /dev/null/../../etc/passwd     no rule allows `> /dev/null/../../etc/passwd` (it sends input or output elsewhere)
            ask   > file git status                           no rule allows `> file` (it sends input or output elsewhere)
            ask   git status > $(rm x)                        no rule allows `rm x` (a part of the line)
            ask   git status >                                no rule allows a line that cannot be read (it is not understood)
        "#]],
    );
}

#[test]
fn a_grant_covers_no_other_environment_and_no_runner() {
    check(
        GIT_STATUS,
        &[
            "FOO=bar git status",
            "PATH=. git status",
            "FOO+=bar git status",
            "GIT_PAGER='sh -c id' git status",
            "a[0]=1 git status",
            "FOO=bar",
            "export PATH=.; git status",
            "env git status",
            "env -i PATH=. git status",
            "xargs git status",
            "sh -c 'git status'",
            "bash -c 'git status'",
            "eval git status",
            "exec git status",
            "command git status",
            "sudo git status",
            "nohup git status",
            "time git status",
            ". ./git status",
            "source git status",
            "git -c core.pager=sh status",
            "git --exec-path=. status",
        ],
        expect![[r#"
            ask   FOO=bar git status                          no rule allows `FOO=bar` (it changes the environment)
            ask   PATH=. git status                           no rule allows `PATH=.` (it changes the environment)
            ask   FOO+=bar git status                         no rule allows `FOO+=bar` (it changes the environment)
            ask   GIT_PAGER=\'sh -c id\' git status           no rule allows `GIT_PAGER='sh -c id'` (it changes the environment)
            ask   a[0]=1 git status                           no rule allows `a[0]=1` (it changes the environment)
            ask   FOO=bar                                     no rule allows `FOO=bar` (it changes the environment)
            ask   export PATH=.; git status                   no rule allows `export PATH=.` (a part of the line)
            ask   env git status                              no rule allows `env git status`
            ask   env -i PATH=. git status                    no rule allows `env -i PATH=. git status`
            ask   xargs git status                            no rule allows `xargs git status`
            ask   sh -c \'git status\'                        no rule allows `sh -c 'git status'`
            ask   bash -c \'git status\'                      no rule allows `bash -c 'git status'`
            ask   eval git status                             no rule allows `eval git status`
            ask   exec git status                             no rule allows `exec git status`
            ask   command git status                          no rule allows `command git status`
            ask   sudo git status                             no rule allows `sudo git status`
            ask   nohup git status                            no rule allows `nohup git status`
            ask   time git status                             no rule allows `time git status`
            ask   . ./git status                              no rule allows `. ./git status`
            ask   source git status                           no rule allows `source git status`
            ask   git -c core.pager=sh status                 no rule allows `git -c core.pager=sh status`
            ask   git --exec-path=. status                    no rule allows `git --exec-path=. status`
        "#]],
    );
}

#[test]
fn a_grant_covers_nothing_that_the_shell_itself_works_out() {
    check(
        &[
            "allow bash: echo *",
            "allow bash: ls",
            "allow bash: printf *",
            "allow bash: test *",
            "allow bash: wait *",
            "allow bash: getopts *",
            "allow bash: read *",
            "allow bash: let *",
            "allow bash: compgen *",
        ],
        &[
            "echo x {PATH}>/dev/null; ls",
            "{PATH}</dev/null ls",
            "echo {a,b} > /dev/null",
            "printf -v PATH 10; ls",
            "printf -vPATH 10; ls",
            "printf -v 'a[$(touch x)]' x",
            "printf {-v,PATH} 10",
            "printf %s x; ls",
            "printf '%s $HOME' x",
            "getopts a PATH; ls",
            "getopts a name",
            "wait -p PATH; ls",
            "wait -np PATH",
            "wait -n",
            "test -v 'a[$(touch x)]'",
            "[ -v 'a[$(touch x)]' ]",
            "test -f x",
            "[ -f x ]",
            "read 'a[$(touch x)]' </dev/null",
            "read name </dev/null",
            "read name </dev/null; ls",
            "let 'a[$(touch x)]=1'",
            "let x=1",
            "compgen -W '$(touch x)'",
        ],
        expect![[r#"
            ask   echo x {PATH}>/dev/null; ls                 no rule allows `{PATH}` (it changes the environment)
            ask   {PATH}</dev/null ls                         no rule allows `{PATH}` (it changes the environment)
            allow echo {a,b} > /dev/null
            ask   printf -v PATH 10; ls                       no rule allows `printf -v PATH 10` (a part of the line)
            ask   printf -vPATH 10; ls                        no rule allows `printf -vPATH 10` (a part of the line)
            ask   printf -v \'a[$(touch x)]\' x               no rule allows `printf -v 'a[$(touch x)]' x`
            ask   printf {-v,PATH} 10                         no rule allows `printf {-v,PATH} 10`
            allow printf %s x; ls
            allow printf \'%s $HOME\' x
            ask   getopts a PATH; ls                          no rule allows `getopts a PATH` (a part of the line)
            allow getopts a name
            ask   wait -p PATH; ls                            no rule allows `wait -p PATH` (a part of the line)
            ask   wait -np PATH                               no rule allows `wait -np PATH`
            allow wait -n
            ask   test -v \'a[$(touch x)]\'                   no rule allows `test -v 'a[$(touch x)]'`
            ask   [ -v \'a[$(touch x)]\' ]                    no rule allows `[ -v 'a[$(touch x)]' ]`
            allow test -f x
            ask   [ -f x ]                                    no rule allows `[ -f x ]`
            ask   read \'a[$(touch x)]\' </dev/null           no rule allows `read 'a[$(touch x)]' </dev/null`
            allow read name </dev/null
            ask   read name </dev/null; ls                    no rule allows `read name </dev/null` (a part of the line)
            ask   let \'a[$(touch x)]=1\'                     no rule allows `let 'a[$(touch x)]=1'`
            allow let x=1
            ask   compgen -W \'$(touch x)\'                   no rule allows `compgen -W '$(touch x)'`
        "#]],
    );
}

#[test]
fn a_grant_is_not_tricked_by_spelling() {
    check(
        GIT_STATUS,
        &[
            "g''it status",
            "\"git\" status",
            "'git' status",
            "\\git status",
            "g\\it status",
            "gi\\\nt status",
            "$'git' status",
            "$'\\x67it' status",
            "$\"git\" status",
            "$GIT status",
            "${GIT} status",
            "git $CMD",
            "git \"$CMD\"",
            "g?t status",
            "g*t status",
            "[g]it status",
            "{git,status}",
            "~/git status",
            "git stat*",
            "git {status,push}",
            "GIT status",
            "g\u{456}t status",
            "git\u{a0}status",
            "git status\u{200b}",
            "git status\u{202e}",
            "git status\r",
            "git status\r\nrm x",
            "git status\0",
            "git status\u{7f}",
            "git status\u{1b}[2K",
            "git status\\",
            "git 'status",
            "git \"status",
            "git status `",
            "git status )",
            "git status (x)",
        ],
        expect![[r#"
            ask   g\'\'it status                              no rule allows `g''it status`
            ask   \"git\" status                              no rule allows `"git" status`
            ask   \'git\' status                              no rule allows `'git' status`
            ask   \\git status                                no rule allows `\git status`
            ask   g\\it status                                no rule allows `g\it status`
            ask   gi\\\nt status                              no rule allows `gi\\nt status`
            ask   $\'git\' status                             no rule allows a line that cannot be read from `$'git' status` on (it is not understood)
            ask   $\'\\x67it\' status                         no rule allows a line that cannot be read from `$'\x67it' status` on (it is not understood)
            ask   $\"git\" status                             no rule allows a line that cannot be read from `$"git" status` on (it is not understood)
            ask   $GIT status                                 no rule allows `$GIT status`
            ask   ${GIT} status                               no rule allows `${GIT} status`
            ask   git $CMD                                    no rule allows `git $CMD`
            ask   git \"$CMD\"                                no rule allows `git "$CMD"`
            ask   g?t status                                  no rule allows `g?t status`
            ask   g*t status                                  no rule allows `g*t status`
            ask   [g]it status                                no rule allows `[g]it status`
            ask   {git,status}                                no rule allows `{git,status}`
            ask   ~/git status                                no rule allows `~/git status`
            ask   git stat*                                   no rule allows `git stat*`
            ask   git {status,push}                           no rule allows `git {status,push}`
            ask   GIT status                                  no rule allows `GIT status`
            ask   gіt status                                  no rule allows `gіt status`
            ask   git\u{a0}status                             no rule allows a line that cannot be read from `git\u{a0}status` on (a character in it cannot be seen, or shows as something else)
            ask   git status\u{200b}                          no rule allows a line that cannot be read from `git status\u{200b}` on (a character in it cannot be seen, or shows as something else)
            ask   git status\u{202e}                          no rule allows a line that cannot be read from `git status\u{202e}` on (a character in it cannot be seen, or shows as something else)
            ask   git status\r                                no rule allows a line that cannot be read from `git status` on (a character in it cannot be seen, or shows as something else)
            ask   git status\r\nrm x                          no rule allows a line that cannot be read from `git status\r\nrm x` on (a character in it cannot be seen, or shows as something else)
            ask   git status\0                                no rule allows a line that cannot be read from `git status\u{0}` on (a character in it cannot be seen, or shows as something else)
            ask   git status\u{7f}                            no rule allows a line that cannot be read from `git status\u{7f}` on (a character in it cannot be seen, or shows as something else)
            ask   git status\u{1b}[2K                         no rule allows a line that cannot be read from `git status\u{1b}[2K` on (a character in it cannot be seen, or shows as something else)
            ask   git status\\                                no rule allows a line that cannot be read (the line is not complete)
            ask   git \'status                                no rule allows a line that cannot be read from `'status` on (a quote is not closed)
            ask   git \"status                                no rule allows a line that cannot be read from `"status` on (a quote is not closed)
            ask   git status `                                no rule allows a line that cannot be read from ``` on (a quote is not closed)
            ask   git status )                                no rule allows a line that cannot be read from `)` on (a command is missing)
            ask   git status (x)                              no rule allows a line that cannot be read from `(x)` on (it is not understood)
        "#]],
    );
}

#[test]
fn further_arguments_are_covered_where_a_rule_ends_in_a_star() {
    check(
        &[
            "allow bash: git log *",
            "allow bash: ls *",
            "allow bash: head -n * file",
            "allow bash: npm run test:*",
        ],
        &[
            "git log",
            "git log --oneline -5",
            "git log -- 'a b' \"c\"",
            "git log *.rs",
            "git log ~/x {a,b}",
            "git log $HOME",
            "git log \"${HOME}\"",
            "git log $(id)",
            "git log > file",
            "git log | ls",
            "git log | ls -la && ls",
            "git log | sh",
            "git -p log",
            "ls -la; git log",
            "ls -la # all",
            "head -n 5 file",
            "head -n file",
            "head -n 5 6 file",
            "head -n * file",
            "npm run test:unit",
            "npm run test",
            "npm run test:unit --force",
            "npm run $X",
        ],
        expect![[r#"
            allow git log
            allow git log --oneline -5
            allow git log -- \'a b\' \"c\"
            allow git log *.rs
            allow git log ~/x {a,b}
            ask   git log $HOME                               no rule allows `git log $HOME`
            ask   git log \"${HOME}\"                         no rule allows `git log "${HOME}"`
            ask   git log $(id)                               no rule allows `id` (a part of the line)
            ask   git log > file                              no rule allows `> file` (it sends input or output elsewhere)
            allow git log | ls
            allow git log | ls -la && ls
            ask   git log | sh                                no rule allows `sh` (a part of the line)
            ask   git -p log                                  no rule allows `git -p log`
            allow ls -la; git log
            ask   ls -la # all                                no rule allows a line that cannot be read from `# all` on (a comment)
            allow head -n 5 file
            ask   head -n file                                no rule allows `head -n file`
            ask   head -n 5 6 file                            no rule allows `head -n 5 6 file`
            ask   head -n * file                              no rule allows `head -n * file`
            allow npm run test:unit
            ask   npm run test                                no rule allows `npm run test`
            ask   npm run test:unit --force                   no rule allows `npm run test:unit --force`
            ask   npm run $X                                  no rule allows `npm run $X`
        "#]],
    );
}

#[test]
fn a_rule_for_any_command_names_no_runner() {
    check(
        &["allow bash: *"],
        &[
            "ls -la",
            "make | tail",
            "sh -c ls",
            "env ls",
            "find . -delete",
            "taskset 1 ls",
            "tcsh x",
            "/usr/bin/valgrind ls",
            "printf -v PATH x",
            "ls > x",
            "x=1 ls",
            "alias a=b; ls",
            "alias a=b",
            "$X",
        ],
        expect![[r#"
            allow ls -la
            allow make | tail
            ask   sh -c ls                                    no rule allows `sh -c ls`
            ask   env ls                                      no rule allows `env ls`
            ask   find . -delete                              no rule allows `find . -delete`
            ask   taskset 1 ls                                no rule allows `taskset 1 ls`
            ask   tcsh x                                      no rule allows `tcsh x`
            ask   /usr/bin/valgrind ls                        no rule allows `/usr/bin/valgrind ls`
            ask   printf -v PATH x                            no rule allows `printf -v PATH x`
            ask   ls > x                                      no rule allows `> x` (it sends input or output elsewhere)
            ask   x=1 ls                                      no rule allows `x=1` (it changes the environment)
            ask   alias a=b; ls                               no rule allows `alias a=b` (a part of the line)
            ask   alias a=b                                   no rule allows `alias a=b`
            ask   $X                                          no rule allows `$X`
        "#]],
    );
}

#[test]
fn what_is_denied_is_found_wherever_it_stands() {
    check(
        &["deny bash: rm *", "ask bash: git push *", "allow bash"],
        &[
            "ls > file",
            "rm x",
            "/bin/rm x",
            "r''m x",
            "\\rm x",
            "ls; rm x",
            "bash <<< 'rm x'",
            "echo rm x | bash",
            "echo rm x | sudo sh -s",
            "bash <(echo rm x)",
            "source /dev/stdin < file",
            "bash script.sh",
            "runuser -u y rm x",
            "chronic rm x",
            "ls | rm",
            "ls &\nrm x",
            "echo $(rm x)",
            "echo `rm x`",
            "echo \"$(echo $(rm x))\"",
            "(rm x)",
            "{ rm x; }",
            "cat <(rm x)",
            "if true; then rm x; fi",
            "FOO=1 rm x",
            "> file rm x",
            "sudo rm x",
            "sudo -u bob env A=b rm x",
            "ls | xargs rm",
            "xargs $X",
            "find . -exec rm {} +",
            "sh -c 'rm x'",
            "bash -c \"ls; rm x\"",
            "sh -c \"sh -c 'rm x'\"",
            "eval 'rm' x",
            "$CMD x",
            "r? x",
            "echo rm x",
            "git rm x",
            "echo $HOME",
            "for f in a; do rm $f; done",
            "for f in a; do ls; done",
            "cat << END\nEND",
            "git push origin main",
            "git $WHAT",
            "ls \u{202e}",
            "ls 'unclosed",
        ],
        expect![[r#"
            allow ls > file
            deny  rm x                                        {deny: bash, command: "rm *"} (agent) denies `rm x`
            deny  /bin/rm x                                   {deny: bash, command: "rm *"} (agent) denies `/bin/rm x`
            deny  r\'\'m x                                    {deny: bash, command: "rm *"} (agent) denies `r''m x`
            deny  \\rm x                                      {deny: bash, command: "rm *"} (agent) denies `\rm x`
            deny  ls; rm x                                    {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            ask   bash <<< \'rm x\'                           `bash <<< 'rm x'` (a part of the line) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   echo rm x | bash                            `bash` (a part of the line) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   echo rm x | sudo sh -s                      `sudo sh -s` (a part of the line) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   bash <(echo rm x)                           `bash <(echo rm x)` (a part of the line) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   source /dev/stdin < file                    `source /dev/stdin < file` (a part of the line) may be what {deny: bash, command: "rm *"} (agent) denies
            allow bash script.sh
            deny  runuser -u y rm x                           {deny: bash, command: "rm *"} (agent) denies `runuser -u y rm x`
            deny  chronic rm x                                {deny: bash, command: "rm *"} (agent) denies `chronic rm x`
            deny  ls | rm                                     {deny: bash, command: "rm *"} (agent) denies `rm` (a part of the line)
            deny  ls &\nrm x                                  {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  echo $(rm x)                                {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  echo `rm x`                                 {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  echo \"$(echo $(rm x))\"                    {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  (rm x)                                      {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  { rm x; }                                   {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  cat <(rm x)                                 {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  if true; then rm x; fi                      {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  FOO=1 rm x                                  {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  > file rm x                                 {deny: bash, command: "rm *"} (agent) denies `> file rm x` (a part of the line)
            deny  sudo rm x                                   {deny: bash, command: "rm *"} (agent) denies `sudo rm x`
            deny  sudo -u bob env A=b rm x                    {deny: bash, command: "rm *"} (agent) denies `sudo -u bob env A=b rm x`
            deny  ls | xargs rm                               {deny: bash, command: "rm *"} (agent) denies `xargs rm` (a part of the line)
            ask   xargs $X                                    `xargs $X` may be what {deny: bash, command: "rm *"} (agent) denies
            deny  find . -exec rm {} +                        {deny: bash, command: "rm *"} (agent) denies `find . -exec rm {} +`
            deny  sh -c \'rm x\'                              {deny: bash, command: "rm *"} (agent) denies `sh -c 'rm x'`
            deny  bash -c \"ls; rm x\"                        {deny: bash, command: "rm *"} (agent) denies `bash -c "ls; rm x"`
            deny  sh -c \"sh -c \'rm x\'\"                    {deny: bash, command: "rm *"} (agent) denies `sh -c "sh -c 'rm x'"`
            deny  eval \'rm\' x                               {deny: bash, command: "rm *"} (agent) denies `eval 'rm' x`
            ask   $CMD x                                      `$CMD x` may be what {deny: bash, command: "rm *"} (agent) denies
            ask   r? x                                        `r? x` may be what {deny: bash, command: "rm *"} (agent) denies
            allow echo rm x
            allow git rm x
            allow echo $HOME
            ask   for f in a; do rm $f; done                  a line that cannot be read from `for f in a; do rm $f; done` on (it is not understood) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   for f in a; do ls; done                     a line that cannot be read from `for f in a; do ls; done` on (it is not understood) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   cat << END\nEND                             a line that cannot be read from `<< END\nEND` on (a here-document) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   git push origin main                        {ask: bash, command: "git push *"} (agent) asks about `git push origin main`
            ask   git $WHAT                                   {ask: bash, command: "git push *"} (agent) asks about `git $WHAT`
            ask   ls \u{202e}                                 a line that cannot be read from `ls \u{202e}` on (a character in it cannot be seen, or shows as something else) may be what {deny: bash, command: "rm *"} (agent) denies
            ask   ls \'unclosed                               a line that cannot be read from `'unclosed` on (a quote is not closed) may be what {deny: bash, command: "rm *"} (agent) denies
        "#]],
    );
}

#[test]
fn the_first_rule_that_fits_decides_for_each_command() {
    check(
        &["allow bash: rm -i *", "deny bash: rm *", "allow bash: ls *", "ask bash: ls secret"],
        &["rm -i x", "rm x", "ls secret", "ls && rm -i x", "ls && rm x", "rm $X"],
        expect![[r#"
            allow rm -i x
            deny  rm x                                        {deny: bash, command: "rm *"} (agent) denies `rm x`
            allow ls secret
            allow ls && rm -i x
            deny  ls && rm x                                  {deny: bash, command: "rm *"} (agent) denies `rm x` (a part of the line)
            deny  rm $X                                       {deny: bash, command: "rm *"} (agent) denies `rm $X`
        "#]],
    );
}

#[test]
fn lines_are_bounded() {
    let long = format!("git status {}", "x".repeat(20_000));
    let deep = format!("{}git status{}", "(".repeat(5000), ")".repeat(5000));
    let spaced = format!("{}git status{}", "( ".repeat(5000), " )".repeat(5000));
    let nested = format!("{}git status{}", "$(".repeat(4000), ")".repeat(4000));
    let many = "git status;".repeat(300);
    check(
        GIT_STATUS,
        &[&long, &deep, &spaced, &nested, &many],
        expect![[r#"
            ask   git status xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxno rule allows a line that cannot be read from `git status xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` on (the line is too long to be read (at most 16384 bytes))
            ask   ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((no rule allows a line that cannot be read from `((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((…` on (it is not understood)
            ask   ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( no rule allows a line that cannot be read from `( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( …` on (the line is too long to be read (at most 16384 bytes))
            ask   $($($($($($($($($($($($($($($($($($($($($($($($($($($($($($(no rule allows a line that cannot be read from `$($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($($(…` on (it is nested too deep (at most 8))
            ask   git status;git status;git status;git status;git status;git sno rule allows a line that cannot be read from `;git status;git status;git status;git status;git status;git status;git status;git status;git status;git status;git statu…` on (the line holds too many commands (at most 256))
        "#]],
    );
}
