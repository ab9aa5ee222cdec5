#!/usr/bin/env node
/**
 * The entry point: the only reader of `process` and of its own place (amendment 1). Version and root help are printed
 * before anything is imported; both texts are put in when the program is built. This file is built as CommonJS: the
 * module loader of Node costs 4 ms before the first line of an ES module runs.
 */
declare const REINS_VERSION: string;
declare const REINS_ROOT_HELP: string;
declare const FAIL_POINTS: boolean;
/** Of the engine; the types of Node name it without its parts. */
declare const WebAssembly: { readonly Memory: new (size: { readonly initial: number }) => object };

const argv = process.argv.slice(2);
const format = process.env['REINS_OUTPUT_FORMAT'];
const only = argv.length === 1 && format !== 'json' && format !== 'stream-json' ? argv[0] : undefined;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

let unusable = 'the working directory is gone; change to one that is there';
const cwd = workingDirectory();
// What looks at no directory does not need one (06 §1.2). Beside another flag, or behind `--`, a `-h` may be an input.
const flags = argv.filter((word) => word.startsWith('-'));
const asksForHelp = flags.length > 0 && flags.every((flag) => flag === '--help' || flag === '-h');
const placeless = ['completion', 'help', 'version'].includes(argv[0] ?? '') || asksForHelp;

let done = true;
// Nothing is left to do or to write then. Left to itself, Node would take its heap apart before it goes, and would call it
// a success when what a command waits for can never come.
process.once('beforeExit', () => {
  if (!done) {
    process.stderr.write('reins: the command ended before it was done; that is a fault of reins\n');
    process.exitCode = 1;
  }
  process.exit();
});

/** null when it was removed while this process started in it, or when its name is no text: Node would take another one. */
function workingDirectory(): string | null {
  try {
    const path = process.cwd();
    if (!path.includes('\uFFFD')) return path;
    const { statSync } = process.getBuiltinModule('node:fs');
    const [named, real] = [statSync(path, { throwIfNoEntry: false }), statSync('.')];
    if (named?.ino === real.ino && named.dev === real.dev) return path;
    unusable = 'the name of the working directory is not UTF-8; give it another';
    return null;
  } catch {
    return null;
  }
}

if (only === '--version' || only === '-v' || only === 'version') {
  print(`reins ${REINS_VERSION}\n`);
} else if (only === '--help' || only === '-h' || only === 'help') {
  print(REINS_ROOT_HELP);
} else if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`reins: Node ${process.versions.node} is too old: 20.19 or newer is needed\n`);
  process.exitCode = 2;
} else if (cwd === null && argv[0] === '__complete') {
  // Nothing to complete with; a completion never fails (06 §28).
} else if (cwd === null && !placeless) {
  process.stderr.write(`reins: ${unusable}\n`);
  process.exitCode = 1;
} else {
  const terminals = ([1, 2] as const).filter(isTerminal);
  process.on('exit', () => endWithTerminals(terminals));
  // Node's own answer to this signal is a debugger, which lets any program of this account evaluate code in ours.
  process.on('SIGUSR1', () => undefined);
  process.on('uncaughtException', tellFault);
  done = false;
  const ended = import('./start.ts').then(({ start }) =>
    start({
      argv,
      pid: process.pid,
      environment: process.env,
      cwd: cwd ?? '/',
      importMeta: import.meta,
      root: new URL('../../', import.meta.url),
      version: REINS_VERSION,
      rootHelp: REINS_ROOT_HELP,
      runtime: { node: process.versions.node, platform: process.platform, arch: process.arch },
      stdin: () => process.stdin,
      stdout: () => process.stdout,
      stderr: () => process.stderr,
      isTerminal,
      now: () => Date.now(),
      onSignal: (signal, listener) => {
        process.on(signal, listener);
        return () => process.off(signal, listener);
      },
      setExitCode: (code) => {
        process.exitCode = code;
      },
      exit: (code) => process.exit(code),
      leave,
      ...(FAIL_POINTS ? { failPoint } : {}),
    }),
  );
  void ended.then(() => {
    done = true;
  });
}

/**
 * What nobody has caught is one line as well, and its stack only with --trace (11 §9.4). Node would print the code around it and
 * every member of the error, which may hold what is secret.
 */
function tellFault(error: unknown): void {
  // The full screen puts the terminal back first, and tells it by itself.
  if (process.listenerCount('uncaughtException') > 1) return;
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const line = `a fault of this program: ${message.replace(/\p{Cc}+/gu, ' ')} (--trace shows where)`;
  const trace = argv.includes('--trace') ? `${stack.replace(/[^\P{Cc}\n]+/gu, ' ')}\n` : '';
  try {
    process.getBuiltinModule('node:fs').writeSync(2, `reins: ${line}\n${trace}`);
  } catch {
    // Nobody reads it.
  }
  process.exit(1);
}

/** Writes to stdout. A reader that left is no failure of ours, a full disk is (06 §2.1.4). */
function print(text: string): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || code === 'EIO') return;
    process.stderr.write(`reins: standard output cannot be written (${code})\n`);
    process.exitCode = 1;
  });
  process.stdout.write(text);
}

/** What knows it brings the modules of streams and sockets along: it is asked about devices only that may be one. */
function isTerminal(fd: number): boolean {
  const { fstatSync, statSync } = process.getBuiltinModule('node:fs');
  try {
    const found = fstatSync(fd);
    if (!found.isCharacterDevice() || found.rdev === statSync('/dev/null').rdev) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(fd);
}

/**
 * Node puts terminals back as they were when it ends, and calls it a bug of its own (SIGABRT, a core file) when one of
 * them is gone. The signal of a closed window ends the process before that; the shell sees 143 (10 §1.5).
 * @param terminals descriptors that were terminals at the start
 */
function endWithTerminals(terminals: readonly number[]): void {
  if (terminals.every(isTerminal)) return;
  // Node has a handler of its own, which would put terminals back too: listening and stopping leaves the system's.
  process.on('SIGTERM', () => undefined);
  process.removeAllListeners('SIGTERM');
  process.kill(process.pid, 'SIGTERM');
}

/**
 * `process.exit` joins the threads, for as long as one is in native code. What `node:wasi` calls to end a program ends the
 * process with the code that it is given and joins nobody (decision 175); a module is not needed for it.
 */
function leave(code: number): void {
  process.exitCode = code;
  process.emit('exit', code);
  try {
    const { WASI } = process.getBuiltinModule('node:wasi');
    const wasi = new WASI({ version: 'preview1', returnOnExit: false });
    const memory = new WebAssembly.Memory({ initial: 1 });
    wasi.start({ exports: { memory, _start: () => wasi.wasiImport['proc_exit'](code) } });
  } catch {
    // Another Node may do it otherwise.
  }
  process.exit(code);
}

/** Test build only: the process kills itself at the named point, or at its n-th durable write (`#n`). */
let passed = 0;
function failPoint(point: string): void {
  const wanted = process.env['REINS_FAIL_POINT'];
  if (point.startsWith('after ')) passed += 1;
  if (point === wanted || `#${passed}` === wanted) process.kill(process.pid, 'SIGKILL');
}
