'use strict';
/**
 * Preloaded by the build while it tries the program: writes the bytecode of every code file beside it, with all that was
 * compiled until then. A pool thread is terminated without an exit event, so it writes again and again.
 */
const { renameSync, writeFileSync } = require('node:fs');
const vm = require('node:vm');
const threads = require('node:worker_threads');

const scripts = new Map();
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(options.filename, this);
  }
};
threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    super(file, { ...options, execArgv: ['--require', __filename] });
  }
};

function write() {
  for (const [file, script] of scripts) {
    // Threads share code files: each has a name of its own until the rename.
    const part = `${file}.${threads.threadId}.part`;
    writeFileSync(part, script.createCachedData());
    renameSync(part, `${file}.bytecode`);
  }
}
if (threads.isMainThread) process.on('exit', write);
else setInterval(write, 50).unref();
