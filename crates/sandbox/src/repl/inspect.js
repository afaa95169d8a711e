// How a value is printed: short, on one line, whatever it is. It calls no getter and bounds depth, items and
// characters; what a proxy does in its traps is on the account of the turn.
(function () {
  'use strict';
  const { Object, Array, Map, Set, Error, Symbol, Date, RegExp } = globalThis;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const { isError } = Error;
  const { ownKeys } = Reflect;
  const { isArray } = Array;
  const { stringify } = JSON;
  const text = String;
  const slice = uncurry(String.prototype.slice);
  const exec = uncurry(RegExp.prototype.exec);
  const isoDate = uncurry(Date.prototype.toISOString);
  const pattern = uncurry(getOwnPropertyDescriptor(RegExp.prototype, 'source').get);
  const time = uncurry(Date.prototype.getTime);
  const symbol = uncurry(Symbol.prototype.toString);
  const mapSize = uncurry(getOwnPropertyDescriptor(Map.prototype, 'size').get);
  const setSize = uncurry(getOwnPropertyDescriptor(Set.prototype, 'size').get);
  const mapEach = uncurry(Map.prototype.forEach);
  const setEach = uncurry(Set.prototype.forEach);
  const bytes = getPrototypeOf(Uint8Array.prototype);
  const typedName = uncurry(getOwnPropertyDescriptor(bytes, Symbol.toStringTag).get);
  const typedLength = uncurry(getOwnPropertyDescriptor(bytes, 'length').get);
  const boxes = [uncurry(Number.prototype.valueOf), uncurry(String.prototype.valueOf),
    uncurry(Boolean.prototype.valueOf), uncurry(BigInt.prototype.valueOf), uncurry(Symbol.prototype.valueOf)];
  const [DEPTH, ITEMS, STRING, BIGINT] = [4, 100, 10000, 1n << 4096n];
  const plainName = /^[A-Za-z_$][\w$]*$/;
  const none = {};
  const describe = (at, name) => {
    const found = getOwnPropertyDescriptor(at, name);
    return found === undefined ? undefined : setPrototypeOf(found, null);
  };
  const push = (items, value) => defineProperty(items, items.length,
    { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const attempt = (f, value) => { try { return f(value); } catch { return none; } };

  const quoted = (value) => (value.length > STRING
    ? `${stringify(slice(value, 0, STRING))}... ${value.length - STRING} more characters` : stringify(value));
  const dataOf = (value, name) => {
    for (let at = value, steps = 0; at !== null && steps < 16; at = getPrototypeOf(at), steps += 1) {
      const found = describe(at, name);
      if (found !== undefined) return found.value;
    }
    return undefined;
  };
  const nameOf = (value) => {
    const own = describe(value, 'name');
    return own !== undefined && typeof own.value === 'string' ? slice(own.value, 0, 100) : '';
  };
  const classOf = (value) => {
    const made = dataOf(value, 'constructor');
    return typeof made === 'function' ? nameOf(made) : '';
  };
  const errorLine = (value, depth = 0) => {
    const name = dataOf(value, 'name');
    const message = dataOf(value, 'message');
    const head = typeof name === 'string' && name !== '' ? slice(name, 0, 200) : 'Error';
    const line = typeof message === 'string' && message !== '' ? `${head}: ${slice(message, 0, STRING)}` : head;
    const cause = describe(value, 'cause');
    return cause !== undefined && isError(cause.value) && depth < DEPTH
      ? `${line} (cause: ${errorLine(cause.value, depth + 1)})` : line;
  };

  const inspect = (value, room) => {
    const seen = [];
    let left = room;
    const spend = (piece) => { left -= piece.length; return piece; };
    const key = (name) => {
      if (typeof name === 'symbol') return `[${symbol(name)}]`;
      const short = slice(name, 0, 200);
      return exec(plainName, short) !== null ? short : stringify(short);
    };
    const property = (at, name) => {
      const found = describe(at, name);
      if (found === undefined) return spend('<gone>');
      if (found.get !== undefined || found.set !== undefined) return spend(found.set === undefined ? '[Getter]' : '[Getter/Setter]');
      return show(found.value);
    };
    const list = (open, close, count, item) => {
      let body = '';
      let i = 0;
      for (; i < count && i < ITEMS && left > 0; i += 1) body += (i > 0 ? ', ' : ' ') + item(i);
      if (i < count) body += `${i > 0 ? ', ' : ' '}... ${count - i} more`;
      return body === '' ? open + close : `${open}${body} ${close}`;
    };
    const fields = (head, at) => {
      const names = [];
      const all = ownKeys(at);
      for (let i = 0; i < all.length && names.length <= ITEMS; i += 1) {
        const found = describe(at, all[i]);
        if (found !== undefined && found.enumerable) push(names, all[i]);
      }
      const more = all.length > ITEMS && names.length > ITEMS ? all.length - names.length : 0;
      return list(`${head}{`, '}', names.length + more, (i) => `${spend(key(names[i]))}: ${property(at, names[i])}`);
    };
    const collected = (each, at) => {
      const items = [];
      each(at, (item, name) => { if (items.length < ITEMS) push(items, [name, item]); });
      return items;
    };
    const exotic = (at) => {
      if (isArray(at)) {
        return list('[', ']', +describe(at, 'length').value,
          (i) => (describe(at, i) === undefined ? spend('<empty>') : property(at, i)));
      }
      if (isError(at)) return spend(errorLine(at));
      let size = attempt(mapSize, at);
      if (size !== none) {
        const items = collected(mapEach, at);
        return list(`Map(${size}) {`, '}', size, (i) => `${show(items[i][0])} => ${show(items[i][1])}`);
      }
      size = attempt(setSize, at);
      if (size !== none) {
        const items = collected(setEach, at);
        return list(`Set(${size}) {`, '}', size, (i) => show(items[i][1]));
      }
      const typed = attempt(typedName, at);
      if (typed !== none && typed !== undefined) {
        return list(`${typed}(${typedLength(at)}) [`, ']', typedLength(at), (i) => spend(text(at[i])));
      }
      const source = attempt(pattern, at);
      if (source !== none) return spend(`/${slice(source, 0, STRING)}/${slice(text(at.flags), 0, 20)}`);
      if (attempt(time, at) !== none) {
        const date = attempt(isoDate, at);
        return spend(date === none ? 'Invalid Date' : date);
      }
      for (let i = 0; i < boxes.length; i += 1) {
        const inner = attempt(boxes[i], at);
        if (inner !== none) return spend(`[${classOf(at)}: ${show(inner)}]`);
      }
      return undefined;
    };
    const object = (at) => {
      for (let i = 0; i < seen.length; i += 1) if (seen[i] === at) return spend('[Circular]');
      if (typeof at === 'function') {
        const name = nameOf(at);
        return spend(name === '' ? '[Function]' : `[Function: ${name}]`);
      }
      if (seen.length >= DEPTH) return spend(isArray(at) ? '[Array]' : '[Object]');
      push(seen, at);
      const special = exotic(at);
      const head = special === undefined ? classOf(at) : '';
      const shown = special === undefined ? fields(head === '' || head === 'Object' ? '' : `${head} `, at) : special;
      seen.length -= 1;
      return shown;
    };
    const show = (item) => {
      switch (typeof item) {
        case 'string': return spend(quoted(item));
        case 'symbol': return spend(symbol(item));
        case 'bigint':
          return spend(item > BIGINT || item < -BIGINT ? '[BigInt of more than 4096 bits]' : `${text(item)}n`);
        case 'object': case 'function':
          if (item === null) return spend('null');
          try { return object(item); } catch { return spend('[cannot be shown]'); }
        default: return spend(item === 0 && 1 / item < 0 ? '-0' : text(item));
      }
    };
    return slice(typeof value === 'string' ? value : show(value), 0, room);
  };
  inspect.error = errorLine;
  inspect.collection = (value) => attempt(mapSize, value) !== none || attempt(setSize, value) !== none;
  return inspect;
})
