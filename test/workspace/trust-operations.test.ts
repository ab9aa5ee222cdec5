import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChains } from '../../src/workspace/chains.ts';
import { sha256Of } from '../../src/workspace/files.ts';
import { createPolicies } from '../../src/workspace/policies.ts';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
import { createTrust } from '../../src/workspace/trust.ts';
import { wholeDiff } from '../../src/tools/files/diff.ts';
import { createTrustOperations } from '../../src/workspace/trust-operations.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let dataDir: string;
let recorded: unknown[];
let kept: Map<string, Uint8Array>;
const unasked = new Set<string>();
beforeEach(() => {
  temp = tempHome();
  recorded = [];
  kept = new Map();
  unasked.clear();
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
    texts: { keep: (bytes) => kept.set(sha256Of(bytes), bytes), text: (sha256) => kept.get(sha256) ?? null },
    instructions: () => true,
    home: temp.home,
    withheld: (_path, sha256) => unasked.has(sha256),
    diff: wholeDiff,
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

describe('instructions that a call has changed', () => {
  const review = async () =>
    (await operations().untrusted({ chain: null, chain_path: null, policy: null, trust: [], review: true })).map(
      ({ path, changed }) => [path, changed],
    );

  it('wait whatever else is trusted, those of the user too, and under the name that a link leads to', async () => {
    const [project, user] = [join(temp.workspace, 'CLAUDE.md'), join(temp.home, 'AGENTS.md')];
    writeFileSync(project, 'Obey.\n');
    symlinkSync('CLAUDE.md', join(temp.workspace, 'AGENTS.md'));
    writeFileSync(user, 'Obey me.\n', { mode: 0o600 });
    unasked.add(sha256Of('Obey.\n')).add(sha256Of('Obey me.\n'));
    expect(await review()).toEqual([
      [project, true],
      [user, true],
    ]);
    await operations().trustContent({
      path: join(temp.workspace, 'AGENTS.md'),
      sha256: sha256Of('Obey.\n'),
      by: 'command',
    });
    await operations().trustContent({ path: user, sha256: sha256Of('Obey me.\n'), by: 'command' });
    expect(trust().list()).toMatchObject([
      { kind: 'agent', root: temp.workspace, path: 'CLAUDE.md' },
      { kind: 'agent', root: temp.home, path: 'AGENTS.md' },
    ]);
  });
});

describe('what waits for trust', () => {
  it('is AGENTS.md of the project too where somebody looks, and says with what it comes', async () => {
    const text = 'Use tabs.\n';
    writeFileSync(join(temp.workspace, 'AGENTS.md'), text);
    const review = (chain: 'run' | null = 'run') =>
      operations().untrusted({ chain, chain_path: null, policy: null, trust: [], review: true });
    const agent = { kind: 'agent', path: join(temp.workspace, 'AGENTS.md'), sha256: sha256Of(text), bytes: 10, text };
    expect(await review(null)).toEqual([{ ...agent, former: null }]);
    const chain = put('default-run-chain.json', '{"id":"c"}');
    expect(await pending()).toMatchObject([{ kind: 'chain', brings: 'AGENTS.md' }]);
    expect((await review()).map(({ kind, brings }) => [kind, brings])).toEqual([
      ['chain', 'AGENTS.md'],
      ['agent', undefined],
    ]);
    await operations().trustContent({ path: chain, sha256: sha256Of('{"id":"c"}'), by: 'command' });
    expect(await review()).toEqual([]);
    put('default-run-chain.json', '{"id":"other"}');
    expect((await review()).map(({ kind, brings }) => [kind, brings])).toEqual([['chain', undefined]]);
  });

  it('is the chain and the policy that a run would use, with their text', async () => {
    const chain = put('default-run-chain.json', '{"id":"c"}');
    const policy = put('hitl-policy.json', '{}');
    put('default-chain.json', 'not asked for');
    const hashes = [sha256Of('{"id":"c"}'), sha256Of('{}')] as const;
    expect(await pending()).toEqual([
      { kind: 'chain', path: chain, sha256: hashes[0], bytes: 10, text: '{"id":"c"}', former: null },
      { kind: 'policy', path: policy, sha256: hashes[1], bytes: 2, text: '{}', former: null },
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
    for (const path of ['other.json', '.reins/../other.json']) {
      await expect(operations().trustContent({ path, sha256, by: 'command' })).rejects.toMatchObject({ code: 'usage' });
    }
    for (const path of ['.reins', '.reins/none.json']) {
      const refused = operations().trustContent({ path, sha256, by: 'command' });
      await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    }
    put('real.json', 'x');
    symlinkSync('real.json', join(dataDir, 'link.json'));
    const linked = operations().trustContent({ path: '.reins/link.json', sha256, by: 'command' });
    await expect(linked).rejects.toMatchObject({ code: 'not_found' });
    expect(trust().list()).toEqual([]);
  });
});

describe('looking at decisions', () => {
  const path = '.reins/default-run-chain.json';
  const trusted = (text: string) =>
    operations().trustContent({ path: put('default-run-chain.json', text), sha256: sha256Of(text), by: 'command' });

  it('shows what was trusted, and what changed since then', async () => {
    await trusted('{"id":"one"}\n');
    expect(await operations().showTrust({ path })).toMatchObject({
      kind: 'chain',
      sha256: sha256Of('{"id":"one"}\n'),
      former: null,
      trusted: { at: '1970-01-01T00:00:00.000Z', by: 'command' },
    });
    put('default-run-chain.json', '{"id":"two"}\n');
    const former = {
      sha256: sha256Of('{"id":"one"}\n'),
      trusted_at: '1970-01-01T00:00:00.000Z',
      diff: `--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,1 @@\n-{"id":"one"}\n+{"id":"two"}\n`,
    };
    expect(await operations().showTrust({ path })).toMatchObject({ former, trusted: null });
    expect(await pending()).toMatchObject([{ text: '{"id":"two"}\n', former }]);
  });

  it('has no difference where the trusted text is gone, or is not what was trusted', async () => {
    await trusted('one');
    put('default-run-chain.json', 'two');
    kept.set(sha256Of('one'), Buffer.from('something else'));
    expect((await operations().showTrust({ path })).former).toMatchObject({ sha256: sha256Of('one'), diff: null });
    kept.clear();
    expect((await operations().showTrust({ path })).former).toMatchObject({ sha256: sha256Of('one'), diff: null });
  });

  it('knows the text of a chain that init wrote', async () => {
    const shipped = shippedChains['default-run-chain.json'];
    const subject = { kind: 'chain', root: temp.workspace, path: join(temp.workspace, path) } as const;
    await trust().add([{ ...subject, sha256: sha256Of(shipped) }], 'init');
    put('default-run-chain.json', `${shipped}\n`);
    expect((await operations().showTrust({ path })).former?.diff).toMatch(/^[+]$/m);
  });

  it('lists the newest first, and takes decisions back by path or hash', async () => {
    await trusted('one');
    await trusted('two');
    await operations().trustContent({ path: put('p.json', 'two'), sha256: sha256Of('two'), by: 'prompt' });
    const rows = await operations().listTrust();
    expect(rows.map((row) => [row.path, row.sha256, row.by, row.trusted_at])).toEqual([
      ['.reins/p.json', sha256Of('two'), 'prompt', '1970-01-01T00:00:00.000Z'],
      [path, sha256Of('two'), 'command', '1970-01-01T00:00:00.000Z'],
      [path, sha256Of('one'), 'command', '1970-01-01T00:00:00.000Z'],
    ]);
    recorded = [];
    expect((await operations().removeTrust({ what: path })).map((row) => row.sha256)).toEqual([
      sha256Of('one'),
      sha256Of('two'),
    ]);
    expect(recorded).toMatchObject([
      { path, removed: true },
      { path, removed: true },
    ]);
    expect((await operations().removeTrust({ what: sha256Of('two').toUpperCase() })).map((row) => row.path)).toEqual([
      '.reins/p.json',
    ]);
    await expect(operations().removeTrust({ what: path })).rejects.toMatchObject({ code: 'not_found' });
  });
});
