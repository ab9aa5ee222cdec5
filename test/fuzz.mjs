// `npm run fuzz [-- --minutes N]`: the property tests over documents and lines again and again, each round from a
// new seed, until the time is over or something is found. A finding is printed as small as it gets: it becomes a case.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const properties = ['test/shell/properties', 'test/shell/reveal', 'test/policy/properties', 'test/policy/glob'];
const documents = ['test/policy/import', 'test/text'];

function minutesAsked() {
  try {
    const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' } } });
    return Number(values.minutes);
  } catch {
    return Number.NaN;
  }
}

const minutes = minutesAsked();
if (!(minutes > 0)) {
  console.error('fuzz: --minutes takes a number above 0, e.g. npm run fuzz -- --minutes 10');
  process.exit(2);
}
const until = Date.now() + minutes * 60_000;
let rounds = 0;
while (Date.now() < until) {
  const left = Math.ceil((until - Date.now()) / 1000);
  console.error(`fuzz: round ${rounds + 1}, ${left} s left`);
  const vitest = ['vitest', 'run', '--config', 'test/vitest.config.ts', ...properties, ...documents];
  const round = spawnSync('npx', vitest, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (round.error !== undefined) throw round.error;
  if (round.status !== 0) {
    console.log(round.stdout + round.stderr);
    console.log('fuzz: found something. The counterexample above belongs into test/fixtures or beside its property.');
    process.exit(1);
  }
  rounds += 1;
}
console.log(`fuzz: ${rounds} rounds, nothing found`);
