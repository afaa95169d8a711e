//! `sessions`, `fork` and `verify`: what is kept, other ways on from it, and whether it is what was written.

use std::fs;
use std::process::Stdio;

use expect_test::expect;

use crate::place::Place;

const COUNT: &str = "\
antiphon: 1
state: {n: {type: integer, default: 1, reduce: sum}}
nodes:
  one: {function: \"'one'\", set: {n: \"1\"}}
  two: {function: string(state.n)}
edges: [one -> two]
";

#[test]
fn nothing_is_left_beside_a_store_that_nobody_has_open() {
    let place = Place::new(&[("ask.yaml", "antiphon: 1\nnodes: {a: {human: \"Go on?\"}}\n")]);
    for _ in 0..20 {
        place.run(&["run", "ask.yaml", "--store", "sqlite:kept/a.db"]);
        let mut left: Vec<_> = fs::read_dir(place.path().join("kept"))
            .expect("it was made")
            .map(|file| file.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["a.db", "a.db.locks"]);
    }
}

#[test]
fn a_fork_goes_its_own_way_with_another_state() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    let told = place.tell(
        "run count.yaml
         fork last --at 6 --set 'n=\"x\"'
         fork last --at 6 --set n=40
         resume last --branch fork-1
         fork last --at 6 --branch again --run
         fork last --at 99
         fork last --at 6 --branch again
         fork last --at 6 --set n=10 --set n=5
         fork last --at 6 --branch ''",
    );
    expect![[r#"
        $ run count.yaml
        exit 0
        2
        session <id>
        flow count started
        one  started
        one  completed
        two  started
        two  completed
        flow completed
        $ fork last --at 6 --set 'n="x"'
        exit 2
        error: the state does not fit the flow: state key `n`: `sum` wants numbers, found a text
        $ fork last --at 6 --set n=40
        exit 0
        fork-1
        $ resume last --branch fork-1
        exit 0
        42
        session <id>
        resumed
        two  started
        two  completed
        flow completed
        $ fork last --at 6 --branch again --run
        exit 0
        2
        branch again
        resumed
        two  started
        two  completed
        flow completed
        $ fork last --at 99
        exit 2
        error: <id>/main ends at 12 and has no position 99
        $ fork last --at 6 --branch again
        exit 2
        error: the branch <id>/again is there already
        $ fork last --at 6 --set n=10 --set n=5
        exit 2
        error: --set n is given twice: a key gets one contribution
        $ fork last --at 6 --branch ''
        exit 2
        error: invalid value '' for '--branch <NAME>': a branch needs a name

        For more information, try '--help'.
    "#]]
    .assert_eq(&told);
    let shown = place.run(&["sessions", "show", "last", "--branch", "fork-1"]).out;
    for part in ["branch fork-1", "main  12 events", "fork-1  15 events, from main at 6", "\"n\": 42"] {
        assert!(shown.contains(part), "no {part} in:\n{shown}");
    }
}

#[test]
fn time_travel_shows_the_run_as_it_was() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    for (args, parts, absent) in [
        (
            &["sessions", "show", "last", "--at", "4"][..],
            &["as of event 4", "one   function  executing", "\"n\": 1"][..],
            "two",
        ),
        (
            &["sessions", "show", "last"],
            &["one   function  completed", "two   function  completed", "\"n\": 2"],
            "executing",
        ),
        (&["view", "runs", "last", "--at", "4"], &["count", "active"], "completed"),
        (
            &["why", "last", "10"],
            &["#10   node_end  two COMPLETED", "#6    edge_transition  one → two", "#2    run_start"],
            "#11",
        ),
        (&["view", "timeline", "last", "--branch", "main"], &["completed"], "executing"),
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        for part in parts {
            assert!(ran.out.contains(part), "no {part} in {args:?}:\n{}", ran.out);
        }
        assert!(!ran.out.contains(absent), "{absent} in {args:?}:\n{}", ran.out);
    }
    let told = place.tell("view runs nobody\nview runs last --branch other");
    expect![[r#"
        $ view runs nobody
        exit 2
        error: there is no file nobody, and there is no session nobody in sqlite:kept/store.db
        $ view runs last --branch other
        exit 2
        error: there is no branch <id>/other
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_is_exported_can_be_imported_and_what_is_removed_is_gone() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    let exported = place.run(&["sessions", "export", "last", "--to", "out.jsonl"]);
    assert_eq!(exported.told(), "exit 0\n");
    let imported = place.run(&["sessions", "import", "out.jsonl"]);
    assert_eq!(imported.code, Some(0), "{}", imported.err);
    let lines = fs::read_to_string(place.path().join("out.jsonl")).expect("a file");
    let events = place.run(&["sessions", "events", imported.out.trim()]).out;
    assert_eq!(lines.lines().count(), events.lines().count());
    for (was, is) in lines.lines().zip(events.lines()) {
        let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        let (mut was, mut is) = (parse(was), parse(is));
        assert_eq!(was["hash"].as_str().map(str::len), Some(64));
        assert!(is["recordedAt"].is_string());
        for name in ["hash", "head", "recordedAt", "sessionId"] {
            was.as_object_mut().expect("an object").remove(name);
            is.as_object_mut().expect("an object").remove(name);
        }
        assert_eq!(was, is);
    }
    let gap: String =
        lines.lines().enumerate().filter(|(n, _)| *n != 3).map(|(_, line)| format!("{line}\n")).collect();
    place.write("gap.jsonl", &gap);
    let told = place
        .tell("sessions import gap.jsonl\nsessions rm last\nsessions rm last\nsessions rm last\nsessions ls");
    expect![[r#"
        $ sessions import gap.jsonl
        exit 2
        error: event 5 comes after event 3: something is missing, or out of order
        $ sessions rm last
        exit 0
        session <id> is removed
        $ sessions rm last
        exit 0
        session <id> is removed
        $ sessions rm last
        exit 2
        error: there is no session last in sqlite:kept/store.db
        $ sessions ls
        exit 0
        (no sessions)
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_import_refuses_what_is_not_what_was_exported() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    place.run(&["fork", "last", "--at", "6", "--set", "n=40", "--branch", "other", "--run"]);
    let whole = place.run(&["sessions", "export", "last", "--branch", "other"]).out;
    let lines: Vec<&str> = whole.lines().collect();
    let last: serde_json::Value = serde_json::from_str(lines[lines.len() - 1]).expect("JSON");
    let head = last["hash"].as_str().expect("a hash").to_owned();
    let text = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let without = |members: &[&str]| {
        let parsed = lines.iter().map(|line| serde_json::from_str(line).expect("JSON"));
        let kept = parsed.map(|mut line: serde_json::Map<_, _>| {
            for member in members {
                line.remove(*member);
            }
            serde_json::Value::from(line).to_string()
        });
        kept.collect::<Vec<_>>()
    };
    let (no_head, no_hash, neither) = (without(&["head"]), without(&["hash"]), without(&["hash", "head"]));
    let [no_head, no_hash, neither] =
        [&no_head, &no_hash, &neither].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    let changed = whole.replace("\"output\":\"one\"", "\"output\":\"two\"");
    assert_ne!(changed, whole);
    for (name, text) in [
        ("whole", &whole),
        ("changed", &changed),
        ("cut", &text(&lines[..8])),
        ("late", &text(&lines[1..])),
        ("old", &text(&no_head)),
        ("old-cut", &text(&no_head[..8])),
        ("old-changed", &text(&no_head).replace("\"output\":\"one\"", "\"output\":\"two\"")),
        ("mixed", &text(&[&lines[..3], &no_hash[3..4], &lines[4..]].concat())),
        ("no-hash", &text(&no_hash)),
        ("plain", &text(&neither)),
    ] {
        place.write(name, text);
    }
    let told = place.tell(&format!(
        "sessions import whole
         sessions import whole --head {head}
         sessions import whole --head {}
         sessions import changed
         sessions import cut
         sessions import late
         sessions import old
         sessions import old-cut
         sessions import old-cut --head {head}
         sessions import old-changed
         sessions import mixed
         sessions import no-hash
         sessions import plain",
        "0".repeat(64)
    ));
    expect![[r#"
        $ sessions import whole
        exit 0
        <id>
        15 events
        $ sessions import whole --head <hash>
        exit 0
        <id>
        15 events
        $ sessions import whole --head <hash>
        exit 2
        error: no event has the hash that --head names: this is another history, or a part of it is missing
        $ sessions import changed
        exit 2
        error: event 5 is not what was exported: its hash was made for something else. Events without `hash` and `head` are imported as they are
        $ sessions import cut
        exit 2
        error: the export ends with event 15, and here event 8 is the last: the rest is missing
        $ sessions import late
        exit 2
        error: the export begins with event 2: what was before it is missing
        $ sessions import old
        exit 0
        <id>
        15 events
        $ sessions import old-cut
        exit 0
        <id>
        8 events
        $ sessions import old-cut --head <hash>
        exit 2
        error: no event has the hash that --head names: this is another history, or a part of it is missing
        $ sessions import old-changed
        exit 2
        error: event 5 is not what was exported: its hash was made for something else. Events without `hash` and `head` are imported as they are
        $ sessions import mixed
        exit 2
        error: event 4 has no hash, and others have one
        $ sessions import no-hash
        exit 2
        error: the events have no hashes that could be compared with their head
        $ sessions import plain
        exit 0
        <id>
        15 events
    "#]].assert_eq(&told);
}

#[test]
fn a_diff_compares_branches_of_a_session() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    place.run(&["fork", "last", "--at", "6", "--set", "n=40", "--branch", "xx", "--run"]);
    let told = place.tell(
        "diff last last@xx
         diff last@6 last@xx:6
         diff last@main last
         diff last@xx last --branch xx
         diff last last@yy
         diff last last@xx:yy",
    );
    expect![[r#"
        $ diff last last@xx
        exit 0
        the first 6 events are identical

        decided  1 the same

        ran  1 the same
        ~ turn 0 run COMPLETED
            A 2
            B 42
        ~ turn 0 two #1 COMPLETED
            A 2
            B 42

        state
        ~ turn 0 n
            A 1 by one#1
            B 1 by one#1, 40 by user
        $ diff last@6 last@xx:6
        exit 0
        the same, but for ids and times

        decided  1 the same

        ran  2 the same

        state  1 the same
        $ diff last@main last
        exit 0
        the same, but for ids and times

        decided  1 the same

        ran  3 the same

        state  1 the same
        $ diff last@xx last --branch xx
        exit 0
        the same, but for ids and times

        decided  1 the same

        ran  3 the same

        state  1 the same
        $ diff last last@yy
        exit 2
        error: last has no position, branch or run yy
        $ diff last last@xx:yy
        exit 2
        error: last has no position, branch or run xx:yy
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_head_that_was_set_back_is_told_and_nothing_goes_on_from_there() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    assert_eq!(file.execute("UPDATE branch SET seq = seq - 1", []), Ok(1));
    let told = place.tell("verify last\nresume last\nsessions export last");
    expect![[r#"
        $ verify last
        exit 1
        event 12 of <id>/main was removed: the branch ends before it, within the record of events 1 to 12
        $ resume last
        exit 2
        session <id>
        error: kept/store.db: events 1 to 12 of <id>/main are damaged: the branch ends within them, at event 11; run `antiphon verify`
        $ sessions export last
        exit 2
        error: kept/store.db: events 1 to 12 of <id>/main are damaged: the branch ends within them, at event 11; run `antiphon verify`
    "#]].assert_eq(&told);
}

#[test]
fn a_hole_in_a_history_is_told_by_whoever_reads_it_and_nothing_goes_on_over_it() {
    let gate = "antiphon: 1\nnodes: {one: {function: \"1\"}, gate: {human: q}}\nedges: [one -> gate]\n";
    let place = Place::new(&[("gate.yaml", gate)]);
    place.run(&["run", "gate.yaml"]);
    place.run(&["resume", "last", "--approve", "gate"]);
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    let second = "SELECT pos FROM record ORDER BY pos LIMIT 1 OFFSET 1";
    assert_eq!(file.execute(&format!("DELETE FROM record WHERE pos = ({second})"), []), Ok(1));
    let first: i64 =
        file.query_row("SELECT last + 1 FROM record", [], |row| row.get(0)).expect("one is left");
    let missing = format!("event {first} of ");
    for line in
        ["sessions ls", "sessions show last", "sessions events last", "sessions export last", "resume last"]
    {
        let told = place.run(&line.split(' ').collect::<Vec<_>>());
        assert!(matches!(told.code, Some(1 | 2)), "{line}: {:?}", told.code);
        assert!(told.err.contains(&missing) && told.err.contains("is missing"), "{line}: {}", told.err);
    }
    assert_eq!(place.run(&["verify", "last"]).code, Some(1));
}

#[test]
fn branches_that_changed_names_are_told_and_so_are_exports_of_others() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    for name in ["one", "two"] {
        place.run(&["fork", "last", "--at", "6", "--set", "n=40", "--branch", name]);
    }
    let export = place.run(&["sessions", "export", "last", "--branch", "one"]).out;
    for (of, called) in [("one", "another"), ("one", "main"), ("main", "another")] {
        let renamed = export.lines().map(|line| {
            let mut event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            if event["branchId"] == of {
                event["branchId"] = called.into();
            }
            format!("{event}\n")
        });
        fs::write(place.path().join("renamed"), renamed.collect::<String>()).expect("is writable");
        let told = place.run(&["sessions", "import", "renamed"]);
        assert!(told.err.contains("is not what was exported"), "{of} as {called}: {}", told.err);
    }
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    let names = "UPDATE branch SET id = 'x' WHERE id = 'one';
                 UPDATE branch SET id = 'one' WHERE id = 'two';
                 UPDATE branch SET id = 'two' WHERE id = 'x'";
    file.execute_batch(names).expect("is SQL");
    expect![[r#"
        $ verify last --branch one
        exit 1
        <id>/one was renamed: it was called <id>/two when it began
        $ sessions show last --branch two
        exit 2
        error: kept/store.db: <id>/two was renamed: it was called <id>/one when it began; run `antiphon verify`
        $ verify last
        exit 0
        <hash>  <id>/main, 12 events
    "#]]
        .assert_eq(&place.tell("verify last --branch one\nsessions show last --branch two\nverify last"));
}

#[test]
fn a_head_that_was_kept_proves_a_history_and_a_changed_record_is_named() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    let whole = place.run(&["verify", "last"]);
    let head = whole.out.split_whitespace().next().expect("a hash").to_owned();
    place.run(&["fork", "last", "--at", "5"]);
    let told = place.tell(&format!(
        "verify last --head {head}
         verify last --branch fork-1 --head {head}
         verify last --head {}
         verify last --head x",
        "0".repeat(64)
    ));
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    let changed = file.execute("UPDATE record SET lines = replace(lines, '\"n\":1', '\"n\":2')", []);
    assert!(changed.expect("it can be written") > 0);
    let told = told + &place.tell("verify last");
    expect![[r#"
        $ verify last --head <hash>
        exit 0
        <id>/main is as it was, 12 events
        $ verify last --branch fork-1 --head <hash>
        exit 1
        <id>/fork-1 never had that head: it is whole, and another history (<hash>)
        $ verify last --head <hash>
        exit 1
        <id>/main never had that head: it is whole, and another history (<hash>)
        $ verify last --head x
        exit 2
        error: --head: a hash is 64 hex digits
        $ verify last
        exit 1
        the record of events 1 to 12 of <id>/main was changed: the bytes do not give the hash that was written with them
    "#]].assert_eq(&told);
}

#[test]
fn programs_learn_how_a_session_stands() {
    let gate = "antiphon: 1\nnodes: {gate: {human: {prompt: q}}}\n";
    let place = Place::new(&[("count.yaml", COUNT), ("gate.yaml", gate)]);
    let json = |args: &[&str]| -> Vec<serde_json::Value> {
        let lines = place.run(args).out;
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    place.run(&["run", "count.yaml"]);
    place.run(&["run", "gate.yaml"]);
    let listed = json(&["sessions", "ls", "--json"]);
    let statuses: Vec<&str> = listed.iter().map(|line| line["status"].as_str().expect("a word")).collect();
    assert_eq!(statuses, ["waiting", "completed"]);
    let gate = &json(&["sessions", "show", "last", "--json"])[0];
    assert_eq!((&gate["status"], &gate["asked"][0]["prompt"]), (&"waiting".into(), &"q".into()));
    let first = listed[1]["id"].as_str().expect("an id");
    let count = &json(&["sessions", "show", first, "--json"])[0];
    assert_eq!(
        (&count["status"], &count["state"]["n"], &count["output"], &count["nodes"]["two"]),
        (&"completed".into(), &2.into(), &"2".into(), &"COMPLETED".into())
    );
    let before = &json(&["sessions", "show", first, "--at", "3", "--json"])[0];
    assert_eq!((&before["state"]["n"], &before["events"]), (&1.into(), &3.into()));
}

#[test]
fn a_session_that_is_damaged_is_listed_as_such_among_the_others() {
    let damages = [
        "UPDATE branch SET hash = x'00' WHERE key = 2",
        "UPDATE branch SET seq = -1 WHERE key = 2",
        "UPDATE branch SET seq = 'x', updated = 'x' WHERE key = 2",
        "UPDATE branch SET parent = 77 WHERE key = 2",
        "UPDATE session SET id = x'ff' WHERE key = 2",
        "UPDATE record SET lines = 'x' WHERE branch = 2",
    ];
    for damage in damages {
        let place = Place::new(&[("count.yaml", COUNT)]);
        for _ in 0..3 {
            place.run(&["run", "count.yaml"]);
        }
        let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
        assert_eq!(file.execute(damage, []), Ok(1), "{damage}");
        let listed = place.run(&["sessions", "ls", "--json"]);
        let lines = listed.out.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<serde_json::Value> = lines.collect();
        let statuses: Vec<_> = lines.iter().map(|line| line["status"].as_str().expect("a word")).collect();
        assert_eq!((listed.code, statuses), (Some(1), vec!["completed", "damaged", "completed"]), "{damage}");
        let id = lines[1]["id"].as_str().expect("an id");
        assert!(listed.err.contains(&format!("error: session {id}: ")), "{damage}: {}", listed.err);
        assert_eq!(place.run(&["sessions", "ls"]).code, Some(1), "{damage}");
        assert_eq!(place.run(&["verify", "last"]).code, Some(0), "{damage}");
    }
}

#[test]
fn a_program_that_lists_sessions_is_told_all_of_their_titles() {
    let title = "a-rather-long-name-".repeat(10);
    let flow = format!("antiphon: 1\nname: {title}\nnodes:\n  n: {{function: task}}\n");
    let place = Place::new(&[("flow.yaml", &flow)]);
    place.run(&["run", "flow.yaml"]);
    let listed = place.run(&["sessions", "ls"]).out;
    assert!(listed.contains(&title), "{listed}");
    let listed = place.run(&["sessions", "ls", "--width", "80"]).out;
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
}

#[test]
fn a_session_that_an_agent_was_called_in_stands_as_that_agent_does() {
    let agent = "\
antiphon: 1
model: {provider: scripted, replies: [[{tool_call: {name: agent, input: {agent: far, task: Look.}}}], [{text: done}]]}
tools: [agent]
agents: {far: {policy: new_session, model: {provider: scripted, replies: [[{text: seen}]]}}}
";
    let place = Place::new(&[("agent.yaml", agent)]);
    place.run(&["chat", "--agent", "agent.yaml", "--input", "go"]);
    let listed = place.run(&["sessions", "ls", "--json"]).out;
    assert_eq!(listed.matches("\"status\":\"completed\"").count(), 2, "{listed}");
}

#[test]
fn an_import_that_is_killed_leaves_nothing() {
    let text = "x".repeat(200);
    let line =
        |at: u32| format!("{{\"type\":\"text\",\"runId\":\"r\",\"id\":\"t\",\"content\":\"{at} {text}\"}}\n");
    let many: String = (0..20_000).map(line).collect();
    for written in [0, 1, 100_000, 1_000_000] {
        let place = Place::new(&[("many.jsonl", &many)]);
        let mut importing = place.command(&["sessions", "import", "many.jsonl"]);
        let mut importing = importing.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        let log = place.path().join("kept/store.db-wal");
        let size = || fs::metadata(&log).map_or(0, |log| log.len());
        while size() <= written && importing.try_wait().expect("it was started").is_none() {
            std::thread::yield_now();
        }
        // It may have ended by itself; then all of it is there.
        let _ = importing.kill();
        importing.wait().expect("it was started");
        let listed = place.run(&["sessions", "ls", "--json"]).out;
        let is_whole = listed.lines().count() == 1 && listed.contains("\"events\":20000");
        assert!(listed.is_empty() || is_whole, "killed after {written} bytes: {listed}");
    }
}

#[test]
fn an_export_that_fails_leaves_the_one_that_was_there() {
    let place = Place::new(&[("count.yaml", COUNT)]);
    place.run(&["run", "count.yaml"]);
    std::os::unix::fs::symlink("kept.jsonl", place.path().join("link.jsonl")).expect("a link");
    let read = || fs::read_to_string(place.path().join("kept.jsonl")).expect("an export");
    place.write("kept.jsonl", "old");
    assert_eq!(place.run(&["sessions", "export", "last", "--to", "link.jsonl"]).code, Some(0));
    let good = read();
    assert_ne!(good, "old");
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    assert_eq!(file.execute("UPDATE branch SET seq = seq - 1", []), Ok(1));
    assert_eq!(place.run(&["sessions", "export", "last", "--to", "link.jsonl"]).code, Some(2));
    assert_eq!(read(), good);
    let names = fs::read_dir(place.path()).expect("a folder").map(|entry| entry.expect("a file").file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".part")));
    assert_eq!(place.run(&["sessions", "export", "last", "--to", "/dev/full"]).code, Some(2));
}
