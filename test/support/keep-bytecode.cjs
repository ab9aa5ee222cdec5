'use strict';
/**
 * Preloaded by the build while it tries the program: writes the bytecode of every code file beside it, with all that was
 * compiled until then. A pool thread is terminated without an exit event, so it writes again and again.
 */
const fs = require('node:fs');
const tty = require('node:tty');
const vm = require('node:vm');
const threads = require('node:worker_threads');

// The build has no terminal; what the panes load and compile is the same for one that is only said to be there.
if (process.env.REINS_BUILD_TERMINAL && threads.isMainThread) {
  tty.isatty = () => true;
  const { fstatSync } = fs;
  const [yes, no] = [() => true, () => false];
  const device = { isCharacterDevice: yes, isFIFO: no, isSocket: no, isFile: no };
  fs.fstatSync = (fd, ...rest) => Object.assign(fstatSync(fd, ...rest), fd <= 2 ? device : {});
  for (const stream of [process.stdin, process.stdout, process.stderr])
    Object.assign(stream, { isTTY: true, columns: 100, rows: 30, setRawMode: () => stream });
}

const scripts = new Map();
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    if (options?.path !== undefined) scripts.set(options.path, this);
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
    fs.writeFileSync(part, script.createCachedData());
    fs.renameSync(part, `${file}.bytecode`);
  }
}
if (threads.isMainThread) process.on('exit', write);
else setInterval(write, 50).unref();
