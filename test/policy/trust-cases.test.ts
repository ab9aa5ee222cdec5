import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { createPolicyHosts } from '../../src/gate/facts.ts';
import type { Action, PolicyCall, TrustedBinaries } from '../../src/schema/policy.ts';
import { readCall } from '../../src/shell/read-line.ts';
import { realBinaries } from '../support/binaries.ts';
import { machineBelow } from '../support/machine.ts';
import { load, readFixture } from './virtual-host.ts';

type Step = {
  readonly evaluate_expect?: Action;
  readonly rewrite?: string;
  readonly content?: string;
  readonly keep_mtime?: boolean;
  readonly rename_over?: string;
  readonly from?: string;
  readonly touch?: string;
};
type TrustCase = {
  readonly id: string;
  readonly policy: { readonly trusted_binaries?: Partial<TrustedBinaries> };
  readonly path: readonly string[];
  readonly cwd?: string;
  readonly call: PolicyCall;
  readonly prepare?: readonly Step[];
  readonly expect: { readonly action: Action };
  readonly reason?: string;
  readonly why: string;
};
type CaseFile = {
  readonly fixture: {
    readonly files: Readonly<Record<string, { readonly content: string; readonly mode: string }>>;
    readonly symlinks: Readonly<Record<string, string>>;
  };
  readonly cases: readonly TrustCase[];
};

// The format is fixed by 02 §1; what does not fit it fails the cases below.
const file = readFixture('trust-cases.json') as CaseFile;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-trust-')));
  const { files, symlinks } = file.fixture;
  for (const [name, { content, mode }] of Object.entries(files)) {
    const path = placed(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, placed(content));
    chmodSync(path, Number.parseInt(mode, 8));
  }
  for (const [name, target] of Object.entries(symlinks)) {
    mkdirSync(dirname(placed(name)), { recursive: true, mode: 0o755 });
    symlinkSync(placed(target), placed(name));
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const placed = (text: string): string => text.replaceAll('$T', root);
const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The document with the places, digests and interpreters that the fixture promises. */
function documentOf({ policy }: TrustCase): unknown {
  const { trusted_binaries: block, ...rest } = policy;
  if (block === undefined) return rest;
  const shell = realpathSync('/bin/sh');
  const dirs = block.dirs?.map(placed);
  const hashes =
    block.hashes === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries(block.hashes).map(([path, digest]) => {
            const named = /^sha256\((.*)\)$/.exec(digest)?.[1];
            if (digest === 'UPPER') return [placed(path), digestOf(placed('$T/trusted/mytool')).toUpperCase()];
            return [placed(path), named === undefined ? digest : digestOf(placed(named))];
          }),
        );
  return {
    ...rest,
    trusted_binaries: {
      ...(dirs === undefined ? {} : { dirs: dirs.length === 0 ? dirs : [...dirs, dirname(shell)] }),
      ...(hashes === undefined
        ? {}
        : { hashes: Object.keys(hashes).length === 0 ? hashes : { ...hashes, [shell]: digestOf(shell) } }),
    },
  };
}

function take(step: Step): void {
  if (step.rewrite !== undefined) {
    const path = placed(step.rewrite);
    const { atime, mtime } = statSync(path);
    writeFileSync(path, placed(step.content ?? ''));
    if (step.keep_mtime === true) utimesSync(path, atime, mtime);
  }
  if (step.rename_over !== undefined) renameSync(placed(step.from ?? ''), placed(step.rename_over));
  if (step.touch !== undefined) utimesSync(placed(step.touch), new Date(), new Date());
}

async function run(one: TrustCase) {
  const policy = await load(documentOf(one));
  const hosts = createPolicyHosts(machineBelow(root, one.path.map(placed).join(':')), realBinaries());
  const args = JSON.parse(JSON.stringify(one.call.args), (_, value) =>
    typeof value === 'string' ? placed(value) : value,
  );
  const judge = async () =>
    decide(policy, { ...one.call, args }, hosts(placed(one.cwd ?? '$T/ws')), { reading: await readCall(args) });
  const before: Action[] = [];
  for (const step of one.prepare ?? []) {
    if (step.evaluate_expect === undefined) take(step);
    else before.push((await judge()).action);
  }
  const record = await judge();
  return { before, action: record.action, reason: record.trust[0]?.reason ?? null, record };
}

describe('the cases of trust-cases.json', () => {
  it.each(file.cases.map((one) => [one.id, one.why, one] as const))('%s: %s', async (_id, _why, one) => {
    const { before, action, reason, record } = await run(one);
    const expected = { ...one.expect, reason: one.reason ?? null };
    const steps = (one.prepare ?? []).flatMap(({ evaluate_expect: action }) => (action === undefined ? [] : [action]));
    expect({ before, action, reason }).toEqual({ before: steps, ...expected });
    if (one.reason !== undefined) expect(record.detail).toContain(one.reason);
  });
});
