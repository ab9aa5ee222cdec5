'use strict';
/**
 * Preloaded by a test: appends to the file LOADED_CODE, one a line, each file of code that the main thread compiles or
 * requires. (The environment of a pool thread is empty, so the hook does nothing there.)
 */
const { appendFileSync } = require('node:fs');
const Module = require('node:module');
const vm = require('node:vm');

const list = process.env.LOADED_CODE;
const note = (file) => appendFileSync(list, `${file}\n`);

if (list !== undefined) {
  vm.Script = class extends vm.Script {
    constructor(source, options) {
      super(source, options);
      note(options.path ?? options.filename);
    }
  };
  const load = Module.prototype.load;
  Module.prototype.load = function noted(file) {
    note(file);
    return load.call(this, file);
  };
}
