//! Expressions through one door: text and values in, a value or an error out, as tables.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use antiphon_flow::expr::{Expression, LENGTH_MAX, Path, Scope, Types};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn scope() -> Value {
    json!({
        "task": "write a report",
        "input": {"text": "hi", "lines": ["a", "b", "a"], "deep": {"er": {"est": 7}}},
        "state": {"drafts": 2, "approved": false, "notes": ["x", "y"], "score": 0.5, "big": 9_007_199_254_740_993_i64, "nothing": null},
        "output": {"ok": true, "items": [{"n": 1}, {"n": 2}, {"n": 3}]},
        "outputs": {"research": "facts", "my-node": 5},
        "status": {"research": "COMPLETED"},
        "executions": {"research": 1},
        "item": 4,
        "memory": {"name": "Ada"},
    })
}

/// What stands before the arrow in each line of a table.
fn asked(table: &Expect) -> impl Iterator<Item = &str> {
    let lines = table.data().trim_matches(['\n', ' ']).lines();
    lines.map(|line| line.split("  =>").next().unwrap_or_default().trim())
}

/// A line for each expression: what it gives, or what is wrong with it.
#[track_caller]
fn check(table: Expect) {
    let scope = scope();
    let lines = asked(&table).map(|text| {
        let result = match Expression::parse(text) {
            Err(error) => format!("no expression: {error}"),
            Ok(expression) => match expression.evaluate(&scope) {
                Ok(value) => value.to_string(),
                Err(error) => {
                    let place = error.column.map(|column| format!(" at {column}")).unwrap_or_default();
                    format!("error{place}: {}", error.message)
                }
            },
        };
        format!("{text}  =>  {result}\n")
    });
    table.assert_eq(&lines.collect::<String>());
}

