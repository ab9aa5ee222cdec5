import { expect, it } from 'vitest';
import { reservedForPeople, secretPaths } from '../../src/policy/reserved.ts';
import { parseScript } from '../../src/shell/parse-script.ts';
import { readCallWith } from '../../src/shell/read-line.ts';
import { plainHost, virtualHost } from './virtual-host.ts';

const reserved = (tools: string, tool: string, args: Readonly<Record<string, unknown>>) => {
  const reading = tools === 'local_shell' ? readCallWith(args, parseScript) : null;
  return reservedForPeople({ tools, tool, args }, virtualHost(plainHost), reading === null ? {} : { reading });
};
const shell = (command: string) => reserved('local_shell', 'local_shell', { command, shell: true });

it.each([
  ['a read of a secret', () => reserved('local_fs', 'read_file', { path: '.env' })],
  [
    'a read of a credential by its absolute path',
    () => reserved('local_fs', 'read_file', { path: '/home/u/.aws/credentials' }),
  ],
  ['a path deep inside the arguments', () => reserved('hook', 'send', { body: { file: 'keys/server.pem' } })],
  ['a write to a repository', () => reserved('local_fs', 'write_file', { path: '.git/hooks/pre-commit' })],
  ['a command that reads a secret', () => shell('cat .env')],
  ['a secret behind a launcher', () => shell('timeout 5 cat .env')],
  ['a secret in a substitution', () => shell('echo "$(cat .env)"')],
  ['a redirection into a file that gains control', () => shell('echo x > ~/.bashrc')],
  ['a line that cannot be read', () => shell('cat <(')],
  ['a program of a name that only the shell knows', () => shell('$X a')],
])('leaves %s to people', (_name, ask) => {
  expect(ask()).not.toBeNull();
});

it.each([
  ['a plain file', () => reserved('local_fs', 'write_file', { path: 'src/a.ts' })],
  ['a plain command', () => shell('ls src && rm -rf build')],
  ['a web request', () => reserved('web', 'web_get', { url: 'https://x.test/.env' })],
])('lets an agent judge %s', (_name, ask) => {
  expect(ask()).toBeNull();
});

it('names the paths of a call at which secrets are kept', () => {
  const args = {
    path: '.env',
    body: { file: ['src/a.ts', '/home/u/.aws/credentials', '.env', '.git/hooks/pre-commit'] },
  };
  expect(secretPaths({ tools: 'hook', tool: 'send', args }, virtualHost(plainHost))).toEqual([
    '.env',
    '/home/u/.aws/credentials',
  ]);
});

it.each([
  ['tar czf a.tgz .', 'a person'],
  ['zip -r a.zip .', 'a person'],
  ['cp -r . /srv/p/copy', 'a person'],
  ['rsync -a ./ host:there', 'a person'],
  ['tar czf a.tgz src', 'an agent'],
  ['ls -la .', 'an agent'],
])('leaves %s beside a secret to %s', (command, who) => {
  const held = new Set(['/srv/p/.env']);
  const host = virtualHost(plainHost, {
    isDirectory: (path) => path === '/srv/p' || path === '/srv/p/src',
    hardLinks: (path) => (held.has(path) ? 1 : 0),
  });
  const args = { command, shell: true };
  const reading = readCallWith(args, parseScript);
  const why = reservedForPeople(
    { tools: 'local_shell', tool: 'local_shell', args },
    host,
    reading === null ? {} : { reading },
  );
  expect(why === null ? 'an agent' : 'a person').toBe(who);
});
