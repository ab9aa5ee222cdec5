'use strict';
/**
 * Runtime of the bundle. A code file is compiled from the bytecode that the build has put beside it; V8 refuses bytecode
 * of another version or machine, and then the text is compiled as usual.
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
const vm = require('node:vm');

const loaded = new Map();

exports.loadCode = function loadCode(file) {
  const known = loaded.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const script = new vm.Script(
    `(function(exports,require,module,__filename,__dirname){${readFileSync(file, 'utf8')}\n})`,
    { filename: file, cachedData: bytecodeOf(file) },
  );
  const outside = createRequire(file);
  const require = (id) => (id.startsWith('./') ? loadCode(join(dirname(file), id)) : outside(id));
  script.runInThisContext()(module.exports, require, module, file, dirname(file));
  return module.exports;
};

function bytecodeOf(file) {
  try {
    return readFileSync(`${file}.bytecode`);
  } catch {
    return undefined;
  }
}
