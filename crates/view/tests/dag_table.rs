//! Small conversations, laid out and drawn exactly.

use std::fmt::Write;

use antiphon_testkit::history;
use antiphon_view::dag::{self, Dag, Layout};
use antiphon_view::{Changes, Fold, Projected};
use expect_test::{Expect, expect, expect_file};

type Folded = Fold<Projected<Dag>>;

fn laid_out(table: &str) -> Layout {
    Folded::of(&history(table)).view().projection().layout().clone()
}

/// The column of a box: the middle of it, in lanes.
fn lane(x: i64, w: i64) -> i64 {
    (x + w / 2).div_euclid(344)
}

/// A row per box (lane, upper and lower side), per arrow, per frame.
fn rows(layout: &Layout) -> String {
    let mut out = String::new();
    for node in &layout.nodes {
        let status = node.status.map_or(String::new(), |status| format!(" [{}]", status.name()));
        let place = format!("{} {:>3}..{:<3}", lane(node.x, node.w), node.y, node.bottom());
        let _ = writeln!(
            out,
            "{place} {:<14} {}: {}{status}",
            node.id.trim_start_matches("block:"),
            node.kind.name(),
            node.label
        );
    }
    for edge in &layout.edges {
        let short = |id: &str| id.trim_start_matches("block:").to_owned();
        let _ = writeln!(out, "{} -> {} {}", short(&edge.from), short(&edge.to), edge.kind.name());
    }
    for group in &layout.groups {
        let place = format!("{} {:>3}..{:<3}", lane(group.x, group.w), group.y, group.bottom());
        let summary = group.summary.as_ref().map_or(String::new(), |summary| format!(" in {summary}"));
        let _ = writeln!(out, "{place} {} ({}){summary}", group.id, group.label);
    }
    out
}

fn check(table: &str, expected: &Expect) {
    expected.assert_eq(&rows(&laid_out(table)));
}

const TURN: &str = r#"
    u1          user           "List files"
    a1^u1:user  harness_start  agentId=helper
    a1          text           t1 "I will look."
    a1          tool_call      c1 bash {"command":"ls -l","cwd":"<tmp> & \"more\""}
    a1          usage          50 20
    a1          tool_result    c1 "a.txt\nb.txt"
    a1          text           t2 "Two files."
    a1          harness_end    done
"#;

const CHILDREN: &str = r#"
    a           harness_start
    a           tool_call      c1 agent {"task":"one"}
    a           tool_call      c2 agent {"task":"two"}
    b^c1        harness_start
    c^c2        harness_start
    b           tool_call      c3 agent {"task":"three"}
    d^c3        text           t1 "deep"
    d           usage          1 1
    b           tool_result    c3 "deep"
    b           harness_end    done
    c           error          "boom"
    c           harness_end    error
    a           tool_result    c2 "failed" isError=true
    a           tool_result    c1 "fine"
    a           tool_call      c4 agent {"task":"four"}
    e^c4        harness_start
"#;

