'use strict';
/**
 * Runtime of the bundle. A code file holds several parts, each a function by its name, and is compiled from the bytecode
 * that the build has put beside it; V8 refuses bytecode of another version or machine, and then the text is compiled as
 * usual. What a part imports lies in its own file or in one that was read before.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const vm = require('node:vm');

const directory = join(__dirname, 'code');
const parts = {};
const loaded = new Map();

exports.loadCode = function loadCode(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  if (parts[name] === undefined) readParts(name);
  parts[name](module.exports, requirePart, module, join(directory, name), directory);
  return module.exports;
};

const requirePart = (id) => {
  if (id.startsWith('./')) return exports.loadCode(id.slice(2));
  return seldomUsed.has(id) ? whenUsed(id) : require(id);
};

/** Modules of Node that bring many others along, and that most commands import and few call. */
const seldomUsed = new Set(['node:crypto', 'node:child_process']);

/**
 * Stands for a module, which is loaded when a member of it is asked for, or when its members are listed: what the bundle
 * makes of `import()` copies them by their names.
 */
function whenUsed(id) {
  let members;
  const load = () => {
    members ??= require(id);
    return members;
  };
  return new Proxy(
    {},
    {
      get: (_, name) => load()[name],
      has: (_, name) => name in load(),
      ownKeys: () => Reflect.ownKeys(load()),
      getOwnPropertyDescriptor: (_, name) =>
        Object.hasOwn(load(), name) ? { get: () => members[name], enumerable: true, configurable: true } : undefined,
    },
  );
}

function readParts(name) {
  const file = join(directory, name);
  // Bytecode keeps the name of its script, and stacks show it: that of the place where it was built would be wrong anywhere
  // else. `path` is for those who preload a hook.
  const filename = `reins/code/${name}`;
  const script = new vm.Script(readFileSync(file, 'utf8'), { filename, path: file, cachedData: bytecodeOf(file) });
  for (const [name, part] of Object.entries(script.runInThisContext())) parts[name] ??= part;
}

function bytecodeOf(file) {
  try {
    return readFileSync(`${file}.bytecode`);
  } catch {
    return undefined;
  }
}
