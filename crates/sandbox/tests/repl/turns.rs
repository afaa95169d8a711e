//! What a turn comes to: printed, thrown, answered, kept.

use expect_test::expect;

use crate::door::check;

#[test]
fn code_is_the_body_of_an_async_function() {
    check(
        "const n = await Promise.resolve(2); console.log(n, context.length); return 5
---
FINAL(await llm_query('up hello', 'ctx'))
---
try { await llm_query('fail no luck') } catch (e) { console.error(e) }
---
await exec('fail denied')
---
FINAL(await exec('up ls'))",
        expect![[r#"
            > 2 16
            = HELLO
            > Error: no luck
            ! Error: denied
            = LS
        "#]],
    );
}

#[test]
fn declarations_and_scope_last() {
    check(
        "const a = 1; let [b, {c}] = [2, {c: 3}]; var d = 4; function f(x) { return x + a } class K { m() { return 'm' } }
scope.map = new Map([['k', {v: 1}]]); e = 6
---
console.log(a, b, c, d, e, f(10), new K().m(), map.get('k').v, scope.map.size, Object.keys(scope))
---
const a = 'again'; b += 1; map.set('l', 2)
---
console.log(a, b, scope.a, scope.b, map.size, f(10))
---
let early = 1; nowhere(); let late = 2
---
console.log(early, typeof late)
---
const context = 'mine', console2 = console; console2.log(context)
---
console.log(context.length, typeof console2.log)
---
delete scope.a; console.log(typeof a, 'a' in scope)",
        expect![[r#"
            .
            > 1 2 3 4 6 11 m 1 1 [ "map", "a", "b", "c", "d", "f", "K" ]
            .
            > again 3 again 3 2 11
            ! ReferenceError: nowhere is not defined (turn 5, line 1)
            > 1 undefined
            > mine
            > 16 function
            > undefined false
        "#]],
    );
}

#[test]
fn values_are_printed_for_a_reader() {
    check(
        r#"console.log('text', 1, -0, 1.5, NaN, true, null, undefined, 10n, Symbol('s'))
console.log([1, 'two', [3, [4, [5, [6]]]], , null], {a: 1, 'b c': {d: 'e'}, [Symbol('k')]: 1})
console.log(new Map([[{k: 1}, new Set([1, 'x'])]]), new Set(), [], {})
console.log(function f() {}, () => {}, class K {}, new (class Point { x = 1 })(), Object.create(null))
console.log(new Error('no'), new TypeError('bad', {cause: new Error('why')}), [new RangeError('r')])
const loop = {name: 'loop'}; loop.self = loop; loop.list = [loop]; console.log(loop)
console.log({get g() { throw 1 }, set s(v) {}, get both() { return 1 }, set both(v) {}})
console.log(new Date(0), /a\/b/gi, new Date(NaN), new Uint8Array([1, 2]), [Object(1), Object('s')], Promise.resolve(1))
console.log(Array.from({length: 150}, (_, i) => i))
console.log(new Proxy({}, {ownKeys() { throw new Error('trap') }}), new Proxy([1], {}))
console.log('%s', '\ud800 lone', 'é😀')
console.log()
console.info('i'); console.debug('d'); console.warn('w'); console.error('e', {x: 1})"#,
        expect![[r#"
            > text 1 -0 1.5 NaN true null undefined 10n Symbol(s)
            > [ 1, "two", [ 3, [ 4, [ 5, [Array] ] ] ], <empty>, null ] { a: 1, "b c": { d: "e" }, [Symbol(k)]: 1 }
            > Map(1) { { k: 1 } => Set(2) { 1, "x" } } Set(0) {} [] {}
            > [Function: f] [Function] [Function: K] Point { x: 1 } {}
            > Error: no TypeError: bad (cause: Error: why) [ RangeError: r ]
            > { name: "loop", self: [Circular], list: [ [Circular] ] }
            > { g: [Getter], s: [Getter/Setter], both: [Getter/Setter] }
            > 1970-01-01T00:00:00.000Z /a\/b/gi Invalid Date Uint8Array(2) [ 1, 2 ] [ [Number: 1], [String: "s"] ] Promise {}
            > [ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, ... 50 more ]
            > [cannot be shown] [ 1 ]
            > %s � lone é😀
            > 
            > i
            > d
            > w
            > e { x: 1 }
        "#]],
    );
}

#[test]
fn whatever_is_thrown_is_an_error_of_the_turn_only() {
    check(
        "throw null
---
throw undefined
---
throw 'text'
---
throw 7n
---
const o = {}; o.o = o; throw o
---
throw new Error('plain')
---
throw Object.assign(new Error('x'), {name: 'Custom'})
---
throw new Proxy(new Error('inner'), {get() { throw 1 }, getOwnPropertyDescriptor() { throw 2 }})
---
throw {get message() { throw 1 }, toString() { throw 2 }}
---
const e = new Error('x'); Object.defineProperty(e, 'message', {get() { for (;;) ; }}); throw e
---

let x = ;
---
null.x
---
function deep() {
  throw new TypeError('down here')
}
deep()
---
deep()
---
await new Promise(() => {})
---
}
---
}, async function () {
---
}}}}); globalThis.out = 1; (function(){with({}){return function(){return async function(){
---
`
---
/* open
---
// last line is a comment
---
console.log('still here', typeof out)",
        expect![[r#"
            ! thrown: null, as the engine does when memory is used up; at most 16777216 bytes
            ! thrown: undefined
            ! thrown: text
            ! thrown: 7n
            ! thrown: { o: [Circular] }
            ! Error: plain (turn 6, line 1)
            ! Custom: x (turn 7, line 1)
            ! thrown: [cannot be shown]
            ! thrown: { message: [Getter], toString: [Function: toString] }
            ! Error (turn 10, line 1)
            ! SyntaxError: unexpected token in expression: ';' (turn 11, line 2)
            ! TypeError: cannot read property 'x' of null (turn 12, line 1)
            ! TypeError: down here (turn 13, line 2)
            ! TypeError: down here (turn 13, line 2)
            ! the code awaits a promise that never settles: nothing is left to run
            ! SyntaxError: Unexpected token '}' (turn 16, line 2)
            ! SyntaxError: brackets do not match: the code closes more than it opens
            ! SyntaxError: brackets do not match: the code closes more than it opens
            ! SyntaxError: unexpected end of string (turn 19, line 1)
            ! SyntaxError: unexpected end of comment (turn 20, line 1)
            .
            > still here number
        "#]],
    );
}

#[test]
fn an_answer_is_of_its_turn() {
    check(
        "FINAL('one'); throw new Error('after')
---
console.log('nothing to answer')
---
FINAL(1); FINAL({a: [1, null]})
---
FINAL()
---
FINAL([1n])
---
const o = {}; o.o = o; FINAL(o)
---
FINAL(Symbol('s'))
---
FINAL('x'.repeat(3000))
---
FINAL(new Map([[1, 2]]))
---
FINAL({toJSON() { throw 1 }, a: 1})
---
FINAL('\\ud800')
---
FINAL('good'); await new Promise(() => {})",
        expect![[r#"
            ! Error: after (turn 1, line 1)
            > nothing to answer
            = {"a":[1,null]}
            = undefined
            = [ 1n ]
            = { o: [Circular] }
            = Symbol(s)
            ! RangeError: FINAL: 3000 characters, at most 2000 (turn 8, line 1)
            = Map(1) { 1 => 2 }
            = { toJSON: [Function: toJSON], a: 1 }
            = �
            ! the code awaits a promise that never settles: nothing is left to run
        "#]],
    );
}

#[test]
fn what_is_not_awaited_ends_with_its_turn() {
    check(
        "llm_query('up late').then(r => { scope.got = r; console.log('then', r) })
---
console.log(got)
---
llm_query('never'); throw new Error('gave up')
---
Promise.reject(new Error('nobody looks'))
---
(async () => { for (;;) await null })(); FINAL('x')
---
(async () => { for (;;) await null })(); throw new Error('left behind')
---
console.log('free', got)",
        expect![[r#"
            > then LATE
            > LATE
            ! Error: gave up (turn 3, line 1)
            > nobody caught: Error: nobody looks (turn 4, line 1)
            ! out of time: at work for 1s, which is the bound of a turn
            ! out of time: at work for 1s, which is the bound of a turn
            > free LATE
        "#]],
    );
}