#[test]
fn a_turn_goes_down_one_lane() {
    check(
        TURN,
        &expect![[r#"
        0  58..108 u1:user        user: List files
        0 146..168 a1:harness_start step: run start · helper [completed]
        0 222..272 t1             text: I will look.
        0 286..351 c1             tool call: bash(command: ls -l, cwd: <tmp> & "more") [completed]
        0 365..387 a1:usage:1     step: usage 50→20
        0 401..451 c1:result      result: a.txt b.txt
        0 519..569 t2             text: Two files.
        0 583..605 a1:harness_end step: run end · done
        u1:user -> a1:harness_start reply
        a1:harness_start -> t1 sequence
        t1 -> c1 sequence
        c1 -> a1:usage:1 sequence
        a1:usage:1 -> c1:result sequence
        c1:result -> t2 sequence
        t2 -> a1:harness_end sequence
        0  28..122 msg:u1:user (user)
        0 192..465 msg:t1 (assistant)
        0 489..619 msg:t2 (assistant)
    "#]],
    );
}

#[test]
fn children_stand_to_the_right_and_lanes_are_used_again() {
    check(
        CHILDREN,
        &expect![[r"
        0  28..50  a:harness_start step: run start [running]
        0 104..154 c1             tool call: agent(task: one) [completed]
        0 168..218 c2             tool call: agent(task: two) [failed]
        1 168..190 b:harness_start step: run start [completed]
        2 232..254 c:harness_start step: run start [failed]
        1 244..294 c3             tool call: agent(task: three) [completed]
        3 308..358 t1             text: deep
        3 372..394 d:usage:1      step: usage 1→1
        1 408..458 c3:result      result: deep
        1 472..494 b:harness_end  step: run end · done
        2 308..358 c:error        error: boom [failed]
        2 372..394 c:harness_end  step: run end · error
        0 408..458 c2:result      result: failed [failed]
        0 508..558 c1:result      result: fine
        0 626..676 c4             tool call: agent(task: four) [pending]
        1 690..712 e:harness_start step: run start [running]
        a:harness_start -> c1 sequence
        c1 -> c2 sequence
        c1 -> b:harness_start spawn
        c2 -> c:harness_start spawn
        b:harness_start -> c3 sequence
        c3 -> t1 spawn
        t1 -> d:usage:1 sequence
        c3 -> c3:result sequence
        d:usage:1 -> c3:result return
        c3:result -> b:harness_end sequence
        c:harness_start -> c:error sequence
        c:error -> c:harness_end sequence
        c2 -> c2:result sequence
        c:harness_end -> c2:result return
        c2:result -> c1:result sequence
        b:harness_end -> c1:result return
        c1:result -> c4 sequence
        c4 -> e:harness_start spawn
        0  74..572 msg:c1 (assistant)
        1 214..508 msg:c3 (assistant)
        3 278..408 msg:t1 (assistant)
        2 278..408 msg:c:error (assistant)
        0 596..690 msg:c4 (assistant)
    "]],
    );
}

#[test]
fn a_late_result_joins_its_message_in_the_room_that_was_left_for_it() {
    let table = r#"
        a           text           t1 "calling"
        a           tool_call      c1 bash
        a           tool_call      c2 bash
        a           tool_result    c2 "second"
        a           text           t2 "next"
        a           tool_result    c1 "first"
        a           text           t3 "more"
    "#;
    check(
        table,
        &expect![[r"
        0  58..108 t1             text: calling
        0 122..172 c1             tool call: bash [completed]
        0 186..236 c2             tool call: bash [completed]
        0 250..300 c2:result      result: second
        0 462..512 t2             text: next
        0 314..364 c1:result      result: first
        0 526..576 t3             text: more
        t1 -> c1 sequence
        c1 -> c2 sequence
        c2 -> c2:result sequence
        c2:result -> t2 sequence
        c2:result -> c1:result sequence
        t2 -> t3 sequence
        0  28..378 msg:t1 (assistant)
        0 432..590 msg:t2 (assistant)
    "]],
    );
}

#[test]
fn an_orphan_moves_below_its_parent_when_that_comes() {
    let table = r#"
        b^c1        harness_start
        a           harness_start
        a           tool_call      c1 agent
        a           text           t1 "go on"
    "#;
    check(
        table,
        &expect![[r"
        2 168..190 b:harness_start step: run start [running]
        1  28..50  a:harness_start step: run start [running]
        1 104..154 c1             tool call: agent [pending]
        1 168..218 t1             text: go on
        a:harness_start -> c1 sequence
        c1 -> b:harness_start spawn
        c1 -> t1 sequence
        1  74..232 msg:c1 (assistant)
    "]],
    );
}

#[test]
fn a_parent_goes_above_an_orphan_that_has_grown_larger() {
    let table = r#"
        b^c1        harness_start
        b           tool_call      c2 agent
        c^c2        text           t2 "grandchild"
        a           harness_start
        a           tool_call      c1 agent
        a           text           t1 "go on"
    "#;
    check(
        table,
        &expect![[r"
        0  28..50  b:harness_start step: run start [running]
        0 104..154 c2             tool call: agent [pending]
        1 168..218 t2             text: grandchild
        -1 -112..-90 a:harness_start step: run start [running]
        -1 -36..14  c1             tool call: agent [pending]
        -1  58..108 t1             text: go on
        b:harness_start -> c2 sequence
        c2 -> t2 spawn
        a:harness_start -> c1 sequence
        c1 -> b:harness_start spawn
        c1 -> t1 sequence
        0  74..168 msg:c2 (assistant)
        1 138..232 msg:t2 (assistant)
        -1 -66..122 msg:c1 (assistant)
    "]],
    );
    expect![[r"
        ○     run start [running]
        ▶     tool call agent [pending]
        ├─╮
        │ ○   run start [running]
        ● │   text      go on
          ▶   tool call agent [pending]
          ╰─╮
            ● text      grandchild
    "]]
    .assert_eq(&dag::text(&laid_out(table), 72));
    let picture = dag::svg(&laid_out(table));
    let sizes: Vec<_> =
        picture.lines().filter(|line| line.contains("<svg") || line.contains("paper")).collect();
    expect![[r#"
        <svg xmlns="http://www.w3.org/2000/svg" class="dag" width="1376" height="400" viewBox="-344 -140 1376 400" role="img">
        .dag .paper { fill: #ffffff; }
        .dag .paper { fill: #0f1216; }
        <rect class="paper" x="-344" y="-140" width="100%" height="100%"/>"#]].assert_eq(&sizes.join("\n"));
}

#[test]
fn two_answers_to_one_message_stand_side_by_side() {
    let table = r#"
        u           user           "which?"
        a^u:user    text           t1 "this"
        a           usage          1 1
        b^u:user    text           t2 "that"
        b           usage          1 1
        v^b:usage:1 user           "thanks"
    "#;
    check(
        table,
        &expect![[r"
        0  58..108 u:user         user: which?
        0 176..226 t1             text: this
        0 240..262 a:usage:1      step: usage 1→1
        1 122..172 t2             text: that
        1 186..208 b:usage:1      step: usage 1→1
        1 276..326 v:user         user: thanks
        u:user -> t1 reply
        t1 -> a:usage:1 sequence
        u:user -> t2 reply
        t2 -> b:usage:1 sequence
        b:usage:1 -> v:user reply
        0  28..122 msg:u:user (user)
        0 146..276 msg:t1 (assistant)
        1  92..222 msg:t2 (assistant)
        1 246..340 msg:v:user (user)
    "]],
    );
}

#[test]
fn requests_retries_and_summaries_show_how_things_stand() {
    let table = r#"
        u           user           "go"
        -           relay_resolved r2 false
        a^u:user    text           t1 "half"
        a           text           t2 "void"
        a           model_retry    2 ["t2"] overloaded
        a           relay          r1 permission tool=bash params={"command":"rm"}
        a           relay          r2 question prompt="sure?"
        a           relay_resolved r1 true
        -           summary        s1 ["msg:u:user","msg:t1"] "asked"
    "#;
    check(
        table,
        &expect![[r"
        0  58..108 u:user         user: go
        0 176..226 t1             text: half
        0 240..290 t2             text: void [discarded]
        0 304..326 a:model_retry:1 step: retry 2 · overloaded
        0 394..444 r1             request: bash(command: rm) [approved]
        0 458..508 r2             request: sure? [denied]
        0 522..544 a:relay_resolved:1 step: relay resolved
        u:user -> t1 reply
        t1 -> t2 sequence
        t2 -> a:model_retry:1 sequence
        a:model_retry:1 -> r1 sequence
        r1 -> r2 sequence
        r2 -> a:relay_resolved:1 sequence
        0  28..122 msg:u:user (user) in msg:s1
        0 146..340 msg:t1 (assistant) in msg:s1
        0 364..558 msg:r1 (assistant)
    "]],
    );
}

#[test]
fn room_is_left_only_for_what_is_sure_to_come() {
    check(
        "
        f run_start
        f node_start a 1 1
        f text t1 first nodeId=a messageId=m1
        f tool_call c1 bash nodeId=a messageId=m1
        f tool_result c1 ok nodeId=a
        f text t2 second nodeId=a messageId=m2
        f node_end a nodeId=a
        f node_start b 1 1
        f node_start c 1 1
        f text t3 both nodeId=b
        f text t4 speak nodeId=c
        f node_end b
        f node_end c
        f run_end
        ",
        &expect![[r#"
            0  28..50  f:run_start    step: flow start · flow [completed]
            0  64..86  f:a:1:start    step: ▶ a [completed]
            0 140..190 t1             text: first
            0 204..254 c1             tool call: bash [completed]
            0 268..318 c1:result      result: ok
            0 386..436 t2             text: second
            0 450..472 f:a:1:end      step: ■ a COMPLETED [completed]
            0 510..532 f:b:1:start    step: ▶ b [completed]
            0 546..568 f:c:1:start    step: ▶ c [completed]
            0 622..672 t3             text: both
            0 776..826 t4             text: speak
            0 686..708 f:b:1:end      step: ■ b COMPLETED [completed]
            0 840..862 f:c:1:end      step: ■ c COMPLETED [completed]
            0 900..922 f:run_end      step: flow end
            f:run_start -> f:a:1:start sequence
            f:a:1:start -> t1 sequence
            t1 -> c1 sequence
            c1 -> c1:result sequence
            c1:result -> t2 sequence
            t2 -> f:a:1:end sequence
            f:a:1:end -> f:b:1:start sequence
            f:b:1:start -> f:c:1:start sequence
            f:c:1:start -> t3 sequence
            t3 -> t4 sequence
            t3 -> f:b:1:end sequence
            t4 -> f:c:1:end sequence
            f:c:1:end -> f:run_end sequence
            0 110..332 msg:m1 (a)
            0 356..486 msg:m2 (a)
            0 592..722 msg:t3 (b)
            0 746..876 msg:t4 (c)
        "#]],
    );
}

#[test]
fn a_label_grows_while_text_streams_and_then_stays() {
    let mut fold = Folded::default();
    let mut changes = Changes::wanted();
    let mut said = String::new();
    for event in history(&"a text t1 \"twenty letters here \"\n".repeat(8)) {
        fold.apply(&event, &mut changes);
        let list: Vec<_> =
            changes.take().iter().map(|change| serde_json::to_string(change).expect("JSON")).collect();
        let _ = writeln!(said, "{}", list.join(" "));
    }
    expect![[r#"
        {"op":"append","path":"/nodes","value":{"id":"block:t1","x":42,"y":58,"w":260,"h":50,"label":"twenty letters here","type":"text","runId":"a","messageId":"msg:t1"}} {"op":"set","path":"/height","value":150} {"op":"set","path":"/width","value":344} {"op":"append","path":"/groups","value":{"id":"msg:t1","label":"assistant","x":28,"y":28,"w":288,"h":94,"speaker":"assistant"}}
        {"op":"set","path":"/nodes/0/label","value":"twenty letters here twenty letters here"} {"op":"set","path":"/nodes/0/h","value":65} {"op":"set","path":"/groups/0/h","value":109} {"op":"set","path":"/height","value":165}
        {"op":"set","path":"/nodes/0/label","value":"twenty letters here twenty letters here twenty letters here"}
        {"op":"set","path":"/nodes/0/label","value":"twenty letters here twenty letters here twenty letters here twenty letters here"} {"op":"set","path":"/nodes/0/h","value":80} {"op":"set","path":"/groups/0/h","value":124} {"op":"set","path":"/height","value":180}
        {"op":"set","path":"/nodes/0/label","value":"twenty letters here twenty letters here twenty letters here twenty letters…"}



    "#]].assert_eq(&said);
}

#[test]
fn pictures_of_a_turn_and_of_children() {
    let (turn, children) = (laid_out(TURN), laid_out(CHILDREN));
    expect_file!["pictures/turn.svg"].assert_eq(&dag::svg(&turn));
    expect_file!["pictures/turn.mermaid"].assert_eq(&dag::mermaid(&turn));
    expect_file!["pictures/turn.dot"].assert_eq(&dag::dot(&turn));
    expect_file!["pictures/children.svg"].assert_eq(&dag::svg(&children));
    expect_file!["pictures/children.mermaid"].assert_eq(&dag::mermaid(&children));
    expect_file!["pictures/children.dot"].assert_eq(&dag::dot(&children));
}

#[test]
fn text_shows_lanes_as_version_control_does() {
    expect![[r"
        ○       run start [running]
        ▶       tool call agent(task: one)
        ▶       tool call agent(task: two) [failed]
        ├─╮
        │ ○     run start
        ├─┼─╮
        │ │ ○   run start [failed]
        │ ▶ │   tool call agent(task: three)
        │ │ ✗   error     boom [failed]
        │ ├─┼─╮
        │ │ │ ● text      deep
        │ │ ○ │ run end · error
        │ │ │ ○ usage 1→1
        ├╌┼╌╯ │
        ◀ │   │ result    failed [failed]
        │ ├╌╌╌╯
        │ ◀     result    deep
        │ ○     run end · done
        ├╌╯
        ◀       result    fine
        ▶       tool call agent(task: four) [pending]
        ╰─╮
          ○     run start [running]
    "]]
    .assert_eq(&dag::text(&laid_out(CHILDREN), 72));
}

#[test]
fn lanes_that_find_no_room_in_text_share_a_column() {
    expect![[r"
        ○     run st
        ▶     tool c
        ▶     tool c
        ├─╮
        │ ○   run st
        ├─┼─╮
        │ │ ○ run st
        │ ▶ │ tool c
        │ │ ✗ error
        │ ├─┤
        │ │ ● text
        │ │ ○ run en
        │ │ ○ usage
        ├╌┼╌┤
        ◀ │ │ result
        │ ├╌╯
        │ ◀   result
        │ ○   run en
        ├╌╯
        ◀     result
        ▶     tool c
        ╰─╮
          ○   run st
    "]]
    .assert_eq(&dag::text(&laid_out(CHILDREN), 12));
}

#[test]
fn nothing_in_a_label_is_taken_for_markup() {
    let hostile =
        r#"a text t1 "</text><script>x</script> \"]; end & #quot; \\N `**` \u0007\u202e\u2028 %% -->""#;
    let layout = laid_out(hostile);
    let line = |picture: &str| {
        picture.lines().find(|line| line.contains("script")).unwrap_or_default().trim().to_owned()
    };
    let shown = [
        line(&dag::svg(&layout)),
        line(&dag::mermaid(&layout)),
        line(&dag::dot(&layout)),
        line(&dag::text(&layout, 100)),
    ];
    expect![[r##"
        &lt;/text&gt;&lt;script&gt;x&lt;/script&gt; &quot;]; end &amp; #quot; \N `**` %% --&gt;
        n0["text: #60;/text#62;#60;script#62;x#60;/script#62; #34;#93;#59; end #38; #35;quot#59; #92;N #96;#42;#42;#96; #37;#37; --#62;"]
        n0 [label="text: </text><script>x</script> \"];\nend &amp; #quot; \\N `**` %% -->", color="#2563eb"];
        ● text      </text><script>x</script> "]; end & #quot; \N `**` %% -->"##]].assert_eq(&shown.join("\n"));
}

#[test]
fn emoji_and_words_that_are_held_together_by_what_does_not_print_stay_whole() {
    let said = "fam 👩\u{200d}👩\u{200d}👧\u{200d}👦 می\u{200c}خواهم 🏳\u{fe0f}\u{200d}🌈";
    let layout = laid_out(&format!("u user \"\u{202e}{said}\u{2067}\""));
    assert_eq!(layout.nodes[0].label, said);
    let pictures = [dag::svg(&layout), dag::mermaid(&layout), dag::dot(&layout), dag::text(&layout, 80)];
    for picture in pictures {
        assert!(picture.contains(said), "{picture}");
    }
    assert_eq!(dag::text(&layout, 22), "◆ user      fam\n");
}

#[test]
fn nothing_is_drawn_of_nothing() {
    let empty = Layout::default();
    assert_eq!(dag::text(&empty, 80), "");
    assert_eq!(dag::mermaid(&empty), "flowchart TD\n");
    assert!(dag::svg(&empty).ends_with("</svg>\n"));
}

#[test]
fn a_layout_that_was_tampered_with_is_not_taken_up() {
    let saved = serde_json::to_string(&Folded::of(&history(TURN))).expect("views are saved as JSON");
    let broken = saved.replacen(r#""lane":0,"#, r#""lane":7,"#, 1);
    assert_ne!(saved, broken);
    assert!(serde_json::from_str::<Folded>(&saved).is_ok());
    let refusal = serde_json::from_str::<Folded>(&broken).expect_err("points nowhere");
    assert!(refusal.to_string().starts_with("the saved layout points to places it does not have"));
}
