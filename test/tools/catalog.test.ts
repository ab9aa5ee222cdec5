import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtInTools, catalogTools } from '../../src/schema/tool-names.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import { refusingTool } from '../../src/tools/source.ts';
import { type Bench, createBench } from './support.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

const nameOf = (found: ReturnType<Bench['catalog']['resolve']>) =>
  found.kind === 'found' ? `${found.tool.spec.tools}.${found.tool.spec.tool}` : found;

describe('the catalog', () => {
  it('holds exactly the built-in tools of chapter 05, and the question of chapter 03', () => {
    expect(bench.catalog.list().map(({ tools, tool }) => `${tools}.${tool}`)).toEqual([
      'local_fs.read_file',
      'local_fs.read_file_range',
      'local_fs.list_dir',
      'local_fs.find_files',
      'local_fs.grep',
      'local_fs.count_stats',
      'local_fs.stat_file',
      'local_fs.write_file',
      'local_fs.edit_file',
      'local_fs.sed',
      'local_shell.local_shell',
      'web.web_get',
      'web.web_head',
      'web.web_post',
      'web.web_put',
      'web.web_patch',
      'web.web_delete',
      'webhook.webhook',
      'echo.echo',
      'print.print',
      'engine.ask_human',
    ]);
  });

  it('holds those that a chain is vetted against', () => {
    expect([...catalogTools].flatMap(([tools, names]) => names.map((tool) => `${tools}.${tool}`))).toEqual(
      bench.catalog.list().map(({ tools, tool }) => `${tools}.${tool}`),
    );
  });

  it('requires the arguments that a policy is vetted against', () => {
    const required = bench.catalog.list().map(({ input_schema }) => input_schema['required'] ?? []);
    expect(bench.catalog.list().map(({ tools, tool }) => builtInTools[tools]?.[tool])).toEqual(required);
  });

  it('knows no shell unless the operator asked for it', () => {
    const without = createBench({ shell: false });
    expect(without.catalog.find('local_shell', 'local_shell')).toBeNull();
    expect(without.catalog.list().some((spec) => spec.tools === 'local_shell')).toBe(false);
    without.remove();
  });

  it('marks as read-only what chapter 05 lists, and nothing else', () => {
    expect(bench.catalog.list((spec) => spec.read_only).map((spec) => spec.tool)).toEqual([
      'read_file',
      'read_file_range',
      'list_dir',
      'find_files',
      'grep',
      'count_stats',
      'stat_file',
      'web_get',
      'web_head',
      'echo',
    ]);
  });

  it('resolves an exact name, and a tool name that is unique among the offered ones', () => {
    expect(nameOf(bench.catalog.resolve('local_fs.grep', []))).toBe('local_fs.grep');
    expect(nameOf(bench.catalog.resolve('grep', ['local_fs.grep', 'echo.echo']))).toBe('local_fs.grep');
  });

  it('does not resolve a tool name that was not offered', () => {
    expect(nameOf(bench.catalog.resolve('grep', ['echo.echo']))).toEqual({ kind: 'unknown', similar: [] });
  });

  it('lists near names of what was offered', () => {
    expect(nameOf(bench.catalog.resolve('local_fs.read_fil', ['local_fs.read_file', 'local_fs.sed']))).toEqual({
      kind: 'unknown',
      similar: ['local_fs.read_file'],
    });
  });

  it('finds what may not be called by the name that models knew it by, so that they are told why', () => {
    const held = refusingTool({ tools: 'notes', tool: 'add' }, 'quarantined', 'It changed.');
    const catalog = createCatalog([held]);
    expect(nameOf(catalog.resolve('notes_add', []))).toBe('notes.add');
    expect(nameOf(bench.catalog.resolve('echo_echo', []))).toEqual({ kind: 'unknown', similar: [] });
  });

  it('refuses two tools of one name', () => {
    const tool = bench.catalog.find('echo', 'echo');
    expect(() => createCatalog(tool === null ? [] : [tool, tool])).toThrow(/two tools are named echo\.echo/);
  });

  it('describes the shell for its root and the limits of the chain', () => {
    const limits = { local_shell: { _allowed_commands: 'git, ls', _denied_commands: 'rm' } };
    const [shell] = bench.catalog.list((spec) => spec.tools === 'local_shell', { root: '/srv/p', limits });
    expect(shell?.description).toBe(
      'Starts a program in /srv/p. Nothing persists between calls: no cd (pass cwd), no variables, no background processes. ' +
        'One simple command runs as it is, with no expansion of * or ?; other lines run through /bin/sh. Join steps with &&, not ;. ' +
        'Standard input is empty. The time limit is 120 s unless timeout_s says otherwise. ' +
        'Only these programs may be used: git, ls. These programs are refused: rm.',
    );
  });
});
