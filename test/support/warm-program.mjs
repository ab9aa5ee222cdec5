import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/**
 * The built program, loaded once: it takes command lines from a test file, one after the other. What `src/cli/main.ts`
 * takes from its process is made here, anew for each line; stdout and stderr are files that the test reads.
 * Arguments: the directory of the build, its version.
 */
const [builtAt, version] = process.argv.slice(2);
const { start } = createRequire(import.meta.url)(join(builtAt, 'start.js'));
const root = pathToFileURL(`${builtAt}/`);
const main = new URL('src/cli/main.js', root).href;

process.on('disconnect', () => process.exit());
process.on('message', async ({ argv, cwd, environment }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(cwd);
  let code = 0;
  await start({
    argv,
    pid: process.pid,
    environment: process.env,
    cwd,
    importMeta: { url: main },
    root,
    version,
    get rootHelp() {
      throw new Error('root help is a text of main.ts: start the program for it');
    },
    runtime: { node: process.versions.node, platform: process.platform, arch: process.arch },
    stdin: () => {
      throw new Error('nobody gives input here: start the program for it');
    },
    stdout: () => streamTo(1),
    stderr: () => streamTo(2),
    isTerminal: () => false,
    now: () => Date.now(),
    onSignal: () => () => undefined,
    setExitCode: (given) => {
      code = given;
    },
    exit: () => undefined,
    leave: (given) => process.exit(given),
  });
  process.send({ code, isClean: await isAtRest() });
});

/** As Node writes to files. */
function streamTo(fd) {
  const write = (bytes, _encoding, done) => {
    for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest));
    done();
  };
  return new Writable({ decodeStrings: true, write });
}

/** Whether a process of its own would have ended by itself: it is given the same second (`lingerMs` of `src/cli/start.ts`). */
async function isAtRest() {
  for (let tries = 0; tries < 50; tries += 1) {
    const held = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
    if (held.length === 0) return true;
    await pause(20);
  }
  return false;
}
