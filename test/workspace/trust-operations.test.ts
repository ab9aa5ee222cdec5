import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChains } from '../../src/workspace/chains.ts';
import { sha256Of } from '../../src/workspace/files.ts';
import { createPolicies } from '../../src/workspace/policies.ts';
import { createTrust } from '../../src/workspace/trust.ts';
import { createTrustOperations } from '../../src/workspace/trust-operations.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let dataDir: string;
let recorded: unknown[];
beforeEach(() => {
  temp = tempHome();
  recorded = [];
  dataDir = join(temp.workspace, '.reins');
  mkdirSync(dataDir, { mode: 0o700 });
});
afterEach(() => temp.remove());

const uid = process.getuid?.() ?? 0;
const trust = () => createTrust({ home: temp.home, uid, now: () => 0 });
const operations = () => {
  const common = {
    workspace: { dataDir, home: temp.home, root: temp.workspace, cwd: temp.workspace },
    uid,
    trust: trust(),
    configured: () => null,
  };
  return createTrustOperations({
    ...common,
    chains: createChains(common),
    policies: createPolicies(common),
    recorded: (entry) => recorded.push(entry),
  });
};
const put = (name: string, text: string): string => {
  const path = join(dataDir, name);
  writeFileSync(path, text);
  return path;
};
const pending = (hashes: readonly string[] = [], chain_path: string | null = null) =>
  operations().untrusted({ chain: 'run', chain_path, policy: null, trust: hashes });

describe('what waits for trust', () => {
  it('is the chain and the policy that a run would use, with their text', async () => {
    const chain = put('default-run-chain.json', '{"id":"c"}');
    const policy = put('hitl-policy.json', '{}');
    put('default-chain.json', 'not asked for');
    const hashes = [sha256Of('{"id":"c"}'), sha256Of('{}')] as const;
    expect(await pending()).toEqual([
      { kind: 'chain', path: chain, sha256: hashes[0], bytes: 10, text: '{"id":"c"}' },
      { kind: 'policy', path: policy, sha256: hashes[1], bytes: 2, text: '{}' },
    ]);
    expect((await pending([hashes[0]])).map(({ kind }) => kind)).toEqual(['policy']);
    await operations().trustContent({ path: '.reins/hitl-policy.json', sha256: hashes[1], by: 'prompt' });
    expect(await pending([hashes[0]])).toEqual([]);
  });

  it("is nothing that the operator typed or that is not the project's", async () => {
    put('default-run-chain.json', '{"id":"c"}');
    writeFileSync(join(temp.home, 'hitl-policy.json'), '{}');
    expect(await pending([], '.reins/default-run-chain.json')).toEqual([]);
  });

  it('cannot be told without a chain', async () => {
    await expect(pending()).rejects.toMatchObject({ code: 'chain_not_found' });
  });
});

describe('trusting content', () => {
  it('binds to the bytes that were looked at, and is recorded', async () => {
    const path = put('default-run-chain.json', 'one');
    await operations().trustContent({ path, sha256: sha256Of('one').toUpperCase(), by: 'command' });
    expect(recorded).toEqual([
      {
        kind: 'chain',
        root: temp.workspace,
        path: '.reins/default-run-chain.json',
        sha256: sha256Of('one'),
        by: 'command',
      },
    ]);
    writeFileSync(path, 'two');
    await expect(operations().trustContent({ path, sha256: sha256Of('one'), by: 'command' })).rejects.toMatchObject({
      code: 'not_trusted',
      message: `The file ${path} has another content now (sha256 ${sha256Of('two')}).`,
    });
    expect(recorded).toHaveLength(1);
  });

  it('is for files of the data directory only, and for no links', async () => {
    writeFileSync(join(temp.workspace, 'other.json'), 'x');
    const sha256 = sha256Of('x');
    for (const path of ['other.json', '.reins', '.reins/../other.json', '/etc/hostname']) {
      await expect(operations().trustContent({ path, sha256, by: 'command' })).rejects.toMatchObject({ code: 'usage' });
    }
    put('real.json', 'x');
    symlinkSync('real.json', join(dataDir, 'link.json'));
    const linked = operations().trustContent({ path: '.reins/link.json', sha256, by: 'command' });
    await expect(linked).rejects.toMatchObject({ code: 'usage' });
    expect(trust().list()).toEqual([]);
  });
});
