// What deciding costs (02 §16), on one core, warm: printed as a table by `npm run bench`, never asserted.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePolicy } from '../../src/policy/validate.ts';
import type { PolicyCall } from '../../src/schema/policy.ts';
import hashBinary from '../../workers/hash-binary.ts';
import { at, createFigures } from './figures.ts';
import { judge, load, loadPreset, readFixture } from '../policy/virtual-host.ts';

/** Milliseconds of each of many runs, sorted; the first tenth is the warm-up. */
function times(runs: number, body: () => unknown): readonly number[] {
  const taken: number[] = [];
  for (let run = -runs / 10; run < runs; run += 1) {
    const from = performance.now();
    body();
    if (run >= 0) taken.push(performance.now() - from);
  }
  return taken.sort((left, right) => left - right);
}

const figures = createFigures();
const report = figures.time;

const rulesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    tools: 'local_fs',
    tool: index % 2 === 0 ? 'read_file' : '*',
    action: 'deny',
    when: [
      { key: 'path', op: 'glob', value: `**/{secret,private}-${index}/**/*.{pem,key}` },
      { key: 'path', op: 'regex', value: `^/srv/p/x${index}/[a-z]+$` },
    ],
  }));
const read: PolicyCall = { tools: 'local_fs', tool: 'read_file', args: { path: 'src/deep/er/file.ts' } };
const line = (command: string): PolicyCall => ({ tools: 'local_shell', tool: 'local_shell', args: { command } });

const hundred = await load({ default_action: 'allow', rules: rulesOf(100) });
const walked = times(20_000, () => judge(hundred, read));
report('a call against 100 rules, p99', at(walked, 0.99), 0.05, 'us');

const preset = loadPreset('default');
const long =
  'git log --oneline --since=yesterday -- src | head -20 && grep -rn "needle in a haystack" src/policy test | sort | uniq -c'
    .padEnd(180, ' ')
    .concat('&& wc -l README.md');
report(
  `a shell line of ${long.length} characters, p99`,
  at(
    times(5_000, () => judge(preset, line(long))),
    0.99,
  ),
  1,
  'ms',
);
const huge = `echo ${'word '.repeat(13_105)}`.slice(0, 65_536);
report(
  `a line of ${huge.length} bytes`,
  at(
    times(20, () => judge(preset, line(huge))),
    0.5,
  ),
  100,
  'ms',
);

async function parsing(text: string, runs: number): Promise<number> {
  const taken: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const from = performance.now();
    await parsePolicy(text);
    taken.push(performance.now() - from);
  }
  return at(
    taken.sort((left, right) => left - right),
    0.5,
  );
}
const { presets } = readFixture('policy-cases.json') as { readonly presets: Readonly<Record<string, unknown>> };
report('preset default loaded and checked', await parsing(JSON.stringify(presets['default']), 50), 5, 'ms');
const thousand = JSON.stringify({ default_action: 'allow', rules: rulesOf(1000) });
report('1,000 rules loaded and checked', await parsing(thousand, 20), 20, 'ms');

const dir = mkdtempSync(join(tmpdir(), 'reins-bench-hash-'));
try {
  const path = join(dir, 'big');
  writeFileSync(path, Buffer.alloc(256 * 1024 * 1024, 7));
  const best = (body: () => number): number => Math.min(...Array.from({ length: 3 }, body));
  const theirs = best(() => {
    const from = performance.now();
    spawnSync('sha256sum', [path]);
    return performance.now() - from;
  });
  let ours = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    const from = performance.now();
    await hashBinary({ path });
    ours = Math.min(ours, performance.now() - from);
  }
  const ratio = theirs / ours;
  figures.add({
    what: 'hashing 256 MiB, throughput to sha256sum',
    value: `${ratio.toFixed(2)}x`,
    goal: '0.8x or more',
    over: ratio < 0.8,
  });
} finally {
  rmSync(dir, { recursive: true, force: true });
}

figures.print();
