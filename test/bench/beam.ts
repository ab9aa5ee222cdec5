// `npm run bench -- --scenarios beam`: the server beside a bare handler of its router, its start, and what a login does to others.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { App } from '@tinyhttp/app';
// It brings no types.
// @ts-expect-error
import autocannon from 'autocannon';
import { startServer, withPassword } from '../server/world.ts';
import { builtAt } from '../support/built-at.ts';
import { tempHome } from '../support/temp-home.ts';

type Ready = { readonly bare: number; readonly own: number; readonly accessToken: string; readonly loginToken: string };

/** Both servers in a process of their own, so that who asks does not take their time. */
async function serve(): Promise<void> {
  const world = await startServer({ passwordCost: 12 });
  const app = new App({ settings: { xPoweredBy: false } });
  const body = (await world.authorised('/api/version')).text;
  app.get('/api/version', (_request, response) => {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(body);
  });
  const bare = createServer(app.attach as never).listen(0, '127.0.0.1');
  await new Promise((resolve) => bare.once('listening', resolve));
  const address = bare.address();
  const ready: Ready = {
    bare: typeof address === 'object' && address !== null ? address.port : 0,
    own: world.port,
    accessToken: world.token,
    loginToken: await withPassword(world),
  };
  process.send?.(ready);
  process.once('disconnect', () => void world.close().then(() => process.exit(0)));
}

const load = (port: number, token: string, connections: number, seconds: number) =>
  autocannon({
    url: `http://127.0.0.1:${port}/api/version`,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${token}` },
  });

const middle = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

async function measure(rounds: number): Promise<void> {
  const child: ChildProcess = fork(process.argv[1] ?? '', ['serve']);
  const ready = await new Promise<Ready>((resolve) => child.once('message', (message) => resolve(message as Ready)));
  const rows: string[][] = [];
  const seconds = Math.max(2, Math.min(rounds, 5));
  const kinds = [
    ['bare', ready.bare, ready.accessToken],
    ['access token', ready.own, ready.accessToken],
    ['login token', ready.own, ready.loginToken],
  ] as const;
  // Warm, then a second each in turn, so that what else the machine does falls on all of them.
  for (const [, port, token] of kinds) await load(port, token, 50, 1);
  const seen = new Map<string, { perSecond: number[]; p99: number[] }>();
  for (let round = 0; round < Math.max(3, rounds); round += 1) {
    for (const [name, port, token] of kinds) {
      const { non2xx, errors, requests, latency } = await load(port, token, 50, 1);
      if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} refused, ${errors} failed`);
      const { perSecond, p99 } = seen.get(name) ?? { perSecond: [], p99: [] };
      seen.set(name, { perSecond: [...perSecond, requests.average], p99: [...p99, latency.p99] });
    }
  }
  const figure = (name: string, of: 'perSecond' | 'p99'): number => middle(seen.get(name)?.[of] ?? []);
  for (const name of ['access token', 'login token']) {
    for (const [title, of, digits, goal] of [
      [`GET /api/version with the ${name}, requests a second`, 'perSecond', 0, 'at least 0.5x'],
      ['… p99, ms', 'p99', 1, 'under 3x'],
    ] as const) {
      const [own, bare] = [figure(name, of), figure('bare', of)];
      rows.push([title, own.toFixed(digits), bare.toFixed(digits), `${(own / bare).toFixed(2)}x`, goal]);
    }
  }
  const alone = await load(ready.own, ready.accessToken, 4, seconds);
  let loggingIn = true;
  const logins = Promise.all(
    [0, 1].map(async () => {
      while (loggingIn) {
        const body = JSON.stringify({ email: 'admin', password: 'correct horse battery' });
        await fetch(`http://127.0.0.1:${ready.own}/api/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
      }
    }),
  );
  const meanwhile = await load(ready.own, ready.accessToken, 4, seconds);
  loggingIn = false;
  await logins;
  const [during, before] = [meanwhile.latency.p99, alone.latency.p99];
  rows.push([
    'p99 while two log in (bcrypt, cost 12) and while nobody does, ms',
    during.toFixed(1),
    before.toFixed(1),
    `${(during / before).toFixed(1)}x`,
    'under 50',
  ]);
  child.disconnect();
  await new Promise((resolve) => child.once('exit', resolve));

  const place = tempHome();
  const environment = { PATH: process.env['PATH'] ?? '', HOME: place.home };
  const started = async (argv: readonly string[], ready: string | null): Promise<number> => {
    const began = performance.now();
    const program = spawn(process.execPath, [...argv], {
      env: environment,
      cwd: place.workspace,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<void>((resolve) => program.once('close', () => resolve()));
    let said = '';
    program.stderr.on('data', (piece) => {
      said += String(piece);
      if (said.includes('access token')) program.kill('SIGTERM');
    });
    if (ready !== null) await new Promise((resolve) => program.stdout.once('data', resolve));
    else await ended;
    const ms = performance.now() - began;
    await ended;
    return ms;
  };
  const [beam, node]: [number[], number[]] = [[], []];
  for (let round = 0; round < Math.max(3, rounds); round += 1) {
    node.push(await started(['-e', '0'], null));
    beam.push(await started([join(builtAt, 'src/cli/main.js'), 'beam', '--port', '0'], 'Beam'));
  }
  place.remove();
  rows.push([
    'start of reins beam to listening, ms',
    middle(beam).toFixed(0),
    middle(node).toFixed(0),
    `${(middle(beam) / middle(node)).toFixed(1)}x`,
    'under 400',
  ]);
  console.log('\n| server | ours | base | ratio | goal |\n|---|---|---|---|---|');
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}

await (process.argv[2] === 'serve' ? serve() : measure(Number(process.argv[2] ?? 9)));
