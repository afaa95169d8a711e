// What code in a session can reach, and the plumbing of a turn. Evaluated once, before any code of a model.
//
// Every built-in that is used after that is captured here: code may replace what it finds in its world, and
// then breaks its own turn at most. For the same reason nothing here walks an iterator, assigns to an index or
// passes on an object that inherits, once code has run. Called with `native` (functions in Rust), `limits`, `given`
// (what the session opens with) and `makeInspect`.
(function (native, limits, given, makeInspect) {
  'use strict';
  const { Object, Promise, Error, RangeError, TypeError, SyntaxError, Date, RegExp, JSON, Map, Reflect, Symbol } = globalThis;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { create, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, isExtensible,
    freeze } = Object;
  const { apply, construct, ownKeys } = Reflect;
  const { isError } = Error;
  const { toPrimitive, unscopables } = Symbol;
  const { stringify } = JSON;
  const source = uncurry(Function.prototype.toString);
  const slice = uncurry(String.prototype.slice);
  const wellFormed = uncurry(String.prototype.toWellFormed);
  const test = uncurry(RegExp.prototype.exec);
  const stackOf = uncurry(getOwnPropertyDescriptor(Error.prototype, 'stack').get);
  const { isArray } = Array;
  const mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);
  const mapEach = uncurry(Map.prototype.forEach);
  const mapSize = uncurry(getOwnPropertyDescriptor(Map.prototype, 'size').get);
  const text = String;
  const Bytes = Uint8Array;
  const lock = (at, name, value) =>
    defineProperty(at, name, { __proto__: null, value, writable: false, enumerable: false, configurable: false });

  // Nobody looks into the frames of the plumbing.
  lock(Error, 'prepareStackTrace', undefined);

  const inspect = makeInspect();
  const { print: write, query, exec: run_, answer: give, random } = native;
  const room = limits.output;

  // Console: one chunk for each call, none once the output is full.
  let full = false;
  const print = (stream) => (...items) => {
    if (full) return;
    let line = '';
    for (let i = 0; i < items.length && line.length <= room; i += 1) {
      const item = items[i];
      line += (i > 0 ? ' ' : '') + (typeof item === 'string' ? slice(item, 0, room + 1) : inspect(item, room + 1));
    }
    full = write(stream, wellFormed(line));
  };
  const [out, err] = [print(0), print(1)];
  const console = freeze({ log: out, info: out, debug: out, warn: err, error: err });

  // Calls of the host: a promise for each, settled when its answer is there.
  let pending = create(null);
  const call = (kind, first, second) => new Promise((resolve, reject) => {
    const size = first.length + (second === undefined ? 0 : second.length);
    if (size > limits.call) {
      throw new RangeError(`${kind}: ${size} characters, at most ${limits.call}; pass a part of it`);
    }
    const id = kind === 'exec' ? run_(wellFormed(first))
      : query(wellFormed(first), second === undefined ? undefined : wellFormed(second));
    if (id === -1) throw new Error(`${kind}: the turn is over`);
    if (id === -2) throw new RangeError(`${kind}: too many calls at once, at most ${limits.calls} and ${limits.memory} bytes`);
    pending[id] = { resolve, reject };
  });
  const llm_query = (prompt, context) => {
    if (prompt === undefined) throw new TypeError('llm_query(prompt, context?): no prompt');
    const plain = (value) => (typeof value === 'string' ? value : answerOf(value));
    return call('llm_query', plain(prompt), context === undefined || context === null ? undefined : plain(context));
  };
  const exec = (command) => {
    if (typeof command !== 'string') throw new TypeError('exec(command): the command has to be a string');
    return call('exec', command, undefined);
  };
  const settle = (id, good, value) => {
    const { resolve, reject } = pending[id];
    delete pending[id];
    if (good) resolve(value); else reject(new Error(value));
  };

  // The answer: text as it is, anything else as JSON, or as it is printed where JSON has no word for it.
  const answerOf = (value) => {
    if (typeof value === 'string') return value;
    let json;
    if (typeof value === 'object' && value !== null && !inspect.collection(value)) {
      try { json = stringify(value); } catch { json = undefined; }
    }
    return typeof json === 'string' ? json : inspect(value, limits.answer);
  };
  const FINAL = (value) => {
    const answer = answerOf(value);
    if (answer.length > limits.answer) {
      throw new RangeError(`FINAL: ${answer.length} characters, at most ${limits.answer}`);
    }
    give(wellFormed(answer));
  };

  // A clock that stands still and knows one zone, and chance that repeats itself.
  const zoned = /(?:Z|UTC|GMT|[+-]\d\d:?\d\d)\s*(?:\(.*\))?\s*$/i;
  const parse = (value) => {
    const words = text(value);
    if (test(zoned, words) !== null) return Date.parse(words);
    const utc = Date.parse(words + 'Z');
    return utc === utc ? utc : Date.parse(words + ' UTC');
  };
  const { UTC } = Date;
  const valueOf = uncurry(Date.prototype.getTime);
  const iso = uncurry(Date.prototype.toISOString);
  const utcText = uncurry(Date.prototype.toUTCString);
  const isDate = (value) => { try { valueOf(value); return true; } catch { return false; } };
  const moment = (args) => {
    if (args.length === 0) return given.now;
    if (args.length > 1) return apply(UTC, undefined, args);
    let value = args[0];
    if (typeof value === 'object' && value !== null) value = isDate(value) ? valueOf(value) : primitive(value);
    return typeof value === 'string' ? parse(value) : +value;
  };
  const primitive = (value) => {
    const convert = value[toPrimitive];
    if (convert !== undefined && convert !== null) return apply(convert, value, ['default']);
    const plain = value.valueOf();
    return typeof plain === 'object' ? text(value) : plain;
  };
  const Frozen = function Date(...args) {
    if (new.target === undefined) return apply(words, new RealDate(given.now), []);
    return construct(RealDate, [moment(args)], new.target);
  };
  const RealDate = Date;
  const dates = Date.prototype;
  for (const part of ['Date', 'Day', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds']) {
    for (const verb of ['get', 'set']) {
      const utc = dates[`${verb}UTC${part}`];
      if (utc !== undefined) defineProperty(dates, verb + part, { value: utc });
    }
  }
  const method = (name, value) => defineProperty(dates, name, { value });
  method('getTimezoneOffset', function getTimezoneOffset() { return valueOf(this) * 0; });
  // From `Thu, 02 Jan 2020 03:04:05 GMT`.
  const day = (utc) => `${slice(utc, 0, 3)} ${slice(utc, 8, 11)} ${slice(utc, 5, 7)} ${slice(utc, 12, -13)}`;
  const time = (utc) => `${slice(utc, -12)}+0000 (UTC)`;
  const shown = (form) => function toText() {
    return valueOf(this) === valueOf(this) ? form(utcText(this)) : 'Invalid Date';
  };
  for (const [names, form] of [[['toString', 'toLocaleString'], (utc) => `${day(utc)} ${time(utc)}`],
    [['toDateString', 'toLocaleDateString'], day], [['toTimeString', 'toLocaleTimeString'], time]]) {
    for (const name of names) method(name, shown(form));
  }
  for (const name of ['getYear', 'setYear']) delete dates[name];
  const words = dates.toString;
  defineProperty(Frozen, 'prototype', { value: dates, writable: false });
  defineProperty(Frozen, 'length', { value: 7 });
  for (const [name, value] of [['now', () => given.now], ['parse', parse], ['UTC', UTC]]) {
    defineProperty(Frozen, name, { value, writable: true, configurable: true });
  }
  lock(dates, 'constructor', Frozen);
  defineProperty(globalThis, 'Date', { value: Frozen });
  defineProperty(Math, 'random', { value: () => random() });

  // Nothing to wait on, nothing that tells when memory is freed.
  for (const name of ['Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'performance', 'navigator']) {
    delete globalThis[name];
  }

  // The engine looks at the clock once in ten thousand calls and rounds of a loop, however long one built-in takes:
  // those that go through what they are given pay for it in rounds of a loop, before or after.
  const pay = (work) => { for (let left = work; left > 0; left -= 256) ; };
  const weigh = (value) => (typeof value === 'string' || isArray(value) ? value.length : 0);
  const replace = (at, name, make) => {
    const own = at[name];
    const { [name]: made } = make(own, name);
    defineProperty(made, 'length', { value: own.length });
    defineProperty(at, name, { value: made });
  };
  // Loops over a length that no memory holds cannot be stopped at all.
  const most = limits.elements;
  for (const name of ['concat', 'copyWithin', 'fill', 'flat', 'join', 'lastIndexOf', 'reverse', 'shift', 'slice', 'sort',
    'splice', 'toLocaleString', 'toReversed', 'toSorted', 'toSpliced', 'unshift', 'with']) {
    const dear = name === 'sort' || name === 'toSorted' ? 16 : 1;
    replace(Array.prototype, name, (own) => ({
      [name](...args) {
        const length = this === undefined || this === null ? 0 : +this.length;
        if (length > most) throw new RangeError(`${name}: ${length} elements, at most ${most}`);
        pay((length + weigh(args[0])) * dear);
        return apply(own, this, args);
      },
    }));
  }
  for (const name of ['includes', 'indexOf', 'lastIndexOf', 'normalize', 'replace', 'replaceAll', 'split', 'toLowerCase',
    'toUpperCase']) {
    replace(String.prototype, name, (own) => ({
      [name](...args) {
        pay(weigh(this));
        return apply(own, this, args);
      },
    }));
  }
  replace(JSON, 'parse', (own) => ({
    parse(...args) {
      pay(weigh(args[0]) * 16);
      return apply(own, this, args);
    },
  }));
  for (const [at, name, dear] of [[JSON, 'stringify', 16], [Object, 'keys', 32], [Object, 'values', 32],
    [Object, 'entries', 64]]) {
    replace(at, name, (own) => ({
      [name](...args) {
        const made = apply(own, this, args);
        pay(weigh(made) * dear);
        return made;
      },
    }));
  }
  // Out of memory in the midst of `bind` brings the engine down: room is made sure of before.
  replace(Function.prototype, 'bind', (own) => ({
    bind(...args) {
      new Bytes(4096 + 16 * args.length);
      return apply(own, this, args);
    },
  }));

  for (const [name, value] of [['console', console], ['context', given.context], ['llm_query', llm_query],
    ['exec', exec], ['FINAL', FINAL]]) {
    lock(globalThis, name, value);
  }

  // A turn. `scope` stands between the world and the code, so that what an earlier turn declared is found by its
  // name; the names of the session stand before it and cannot be hidden.
  let scope = create(null);
  let kept = [];
  const keep = (found) => { kept = found; };
  const put = (name, value) =>
    defineProperty(scope, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const mend = () => {
    if (!isExtensible(scope)) {
      const fixed = scope;
      const names = ownKeys(fixed);
      scope = create(null);
      for (let i = 0; i < names.length; i += 1) put(names[i], fixed[names[i]]);
    }
    if (getPrototypeOf(scope) !== null) setPrototypeOf(scope, null);
    delete scope[unscopables];
  };

  // What was thrown, for a reader: name, message and, after a NUL, where.
  const explain = (thrown) => {

    try {
      if (thrown === null) return `thrown: null, as the engine does when memory is used up; at most ${limits.memory} bytes`;
      if (!isError(thrown)) return wellFormed(`thrown: ${inspect(thrown, 2000)}`);
      const where = stackOf(thrown);
      return wellFormed(`${slice(inspect.error(thrown), 0, 4000)}\u0000${typeof where === 'string' ? slice(where, 0, 4000) : ''}`);
    } catch { return 'something was thrown that cannot be shown'; }
  };
  let rejected = new Map();

  return {
    // Begins a turn: `make` is the compiled wrapper, `body` the text its function must have.
    start(make, body) {
      pending = create(null);
      kept = [];
      full = false;
      rejected = new Map();
      mend();
      const run = make(scope)(scope, given.context, console, llm_query, exec, FINAL);
      if (typeof run !== 'function' || source(run) !== body) {
        throw new SyntaxError('brackets do not match: the code closes more than it opens');
      }
      return run(keep);
    },
    // Puts what the turn declared at its top into `scope`; what was not reached has no value yet.
    finish(keeping) {
      const found = kept;
      kept = [];
      if (!keeping || !isArray(found)) return;
      for (let i = 0; i + 1 < found.length; i += 2) {
        try { put(found[i], found[i + 1]()); } catch { continue; }
      }
    },
    settle,
    // A promise was rejected with nobody looking, or somebody looks now.
    track(promise, reason, handled) {
      if (handled) mapDelete(rejected, promise);
      else if (mapSize(rejected) < 16) mapSet(rejected, promise, reason);
    },
    // What nobody looked at in this turn, besides the turn itself.
    unseen(main) {
      const found = [];
      mapEach(rejected, (reason, promise) => {
        if (promise !== main) {
          defineProperty(found, found.length, { __proto__: null, value: explain(reason), enumerable: true });
        }
      });
      return found;
    },
    explain,
  };
})
