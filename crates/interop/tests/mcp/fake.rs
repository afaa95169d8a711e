//! What comes of calls, whatever a server answers.

use std::sync::Arc;

use antiphon_interop::mcp::{Options, Servers};
use expect_test::expect;

use crate::door::{Heard, call, check, fake, open, options, tool};

#[tokio::test]
async fn tools_are_listed_and_called() {
    check(
        &fake(""),
        options(),
        r#"
            specs
            left out
            echo {"text": "hello"}
            fail
            error
        "#,
        expect![[r#"
            > specs
            it_echo Read {"type":"object","properties":{"text":{"type":"string"}}}
            it_set Idempotent {"type":"object"}
            it_steps Write {"type":"object"}
            it_hang Write {"type":"object"}
            it_die Write {"type":"object"}
            it_huge Write {"type":"object"}
            it_fail Write {"type":"object"}
            it_error Write {"type":"object"}
            it_change Write {"type":"object"}
            it_ask Write {"type":"object"}
            it_child Write {"type":"object"}
            it_env Write {"type":"object"}
            it_mumble Write {"type":"object"}
            it_deep Write {"type":"object"}
            it_strange Write {"type":"object"}
            it_flood Write {"type":"object"}
            > left out
            `list`: its arguments are no object, but "array"
            `echo`: it is there twice
            > echo {"text": "hello"}
            "hello"
            > fail
            failed: it does not work
            > error
            failed: MCP server `it` refused `error`: wrong arguments (-32602)
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_list_comes_in_pages_and_names_are_made_safe() {
    check(
        &fake("pages"),
        options(),
        "specs",
        expect![[r#"
        > specs
        it_a_0 Write {"type":"object"}
        it_a_0_2 Write {"type":"object"}
        it_a_1 Write {"type":"object"}
        it_a_1_2 Write {"type":"object"}
        it_a_2 Write {"type":"object"}
        it_a_2_2 Write {"type":"object"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_list_without_an_end_is_cut() {
    check(
        &fake("endless"),
        Options { tools: 3, ..options() },
        "
            specs
            left out
        ",
        expect![[r#"
            > specs
            it_tool0 Write {"type":"object"}
            it_tool1 Write {"type":"object"}
            it_tool2 Write {"type":"object"}
            > left out
            all after the first 3: there are too many
        "#]],
    )
    .await;
}

#[tokio::test]
async fn progress_is_heard_in_order_and_before_the_answer() {
    check(
        &fake(""),
        options(),
        "steps",
        expect![[r#"
        > steps
        … {"progress":1.0,"total":3.0,"message":"step 1"}
        … {"progress":2.0,"total":3.0,"message":"step 2"}
        … {"progress":3.0,"total":3.0,"message":"step 3"}
        "all steps done"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn rubbish_on_the_output_is_passed_over() {
    check(
        &fake("rubbish"),
        options(),
        r#"
            mumble
            echo {"text": "hello"}
            die
        "#,
        expect![[r#"
            > mumble
            "said it"
            > echo {"text": "hello"}
            "hello"
            > die
            failed: MCP server `it` ended (exit status: 7) while `die` was called; it last said:
            Welcome to the server!
            {"not": "a message"}
            {[
            debug: about to answer
            out of cheese
            redo from start
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_too_large_is_refused_and_the_server_goes_on() {
    check(
        &fake(""),
        options(),
        r#"
            huge {"bytes": 1000000}
            huge {"bytes": 10}
        "#,
        expect![[r#"
            > huge {"bytes": 1000000}
            failed: MCP server `it` refused `huge`: the answer is larger than the 100000 bytes that are allowed: ask for less (-32603)
            > huge {"bytes": 10}
            "xxxxxxxxxx"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_a_fault_and_the_server_goes_on() {
    check(
        &fake(""),
        options(),
        r#"
            deep
            strange
            flood
            echo {"text": "still here"}
        "#,
        expect![[r#"
            > deep
            failed: MCP server `it` refused `deep`: the answer cannot be read: recursion limit exceeded at line 1 column 180 (-32603)
            > strange
            failed: MCP server `it` gave an answer that is none, when `strange` was called
            > flood
            "said it all"
            > echo {"text": "still here"}
            "still here"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_of_the_next_version_is_greeted_its_way() {
    check(
        &fake("modern"),
        options(),
        "echo {\"text\": \"hello\"}",
        expect![[r#"
        > echo {"text": "hello"}
        "hello"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_changed_list_is_listed_again() {
    check(
        &fake(""),
        options(),
        "
            change
            new
        ",
        expect![[r#"
            > change
            "changed"
            > new
            failed: MCP server `it` refused `new`: no tool new (-32601)
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_a_server_asks_is_answered() {
    check(&fake(""), options(), "ask", expect![[r#"
        > ask
        "ping: {}\nroots/list: {\"code\":-32601,\"message\":\"roots is not supported by this client\"}\nsampling/createMessage: {\"code\":-32601,\"message\":\"sampling is not supported by this client\"}\nelicitation/create: {\"code\":-32601,\"message\":\"elicitation is not supported by this client\"}\nmade/up: {\"code\":-32601,\"message\":\"made/up\"}\n"
    "#]]).await;
    let options = Options { roots: vec!["/some where".into()], ..options() };
    check(&fake(""), options, "ask", expect![[r#"
        > ask
        "ping: {}\nroots/list: {\"roots\":[{\"uri\":\"file:///some%20where\"}]}\nsampling/createMessage: {\"code\":-32601,\"message\":\"sampling is not supported by this client\"}\nelicitation/create: {\"code\":-32601,\"message\":\"elicitation is not supported by this client\"}\nmade/up: {\"code\":-32601,\"message\":\"made/up\"}\n"
    "#]]).await;
}

#[tokio::test]
async fn keys_of_ours_stay_with_us() {
    let connected = open(&fake(""), options()).await.expect("it starts");
    let env = tool(&connected, "env").await;
    let reply = call(&env, "{}", &Arc::new(Heard::default())).await.expect("it says its environment");
    let names = reply.output.to_text().into_owned();
    assert!(names.contains("PATH "), "{names}");
    assert!(!names.contains("CARGO"), "{names}");
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let connected = open(&fake(""), options()).await.expect("it starts");
    let (hang, echo) = (tool(&connected, "hang").await, tool(&connected, "echo").await);
    let heard = Arc::new(Heard::default());
    let waiting = tokio::spawn(call(&hang, "{}", &heard));
    for number in 0..50 {
        let input = format!(r#"{{"text": "{number}"}}"#);
        let reply = call(&echo, &input, &heard).await.expect("it answers");
        assert_eq!(reply.output.to_text(), number.to_string());
    }
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn one_server_that_fails_does_not_keep_the_others() {
    let named = [("a", fake("pages")), ("a_a", fake("pages")), ("b", fake("dies"))];
    let named = named.into_iter().map(|(name, server)| (name.to_owned(), server)).collect();
    let (servers, faults) = Servers::connect(&named, &options()).await;
    let (tools, more) = servers.tools().await;
    let listed: String = tools.iter().map(|tool| format!("{}\n", tool.spec().name)).collect();
    expect![[r#"
        a_a_0
        a_a_0_2
        a_a_1
        a_a_1_2
        a_a_2
        a_a_2_2
        a_a_a_0
        a_a_a_0_2
        a_a_a_1
        a_a_a_1_2
        a_a_a_2
        a_a_a_2_2
        MCP server `b` ended (exit status: 3) before it was ready; it last said:
        no licence
        I am leaving
    "#]]
    .assert_eq(&format!("{listed}{}\n", faults[0]));
    assert_eq!((faults.len(), more), (1, vec![]));
    drop(tools);
    servers.close().await;
}