#[test]
fn integers_stay_integers_and_meet_doubles_halfway() {
    check(expect![[r#"
        10 + 1  =>  11
        state.drafts + 1  =>  3
        7 / 2  =>  3
        -7 / 2  =>  -3
        7 % 3  =>  1
        -7 % 3  =>  -1
        7 / 2.0  =>  3.5
        1 + 0.5  =>  1.5
        2 * 1.5  =>  3.0
        1 == 1.0  =>  true
        1 < 1.5  =>  true
        state.big == 9007199254740992.0  =>  false
        state.big > 9007199254740992.0  =>  true
        0x1F  =>  31
        5u  =>  5
        -9223372036854775808  =>  -9223372036854775808
        1e3  =>  1000.0
        -state.drafts  =>  -2
        - -2  =>  2
        int(3.9)  =>  3
        double(3)  =>  3.0
        int('12')  =>  12
        1 - 2 - 3  =>  -4
        2 + 3 * 4  =>  14
        (2 + 3) * 4  =>  20
    "#]]);
}

#[test]
fn what_has_no_number_is_an_error() {
    check(expect![[r#"
        1 / 0  =>  error at 3: division by zero
        1 % 0  =>  error at 3: division by zero
        1.0 / 0  =>  error at 5: division by zero
        9223372036854775807 + 1  =>  error at 21: 9223372036854775807 + 1 does not fit 64 bits
        9223372036854775808  =>  no expression: the integer does not fit 64 bits (at column 1)
        -9223372036854775808 - 1  =>  error at 22: -9223372036854775808 - 1 does not fit 64 bits
        1e308 * 10.0  =>  error at 7: the number is too large
        7.5 % 2  =>  error at 5: `%` wants integers
        int('x')  =>  error at 1: `int` cannot take the text "x"
        math.abs(-9223372036854775808)  =>  error at 1: does not fit 64 bits
        -(-9223372036854775808)  =>  error at 1: does not fit 64 bits
        -9223372036854775808 / -1  =>  error at 22: -9223372036854775808 / -1 does not fit 64 bits
        1e999  =>  no expression: the number is too large (at column 1)
    "#]]);
}

#[test]
fn members_items_and_what_is_missing() {
    check(expect![[r#"
        input.text  =>  "hi"
        input['text']  =>  "hi"
        input.deep.er.est  =>  7
        output.items[1].n  =>  2
        output.items[3]  =>  error at 13: no item 3 in a list of 3
        output.items[-1]  =>  error at 13: no item -1 in a list of 3
        input.txt  =>  error at 6: no member "txt"; did you mean `text`?
        state.missing  =>  error at 1: `state.missing` has no value here
        outputs['my-node']  =>  5
        outputs.`my-node` + 1  =>  6
        outputs.other  =>  error at 1: `outputs.other` has no value here
        task.text  =>  error at 5: no member "text" in the text "write a report"
        has(input.text)  =>  true
        has(input.nope)  =>  false
        has(input.nope.deeper)  =>  false
        has(state.missing)  =>  false
        has(outputs.research)  =>  true
        has(outputs.other.text)  =>  false
        has(task)  =>  true
        has(1)  =>  no expression: `has` asks for a member: `has(state.draft)` (at column 1)
        {'a': [1, 2]}.a[1]  =>  2
        [1, 2, 3][0]  =>  1
        [1][1.0 - 1]  =>  1
        memory.name  =>  "Ada"
        item * 2  =>  8
        {'a': 1, 'a': 2}  =>  error at 10: the key "a" is there twice
        {1: 'x'}['1']  =>  "x"
        input[0]  =>  error at 6: no member "0"
        outputs[state.notes[0]]  =>  error at 8: no member "x"
        status.research == 'COMPLETED'  =>  true
        executions.research  =>  1
        size(outputs)  =>  2
    "#]]);
}

#[test]
fn conditions_decide_and_pass_over_errors_where_they_can() {
    check(expect![[r#"
        !state.approved  =>  true
        state.approved || true  =>  true
        state.missing || true  =>  true
        true || state.missing  =>  true
        state.missing && false  =>  false
        state.missing && true  =>  error at 1: `state.missing` has no value here
        1 && true  =>  error at 1: expected true or false, found the number 1
        !1  =>  error at 2: expected true or false, found the number 1
        state.approved ? 'format' : 'write'  =>  "write"
        true ? 1 : state.missing  =>  1
        false ? 1 : true ? 2 : 3  =>  2
        1 ? 2 : 3  =>  error at 1: expected true or false, found the number 1
        1 == 1 && 2 == 2 || false  =>  true
        true && 'x' == 'x'  =>  true
        null == state.nothing  =>  true
        'a' < 'b'  =>  true
        1 < 'b'  =>  error at 3: cannot compare the number 1 with the text "b"
        '1' == 1  =>  false
        [1, 2] == [1.0, 2]  =>  true
        {'a': 1} == {'a': 1.0}  =>  true
        2 in [1, 2.0]  =>  true
        'a' in {'a': 1}  =>  true
        'a' in 'abc'  =>  error at 5: `in` wants a list or a map, found the text "abc"
    "#]]);
}

#[test]
fn loops_go_through_lists_and_keys() {
    check(expect![[r#"
        input.lines.all(x, x != 'c')  =>  true
        input.lines.exists(x, x == 'b')  =>  true
        input.lines.exists_one(x, x == 'a')  =>  false
        output.items.map(i, i.n * 2)  =>  [2,4,6]
        output.items.filter(i, i.n > 1)  =>  [{"n":2},{"n":3}]
        output.items.map(i, i.n > 1, i.n)  =>  [2,3]
        {'a': 1, 'b': 2}.map(k, k)  =>  ["a","b"]
        [[1, 2], [3]].map(l, l.map(x, x + size(l)))  =>  [[3,4],[4]]
        [1, 2].map(x, [10, 20].map(y, x + y))  =>  [[11,21],[12,22]]
        [1].map(x, [2].map(x, x))  =>  [[2]]
        [0, 1].exists(x, 1 / x == 1)  =>  true
        [0, 1].all(x, 1 / x == 1)  =>  error at 17: division by zero
        [0, 1].all(x, 1 / x == 2)  =>  false
        1.map(x, x)  =>  error at 3: only a list or a map can be gone through, this is the number 1
        input.lines.map(1, 2)  =>  no expression: `map` begins with the name of its variable: `list.map(x, …)` (at column 13)
        [1].all(x, x)  =>  error at 12: expected true or false, found the number 1
        output.items.map(item, item.n)  =>  [1,2,3]
        item  =>  4
    "#]]);
}

#[test]
fn functions_on_texts_lists_and_numbers() {
    check(expect![[r#"
        size('héllo')  =>  5
        'hello'.size()  =>  5
        size([1])  =>  1
        size(1)  =>  error at 1: `size` cannot take the number 1
        'hello'.contains('ell')  =>  true
        'hello'.startsWith('he')  =>  true
        'hello'.endsWith('lo')  =>  true
        'a1b'.matches('[0-9]')  =>  true
        'ab'.matches('^[0-9]+$')  =>  false
        matches('a', state.notes[0])  =>  false
        'a'.matches('(')  =>  no expression: the pattern is no regular expression (at column 13)
        'Ab'.lowerAscii() + 'Ab'.upperAscii()  =>  "abAB"
        '  x '.trim()  =>  "x"
        'aXbX'.replace('X', '-')  =>  "a-b-"
        'a,b'.split(',')  =>  ["a","b"]
        ['a', 'b'].join(', ')  =>  "a, b"
        ['a'].join()  =>  "a"
        [1].join()  =>  error at 5: `join` wants texts, found the number 1
        'hello'.substring(1, 3)  =>  "el"
        'hello'.substring(9)  =>  error at 9: no characters 9 to 5 in a text of 5
        'héllo'.indexOf('l')  =>  2
        [1, 2, 1.0].distinct()  =>  [1,2]
        [3, 1, 2].sort()  =>  [1,2,3]
        [3, 'a'].sort()  =>  error at 10: cannot compare the text "a" with the number 3
        [1, 2].reverse()  =>  [2,1]
        [[1], 2].flatten()  =>  [1,2]
        [1, 2, 3].slice(1, 3)  =>  [2,3]
        [1].slice(2, 1)  =>  error at 5: no items 2 to 1 in a list of 1
        math.greatest(1, 2.5)  =>  2.5
        math.least([3, 2])  =>  2
        math.greatest([])  =>  error at 1: `greatest` of nothing
        math.round(2.5)  =>  3.0
        string(1) + string(true) + string(null)  =>  "1truenull"
        string([1, {'a': 'b'}])  =>  "[1,{\"a\":\"b\"}]"
        bool('true')  =>  true
        type(1) + type(1.5) + type({})  =>  "intdoublemap"
        'a' + 1  =>  error at 5: `+` cannot take the text "a" and the number 1; to put it into a text write `string(…)`
        [1] + [2]  =>  [1,2]
        contains('a', 'b')  =>  no expression: `contains` is called as `x.contains(…)` (at column 1)
        'a'.size(1)  =>  no expression: `size` takes 0 arguments, found 1 (at column 5)
        'a'.lenght()  =>  no expression: unknown function `lenght` (at column 5)
        now()  =>  no expression: unknown function `now` (at column 1)
    "#]]);
}

#[test]
fn conversions_are_those_of_cel() {
    check(expect![[r#"
        type(1) == int  =>  true
        type(1.5) == double && type('a') == string && type(true) == bool && type(null) == null_type  =>  true
        type([]) == list && type({}) == map  =>  true
        type(1) == double  =>  false
        type(1) == 'int'  =>  true
        type(state.drafts) == int ? state.drafts : 0  =>  2
        [1].map(int, int + 1)  =>  [2]
        int(true)  =>  error at 1: `int` cannot take the boolean true
        int(9.21e18)  =>  9210000000000000000
        int(9223372036854775807.0)  =>  error at 1: `int` cannot take the number 9.223372036854776e+18
        int(-7.9)  =>  -7
        int(null)  =>  error at 1: `int` cannot take null
        string(1.0)  =>  "1"
        string(-4.5e-3)  =>  "-0.0045"
        string(123.456)  =>  "123.456"
        string(1e21)  =>  "1000000000000000000000"
        string(18446744073709551615.0)  =>  "18446744073709552000"
        string([1.0])  =>  "[1.0]"
        bool('TRUE') && bool('t') && bool('1') && !bool('False')  =>  true
        bool('TrUe')  =>  error at 1: `bool` cannot take the text "TrUe"
        bool(1)  =>  error at 1: `bool` cannot take the number 1
        double(true)  =>  error at 1: `double` cannot take the boolean true
        'héy'.split('')  =>  ["h","é","y"]
        ''.split(',')  =>  [""]
        uint  =>  no expression: unknown name `uint` (known are task, input, state, output, outputs, status, executions, item, memory) (at column 1)
        type  =>  no expression: unknown name `type` (known are task, input, state, output, outputs, status, executions, item, memory) (at column 1)
    "#]]);
}

#[test]
fn texts_and_comments() {
    check(expect![[r#"
        "a\n\t\"\\"  =>  "a\n\t\"\\"
        '\x41\u00e9\U0001F600\101'  =>  "Aé😀A"
        r'\n'  =>  "\\n"
        '''a'b'''  =>  "a'b"
        'open  =>  no expression: the text has no closing quote (at column 1)
        '\q'  =>  no expression: unknown escape; for a backslash write `\\` (at column 2)
        '\ud800'  =>  no expression: the escape stands for no character (at column 2)
        1 // one  =>  1
        b'x'  =>  no expression: bytes are not supported: values are JSON (at column 1)
        'tab	tab'  =>  "tab\ttab"
        'ünïcode' + '😀'  =>  "ünïcode😀"
    "#]]);
}

#[test]
fn what_is_no_expression_says_where() {
    check(expect![[r#"
        outputs.my-node > 1  =>  no expression: unknown name `node`; a name with a dash stands in brackets: `outputs["my-node"]` (at column 12)
        1 +  =>  no expression: expected a value, found the end (at column 4)
        1 2  =>  no expression: expected an operator or the end, found a number (at column 3)
        (1  =>  no expression: expected `)`, found the end (at column 3)
        [1, 2  =>  no expression: expected `]`, found the end (at column 6)
        {'a' 1}  =>  no expression: expected `:`, found a number (at column 6)
        a = 1  =>  no expression: `=` does not compare: write `==` (at column 3)
        state.drafts = 1  =>  no expression: `=` does not compare: write `==` (at column 14)
        1 & 2  =>  no expression: write `&&` for and, `||` for or (at column 3)
        stat.drafts  =>  no expression: unknown name `stat`; did you mean `state`? (known are task, input, state, output, outputs, status, executions, item, memory) (at column 1)
        outputs.  =>  no expression: expected a name after the dot, found the end (at column 9)
        state.?x  =>  no expression: optional members are not supported: use `has(…)` (at column 7)
        x  =>  no expression: unknown name `x` (known are task, input, state, output, outputs, status, executions, item, memory) (at column 1)
        has()  =>  no expression: expected a value, found `)` (at column 5)
        $  =>  no expression: unexpected character '$' (at column 1)
        1 ? 2  =>  no expression: expected `:`, found the end (at column 6)
        size()  =>  no expression: `size` takes 1 argument, found 0 (at column 1)
        x.all(y)  =>  no expression: unknown name `x` (known are task, input, state, output, outputs, status, executions, item, memory) (at column 1)
        state.notes.all(n)  =>  no expression: unknown name `n` (known are task, input, state, output, outputs, status, executions, item, memory) (at column 17)
        math.foo(1)  =>  no expression: unknown function `foo`; did you mean `floor`? (at column 1)
        .5.5  =>  no expression: expected an operator or the end, found a number (at column 3)
        1.2.3  =>  no expression: expected an operator or the end, found a number (at column 4)
        !  =>  no expression: expected a value, found the end (at column 2)
        -  =>  no expression: expected a value, found the end (at column 2)
        ..  =>  no expression: expected a value, found `.` (at column 1)
    "#]]);
}

#[test]
fn length_nesting_and_height_are_bounded() {
    for (text, why) in [
        (" ".repeat(LENGTH_MAX + 1), "at most 10000"),
        (format!("{}1{}", "(".repeat(60), ")".repeat(60)), "nested too deep, at most 48"),
        ("[".repeat(5000), "nested too deep"),
        ("!".repeat(5000), "nested too deep"),
        ("-".repeat(5000), "nested too deep"),
        ("true?".repeat(1000), "expected `:`"),
        (format!("1{}", "?1:1".repeat(1000)), "nested too deep"),
        (vec!["1"; 4000].join("+"), "at most 128"),
        (format!("input{}", ".a".repeat(4000)), "at most 128"),
        (format!("[]{}", ".map(x,x)".repeat(1000)), "at most 128"),
    ] {
        let error = Expression::parse(&text).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }
    let long = vec!["true"; 1000].join("&&");
    assert_eq!(Expression::parse(&long).expect("wide, not high").truth(&json!({})), Ok(true));
    assert_eq!(
        Expression::parse(&vec!["1"; 128].join("+")).expect("fits").evaluate(&json!({})),
        Ok(json!(128))
    );
}

#[test]
fn an_evaluation_ends_however_much_is_asked() {
    let ones = vec![1; 1000];
    let scope = json!({"state": {"l": ones, "t": "x".repeat(100_000), "huge": vec![0; 2_000_000]}});
    for text in [
        "state.l.map(a, state.l.map(b, state.l.map(c, a)))".to_owned(),
        "state.l.all(a, state.l.all(b, state.l.all(c, true)))".to_owned(),
        "state.l.exists(a, state.l.exists(b, state.missing))".to_owned(),
        format!("['x']{}", ".map(x, x + x)".repeat(60)),
        format!("[[1]]{}", ".map(x, x + x)".repeat(60)),
        "state.l.map(a, state.t)".to_owned(),
        "state.l.map(a, state.t.replace('x', state.t))".to_owned(),
        "state.l.map(a, state.l).distinct()".to_owned(),
        "state.l.map(a, state.l.map(b, 'x'.matches('[a-z]{' + string(a) + '}')))".to_owned(),
        "state.huge.map(x, x)".to_owned(),
        "state.huge + state.huge".to_owned(),
        "state.l.map(a, 0 in state.l)".to_owned() + " == 1",
    ] {
        let expression = Expression::parse(&text).expect("an expression");
        let error = expression.evaluate(&scope).expect_err(&text);
        assert!(
            error.message.contains("1000000 steps") || error.message.contains("bytes long"),
            "{text}: {error}"
        );
    }
    let whole = Expression::parse("state.huge").expect("an expression").evaluate(&scope).expect("handed on");
    assert_eq!(whole.as_array().map(Vec::len), Some(2_000_000), "handing on costs no steps");
    let sized = Expression::parse("size(state.huge) + size(state.t)").expect("an expression");
    assert_eq!(sized.evaluate(&scope), Ok(json!(2_100_000)));
}

/// Writes down what it is asked for.
struct Asked(Value, RefCell<Vec<String>>);

impl Scope for Asked {
    fn get(&self, path: &Path) -> Option<std::borrow::Cow<'_, Value>> {
        self.1.borrow_mut().push(path.to_string());
        Scope::get(&self.0, path)
    }
}

#[test]
fn only_what_is_named_and_reached_is_asked_for_and_only_once() {
    for (text, paths, asked) in [
        ("outputs.research + outputs.research", "outputs.research", "outputs.research"),
        ("outputs['my-node'] > 1", "outputs[\"my-node\"]", "outputs[\"my-node\"]"),
        ("state.approved && outputs.research == 'x'", "state.approved outputs.research", "state.approved"),
        ("size(outputs) > 0", "outputs", "outputs"),
        ("input.text + input.deep.er", "input", "input"),
        ("has(outputs.other) ? outputs.other.x : task", "outputs.other task", "outputs.other task"),
        ("[1].map(state, state)", "", ""),
        ("outputs.size()", "outputs", "outputs"),
    ] {
        let expression = Expression::parse(text).expect(text);
        let named: Vec<_> = expression.paths().iter().map(ToString::to_string).collect();
        assert_eq!(named.join(" "), paths, "{text}");
        let scope = Asked(scope(), RefCell::default());
        expression.evaluate(&scope).ok();
        assert_eq!(scope.1.into_inner().join(" "), asked, "{text}");
    }
}

#[test]
fn a_condition_that_is_no_boolean_says_what_it_was() {
    for (text, said) in [
        ("state.drafts", "a condition must be true or false, this is the number 2 in `state.drafts`"),
        ("input.text", "a condition must be true or false, this is the text \"hi\" in `input.text`"),
        ("1 / 0 == 1", "division by zero at column 3 in `1 / 0 == 1`"),
    ] {
        let error = Expression::parse(text).expect("an expression").truth(&scope()).expect_err(text);
        assert_eq!(error.to_string(), said);
    }
}

fn types() -> Types {
    let state = json!({
        "drafts": {"type": "integer"}, "approved": {"type": "boolean"}, "notes": {"type": "array", "items": {"type": "string"}},
        "score": {"type": "number"}, "name": {"type": "string"}, "maybe": {"type": ["string", "null"]}, "any": {},
        "mode": {"enum": ["fast", "slow"]},
    });
    let state: BTreeMap<_, _> = state.as_object().expect("an object").clone().into_iter().collect();
    let closed = json!({"type": "object", "properties": {"ok": {"type": "boolean"}, "score": {"type": "number"}}, "additionalProperties": false});
    Types {
        output: Some(closed.clone()),
        state,
        nodes: [
            ("research".to_owned(), None),
            ("review".to_owned(), Some(closed)),
            ("my-node".to_owned(), None),
        ]
        .into(),
        ..Types::default()
    }
}

/// One line for each problem of each condition.
#[track_caller]
fn check_types(table: Expect) {
    let types = types();
    let mut lines = String::new();
    let mut texts: Vec<_> = asked(&table).collect();
    texts.dedup();
    for text in texts {
        let problems = Expression::parse(text).expect(text).check_condition(&types);
        if problems.is_empty() {
            writeln!(lines, "{text}  =>  fine").expect("a text takes it");
        }
        for problem in problems {
            let column = problem.column.map(|column| format!("{column}: ")).unwrap_or_default();
            writeln!(lines, "{text}  =>  {column}{}; {}", problem.message, problem.help)
                .expect("a text takes it");
        }
    }
    table.assert_eq(&lines);
}

#[test]
fn what_cannot_be_right_is_found_before_it_runs() {
    check_types(expect![[r#"
        state.draft > 1  =>  1: the state has no key `draft`; did you mean `state.drafts`?
        state.drafts  =>  a condition must be true or false, this is an integer; compare it with a number, as in `… > 0`
        state.drafts + 1 > 2  =>  fine
        state.approved + 1 > 2  =>  16: `+` wants numbers, texts or lists, found a boolean; give it numbers, texts or lists
        state.name == 1  =>  12: a text and an integer are compared: that never holds; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
        state.name < 1  =>  12: `<` cannot compare a text with an integer; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
        state.drafts < 1.5  =>  fine
        !state.drafts  =>  2: expected true or false, found an integer; compare it with a number, as in `… > 0`
        state.drafts && true  =>  1: expected true or false, found an integer; compare it with a number, as in `… > 0`
        outputs.reserch == 'x'  =>  1: there is no node `reserch`; did you mean `outputs.research`?
        outputs.my - 1 > 1  =>  1: there is no node `my`; did you mean `outputs["my-node"]`?
        status.reviw == 'COMPLETED'  =>  1: there is no node `reviw`; did you mean `status.review`?
        executions.research == 'x'  =>  21: an integer and a text are compared: that never holds; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
        output.okay  =>  7: no member "okay"; did you mean `ok`?
        output.ok  =>  fine
        outputs.review.score > 0.5  =>  fine
        outputs.review.scor > 0.5  =>  15: no member "scor"; did you mean `score`?
        state.notes.exists(n, n > 1)  =>  25: `>` cannot compare a text with an integer; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
        state.notes.all(n, n.startsWith('a'))  =>  fine
        state.name.map(x, x) == []  =>  12: only a list or an object can be gone through, this is a text; put it in brackets to make a list of it
        size(state.drafts) > 1  =>  1: `size` wants a text, a list or an object, found an integer; give it a text, a list or an object
        state.name.contains('x')  =>  fine
        state.drafts.contains('x')  =>  14: `contains` wants a text or a list, found an integer; give it a text or a list
        1 in state.drafts  =>  3: `in` wants a list or an object on its right, found an integer; give it a list or an object on its right
        'a' + 1 == 'a1'  =>  5: `+` cannot take a text and an integer; did you mean `string(…)`?
        state.notes[0] == 1  =>  16: a text and an integer are compared: that never holds; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
        state.notes['a']  =>  12: no member "a" in a list; only an object has members: leave the name out
        int(state.approved) == 1  =>  1: `int` wants a number or a text, found a boolean; give it a number or a text
        -state.name == 1  =>  1: `-` wants a number, found a text; turn the text into a number with `int(…)`
        state.mode == 1  =>  12: a text and an integer are compared: that never holds; turn the text into a number with `int(…)`, or the number into a text with `string(…)`
        state.approved ? 1 : 2  =>  a condition must be true or false, this is an integer; compare it with a number, as in `… > 0`
        state.name * 2 > 1  =>  12: `*` wants numbers, found a text; turn the text into a number with `int(…)`
        task  =>  fine
        outputs.research  =>  fine
    "#]]);
}

#[test]
fn where_nothing_is_known_nothing_is_said() {
    check_types(expect![[r#"
        task.anything > 1  =>  fine
        input + 1 == 2  =>  fine
        state.any.x[0] == 'a'  =>  fine
        state.maybe == null  =>  fine
        state.maybe.size() > 0  =>  fine
        state.name == null  =>  fine
        outputs.research.x.y  =>  fine
        outputs.research + 1 > 0  =>  fine
        item.exists(x, x)  =>  fine
        memory.x  =>  fine
        has(outputs.research.x)  =>  fine
        state.notes.map(n, size(n)).exists(n, n > 3)  =>  fine
        [1, 'a'].exists(x, x == 1)  =>  fine
        size(outputs) > 1  =>  fine
        outputs[task]  =>  fine
        (state.approved ? 1 : 'a') == 'a'  =>  fine
        dyn(state.name) == 1  =>  fine
        state.score == 1  =>  fine
        state.mode == 'fast'  =>  fine
    "#]]);
}
