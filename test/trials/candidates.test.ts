import { describe, expect, it } from 'vitest';
import { prefixRules } from '../../src/trials/candidates.ts';

const tabled = new Set(['cargo', 'tail']);
const offered = (...lines: readonly string[]): readonly string[] =>
  prefixRules(
    { tools: 'local_shell', tool: 'local_shell', args: {} },
    lines.map((line) => line.split(' ')),
    (word) => tabled.has(word),
  ).map(({ when }) => when?.[0]?.value ?? '');

describe('the entries that are offered in place of an approval', () => {
  it.each([
    ['cargo test --workspace --all', ['cargo test --workspace', 'cargo test', 'cargo']],
    ['gh pr view 12', ['gh pr view']],
    ['gh pr list', ['gh pr list']],
    ['docker ps -a', ['docker ps -a', 'docker ps']],
    ['docker logs --tail 50 web', ['docker logs']],
    ['mvn -q test', ['mvn -q test']],
    ['psql -d app -c x', []],
    ['mkdir -p src/new', ['mkdir -p src/new']],
    ['terraform plan', ['terraform plan']],
    ['yarn', ['yarn']],
  ])('of %s leave open what a table judges, and no subcommand of a program without one', (line, entries) => {
    expect(offered(line)).toEqual(entries);
  });

  it('are one for each command of a line', () => {
    expect(offered('ps aux', 'tail -20')).toEqual(['ps aux, tail -20']);
  });
});
