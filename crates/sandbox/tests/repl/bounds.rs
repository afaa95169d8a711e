//! Every bound ends in a turn with an error, and the session goes on.

use std::time::Duration;

use antiphon_port::ReplLimits;
use expect_test::{Expect, expect};

use crate::door::{Bench, limits, show};

/// Runs each piece in the same session, after a turn that keeps something and before one that looks for it.
fn holds(limits: ReplLimits, table: &[&str], expected: Expect) {
    let mut bench = Bench::new(limits);
    let mut shown = String::new();
    for code in table {
        bench.run("scope.kept = 'kept'");
        let turn = bench.run(code);
        let left = bench.run("console.log(scope.kept, 1 + 1)");
        shown.push_str(&format!("{code}\n{}{}", calm(&show(&turn)), show(&left)));
    }
    expected.assert_eq(&shown);
}

/// In which words the engine is out of memory, and what else then fails, depends on the last byte.
fn calm(shown: &str) -> String {
    let words = ["InternalError: out of memory", "thrown: null, as the engine does"];
    let lines = shown.lines().filter(|line| !line.starts_with("> nobody caught"));
    lines
        .map(|line| match line.split_once("; at most") {
            Some((head, tail)) if words.iter().any(|word| head.contains(word)) => {
                let lost = tail.split_once("; ").map_or(String::new(), |(_, lost)| format!("; {lost}"));
                format!("! out of memory{lost}\n")
            }
            Some(_) | None => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn time() {
    holds(
        ReplLimits { time: Duration::from_millis(150), ..limits() },
        &[
            "for (;;) ;",
            "while (true) { try { for (;;) ; } catch {} finally { continue } }",
            "for (;;) await null",
            "const f = () => queueMicrotask(f); f(); await new Promise(() => {})",
            "/(a+)+$/.test('a'.repeat(40) + 'b')",
            "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
            "[1].map(function f() { for (;;) ; })",
            "JSON.parse('[1]', () => { for (;;) ; })",
            "[3, 1, 2].sort(() => { for (;;) ; })",
            "new Proxy({}, {get() { for (;;) ; }}).x",
            "console.log({get x() { return 1 }}, new Proxy({}, {ownKeys() { for (;;) ; }}))",
            "throw new Proxy(new Error('x'), {getPrototypeOf() { for (;;) ; }})",
            "FINAL({toJSON() { for (;;) ; }})",
            "function* g() { for (;;) yield 1 } for (const x of g()) ;",
            "eval('for (;;) ;')",
            "new Function('for (;;) ;')()",
            "Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)",
            "Object.defineProperty(scope, 'x', {set() { for (;;) ; }, configurable: false}); const x = 1",
            "const big = JSON.stringify(Array.from({length: 1e4}, (_, i) => [i])); for (;;) JSON.parse(big)",
            "const big = 'x'.repeat(1e6); for (;;) big.includes('y')",
            "const big = Array.from({length: 1e5}, (_, i) => i); for (;;) big.slice(1).reverse()",
            "const big = {}; for (let i = 0; i < 1e4; i += 1) big['k' + i] = i; for (;;) Object.entries(big)",
            "Array.prototype.reverse.call({length: 2 ** 53 - 1})",
        ],
        expect![[r#"
            for (;;) ;
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            while (true) { try { for (;;) ; } catch {} finally { continue } }
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            for (;;) await null
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            const f = () => queueMicrotask(f); f(); await new Promise(() => {})
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            /(a+)+$/.test('a'.repeat(40) + 'b')
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            [1].map(function f() { for (;;) ; })
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            JSON.parse('[1]', () => { for (;;) ; })
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            [3, 1, 2].sort(() => { for (;;) ; })
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            new Proxy({}, {get() { for (;;) ; }}).x
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            console.log({get x() { return 1 }}, new Proxy({}, {ownKeys() { for (;;) ; }}))
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            throw new Proxy(new Error('x'), {getPrototypeOf() { for (;;) ; }})
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            FINAL({toJSON() { for (;;) ; }})
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            function* g() { for (;;) yield 1 } for (const x of g()) ;
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            eval('for (;;) ;')
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            new Function('for (;;) ;')()
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            Object.defineProperty(scope, 'x', {set() { for (;;) ; }, configurable: false}); const x = 1
            .
            > kept 2
            const big = JSON.stringify(Array.from({length: 1e4}, (_, i) => [i])); for (;;) JSON.parse(big)
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            const big = 'x'.repeat(1e6); for (;;) big.includes('y')
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            const big = Array.from({length: 1e5}, (_, i) => i); for (;;) big.slice(1).reverse()
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            const big = {}; for (let i = 0; i < 1e4; i += 1) big['k' + i] = i; for (;;) Object.entries(big)
            ! out of time: at work for 150ms, which is the bound of a turn
            > kept 2
            Array.prototype.reverse.call({length: 2 ** 53 - 1})
            ! RangeError: reverse: 9007199254740991 elements, at most 1048576 (turn 68, line 1)
            > kept 2
        "#]],
    );
}

/// Each promise waits for the next. To let go of them one by one takes about as long as to make them, so it depends on
/// the machine whether the engine is done with it in the time that it has to tidy up.
#[test]
fn a_scope_is_empty_only_if_that_was_said() {
    // A chain of promises grows, and must be out of time before it is out of memory, however fast the machine is.
    let (time, memory_bytes) = (Duration::from_millis(150), 1 << 30);
    let mut bench = Bench::new(ReplLimits { time, memory_bytes, ..limits() });
    bench.run("scope.kept = 'kept'");
    let turn = show(&bench.run("const f = () => Promise.resolve().then(f); await f()"));
    let left = show(&bench.run("console.log(scope.kept, 1 + 1)"));
    let late = "! out of time: at work for 150ms, which is the bound of a turn";
    let expected = match turn.strip_prefix(late) {
        Some("\n") => "> kept 2\n",
        Some("; the engine was replaced, and scope is empty\n") => "> undefined 2\n",
        Some(_) | None => panic!("{turn}"),
    };
    assert_eq!(left, expected);
}

#[test]
fn memory_and_stack() {
    holds(
        ReplLimits { time: Duration::from_mins(1), ..limits() },
        &[
            "'x'.repeat(2 ** 30)",
            "let s = 'x'; for (;;) s += s",
            "const a = []; for (;;) a.push(a.length)",
            "const a = []; for (;;) a.push([1, 2, 3])",
            "scope.hoard = []; for (;;) scope.hoard.push({})",
            "new ArrayBuffer(2 ** 40)",
            "new Uint8Array(2 ** 31)",
            "new Array(2 ** 32 - 1).fill(0)",
            "const m = new Map(); for (let i = 0; ; i += 1) m.set(i, i)",
            "2n ** (2n ** 40n)",
            "let n = 3n; for (;;) n = n * n",
            "1n << 10_000_000_000n",
            "(function f() { f() })()",
            "const o = {}; o.toString = () => `${o}`; `${o}`",
            "let a = []; for (let i = 0; i < 1e5; i += 1) a = [a]; JSON.stringify(a)",
            "JSON.parse('['.repeat(1e6))",
            "eval('('.repeat(1e6))",
            "new RegExp('('.repeat(1e5))",
            "let p = {}; for (let i = 0; i < 1e5; i += 1) p = new Proxy(p, {}); p.x",
            "let f = () => 1; for (let i = 0; i < 1e5; i += 1) f = f.bind(); f()",
            "'a'.padEnd(2 ** 29)",
            "Array(1e6).join('x'.repeat(1e3))",
            "try { for (let a = ['x']; ;) a.push(...a) } catch (e) { console.log('caught') }",
            "await Promise.all(Array.from({length: 1e6}, async () => { await null }))",
            "(async () => { const all = []; for (;;) { all.push(new Array(1000).fill(0)); await null } })(); await new Promise(() => {})",
        ],
        expect![[r#"
            'x'.repeat(2 ** 30)
            ! RangeError: invalid string length (turn 2, line 1)
            > kept 2
            let s = 'x'; for (;;) s += s
            ! InternalError: string too long (turn 5, line 1)
            > kept 2
            const a = []; for (;;) a.push(a.length)
            ! out of memory
            > kept 2
            const a = []; for (;;) a.push([1, 2, 3])
            ! out of memory; what this turn declared is not kept
            > kept 2
            scope.hoard = []; for (;;) scope.hoard.push({})
            ! out of memory; the engine was replaced, and scope is empty
            > undefined 2
            new ArrayBuffer(2 ** 40)
            ! RangeError: invalid array buffer length (turn 17, line 1)
            > kept 2
            new Uint8Array(2 ** 31)
            ! RangeError: invalid array buffer length (turn 20, line 1)
            > kept 2
            new Array(2 ** 32 - 1).fill(0)
            ! RangeError: fill: 4294967295 elements, at most 1048576 (turn 23, line 1)
            > kept 2
            const m = new Map(); for (let i = 0; ; i += 1) m.set(i, i)
            ! out of memory; what this turn declared is not kept
            > kept 2
            2n ** (2n ** 40n)
            ! RangeError: BigInt is too large (turn 29, line 1)
            > kept 2
            let n = 3n; for (;;) n = n * n
            ! RangeError: BigInt is too large to allocate (turn 32, line 1)
            > kept 2
            1n << 10_000_000_000n
            ! RangeError: BigInt is too large to allocate (turn 35, line 1)
            > kept 2
            (function f() { f() })()
            ! RangeError: Maximum call stack size exceeded (turn 38, line 1)
            > kept 2
            const o = {}; o.toString = () => `${o}`; `${o}`
            ! RangeError: Maximum call stack size exceeded (turn 41, line 1)
            > kept 2
            let a = []; for (let i = 0; i < 1e5; i += 1) a = [a]; JSON.stringify(a)
            ! RangeError: Maximum call stack size exceeded (turn 44, line 1)
            > kept 2
            JSON.parse('['.repeat(1e6))
            ! RangeError: Maximum call stack size exceeded (turn 47, line 1)
            > kept 2
            eval('('.repeat(1e6))
            ! RangeError: Maximum call stack size exceeded (turn 50, line 1)
            > kept 2
            new RegExp('('.repeat(1e5))
            ! SyntaxError: too many captures (turn 53, line 1)
            > kept 2
            let p = {}; for (let i = 0; i < 1e5; i += 1) p = new Proxy(p, {}); p.x
            ! out of memory; what this turn declared is not kept
            > kept 2
            let f = () => 1; for (let i = 0; i < 1e5; i += 1) f = f.bind(); f()
            ! out of memory; what this turn declared is not kept
            > kept 2
            'a'.padEnd(2 ** 29)
            ! out of memory
            > kept 2
            Array(1e6).join('x'.repeat(1e3))
            ! out of memory
            > kept 2
            try { for (let a = ['x']; ;) a.push(...a) } catch (e) { console.log('caught') }
            > caught
            > kept 2
            await Promise.all(Array.from({length: 1e6}, async () => { await null }))
            ! out of memory
            > kept 2
            (async () => { const all = []; for (;;) { all.push(new Array(1000).fill(0)); await null } })(); await new Promise(() => {})
            ! the code awaits a promise that never settles: nothing is left to run
            > kept 2
        "#]],
    );
}

#[test]
fn output_answers_and_calls() {
    holds(
        ReplLimits { output_chars: 40, time: Duration::from_mins(1), ..limits() },
        &[
            "console.log('x'.repeat(50))",
            "for (let i = 0; i < 1e5; i += 1) console.log(i)",
            "console.log('é'.repeat(39)); console.log('never seen')",
            "console.log('x'.repeat(1e7), 'y'.repeat(1e7))",
            "await llm_query('x'.repeat(1001))",
            "await llm_query('x', 'y'.repeat(1000))",
            "await exec('x'.repeat(1001))",
            "await Promise.all(Array.from({length: 9}, () => llm_query('never')))",
            "for (let i = 0; i < 100; i += 1) await llm_query('up x'); console.log('a hundred')",
            "await llm_query()",
            "await exec({})",
            "FINAL(await llm_query({a: 1}, null))",
        ],
        expect![[r#"
            console.log('x'.repeat(50))
            > xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            > (cut)
            > kept 2
            for (let i = 0; i < 1e5; i += 1) console.log(i)
            > 0
            > 1
            > 2
            > 3
            > 4
            > 5
            > 6
            > 7
            > 8
            > 9
            > 10
            > 11
            > 12
            > 13
            > 14
            > 15
            > 16
            > (cut)
            > kept 2
            console.log('é'.repeat(39)); console.log('never seen')
            > ééééééééééééééééééééééééééééééééééééééé
            > (cut)
            > kept 2
            console.log('x'.repeat(1e7), 'y'.repeat(1e7))
            ! out of memory
            > kept 2
            await llm_query('x'.repeat(1001))
            ! RangeError: llm_query: 1001 characters, at most 1000; pass a part of it (turn 14, line 1)
            > kept 2
            await llm_query('x', 'y'.repeat(1000))
            ! RangeError: llm_query: 1001 characters, at most 1000; pass a part of it (turn 17, line 1)
            > kept 2
            await exec('x'.repeat(1001))
            ! RangeError: exec: 1001 characters, at most 1000; pass a part of it (turn 20, line 1)
            > kept 2
            await Promise.all(Array.from({length: 9}, () => llm_query('never')))
            ! RangeError: llm_query: too many calls at once, at most 8 and 16777216 bytes (turn 23, line 1)
            > kept 2
            for (let i = 0; i < 100; i += 1) await llm_query('up x'); console.log('a hundred')
            > a hundred
            > kept 2
            await llm_query()
            ! TypeError: llm_query(prompt, context?): no prompt (turn 29, line 1)
            > kept 2
            await exec({})
            ! TypeError: exec(command): the command has to be a string (turn 32, line 1)
            > kept 2
            FINAL(await llm_query({a: 1}, null))
            = <{"a":1}>
            > kept 2
        "#]],
    );
}
