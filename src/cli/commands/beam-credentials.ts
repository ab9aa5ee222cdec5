import { RuntimeError } from '../../schema/errors.ts';
import { plural } from '../../view/format.ts';
import { confirmed } from '../confirm.ts';
import type { Context, Handler } from '../context.ts';
import { readSecret } from '../read-secret.ts';
import { readPort, secretSources } from '../serve-beam.ts';
import { when } from '../times.ts';

const defaultPort = 8787;

async function commands(context: Context, access: 'read' | 'write') {
  const app = await context.open((options) => options);
  const ground = await app.ground(access);
  const { createBeamCommands } = await import('../../server/beam-commands.ts');
  return { ground, ...createBeamCommands({ ground, secrets: secretSources(context), now: context.process.now }) };
}

/** What was done, in words or as JSON. */
async function said(context: Context, line: string, json: object): Promise<number> {
  if (context.globals.format === 'text') await context.print(line);
  else await context.printJson(json);
  return 0;
}

const status: Handler = async (context) => {
  const found = (await commands(context, 'read')).status();
  if (context.globals.format !== 'text') {
    await context.printJson(found);
    return 0;
  }
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  await context.print(
    [
      `password set: ${yes(found.password_set)} (changed ${plural(found.epoch, 'time')})`,
      `default login in force: ${yes(found.default_login_in_force)}`,
      `live logins: ${found.live_sessions}`,
      `failed logins in 24 h: ${found.failed_logins_24h}`,
      `access token: ${found.token_file} (${found.token_file_state})`,
      `signing secret: ${found.secret_source}`,
    ].join('\n'),
  );
  return 0;
};

const setPassword: Handler = async (context) => {
  const { flags } = context.invocation;
  const beam = await commands(context, 'write');
  const asksCurrent = beam.passwordIsSet() && flags.bool('force') !== true;
  const [current, next] =
    flags.bool('stdin') === true ? await fromStdin(context, asksCurrent) : await fromTerminal(context, asksCurrent);
  const { sessionsRevoked } = await beam.setPassword(current, next);
  return said(context, `The password is set; ${plural(sessionsRevoked, 'login')} ended.`, {
    password_set: true,
    sessions_revoked: sessionsRevoked,
  });
};

type Passwords = readonly [current: string | null, next: string];

/** The new password is the last line; the current one stands before it where it is asked for. */
async function fromStdin(context: Context, asksCurrent: boolean): Promise<Passwords> {
  const chunks: Buffer[] = [];
  for await (const chunk of context.process.stdin()) chunks.push(Buffer.from(chunk));
  const lines = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  if (lines.length !== (asksCurrent ? 2 : 1)) {
    throw new RuntimeError(
      'usage',
      asksCurrent
        ? '--stdin takes two lines: the current password and the new one (or --force)'
        : '--stdin takes one line: the new password',
    );
  }
  return asksCurrent ? [lines[0] ?? '', lines[1] ?? ''] : [null, lines[0] ?? ''];
}

async function fromTerminal(context: Context, asksCurrent: boolean): Promise<Passwords> {
  const { terminal, process } = context;
  if (!terminal.interactive()) {
    throw new RuntimeError('usage', 'no terminal to ask on', { hints: ['reins beam set-password --stdin'] });
  }
  const ask = async (question: string): Promise<string> => {
    try {
      return await readSecret(process.stdin(), () => terminal.err(question));
    } finally {
      terminal.err('\n');
    }
  };
  const current = asksCurrent ? await ask('Current password: ') : null;
  const next = await ask('New password: ');
  if ((await ask('Again: ')) !== next) throw new RuntimeError('usage', 'the two passwords differ; nothing was changed');
  return [current, next];
}

const resetPassword: Handler = async (context) => {
  const { flags } = context.invocation;
  if (flags.bool('yes') !== true) {
    if (!context.terminal.interactive()) {
      throw new RuntimeError('usage', 'nobody can be asked: --yes', { hints: ['reins beam reset-password --yes'] });
    }
    const question = 'Take the password away, so that admin / admin works from this machine, and end all logins? [y/N]';
    if (!(await confirmed(context, question))) return 1;
  }
  const { sessionsRevoked } = (await commands(context, 'write')).resetPassword();
  return said(context, `The password is gone; ${plural(sessionsRevoked, 'login')} ended.`, {
    password_set: false,
    sessions_revoked: sessionsRevoked,
  });
};

const rotateSecret: Handler = async (context) => {
  const { sessionsRevoked } = (await commands(context, 'write')).rotateSecret();
  return said(context, `The signing secret is another one; ${plural(sessionsRevoked, 'login')} ended.`, {
    sessions_revoked: sessionsRevoked,
  });
};

const token: Handler = async (context) => {
  const beam = await commands(context, 'write');
  const { path } = beam.ground.token;
  if (context.invocation.words[0] === 'rotate') {
    beam.rotateToken();
    return said(context, `The access token is another one: ${path}`, { token_file: path });
  }
  if (!context.terminal.stdoutIsTerminal && context.invocation.flags.bool('yes') !== true) {
    throw new RuntimeError('usage', 'the token is shown on a terminal only', {
      hints: ['reins beam token show --yes'],
    });
  }
  const value = beam.token();
  return said(context, value, { token: value, token_file: path });
};

const link: Handler = async (context) => {
  const { flags } = context.invocation;
  const beam = await commands(context, 'write');
  const settings = beam.ground.settings();
  const variable = context.process.environment['REINS_PORT'] || null;
  const named = flags.number('port') ?? (variable === null ? null : readPort(context, variable));
  // One that was started on another port has said where it is; what was named is what is meant.
  const ports = named === null ? beam.ground.servingPorts() : [];
  const port = named ?? settings.port;
  const host = context.process.environment['REINS_ADDR'] || settings.host;
  const url = await beam.link(host, [port === 0 ? defaultPort : port, ...ports]);
  return said(context, url, { login_url: url });
};

const sessions: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const [action, id] = words;
  const all = flags.bool('all') === true;
  if (action === 'revoke') {
    if (all === (id !== undefined)) throw new RuntimeError('usage', 'which login: an id, or --all');
    const beam = await commands(context, 'write');
    const revoked = id === undefined ? beam.revokeAll() : beam.revoke(id);
    return said(context, `${plural(revoked, 'login')} ended.`, { sessions_revoked: revoked });
  }
  if (all || id !== undefined) throw new RuntimeError('usage', '"beam sessions list" takes nothing further');
  const rows = (await commands(context, 'read')).sessions();
  if (context.globals.format !== 'text') {
    await context.printJson(rows);
    return 0;
  }
  if (rows.length === 0) {
    context.hint('nobody is logged in');
    return 0;
  }
  const heads = ['LOGIN', 'WITH', 'SINCE', 'SEEN', 'PEER', 'CLIENT'].map((title) => ({ title }));
  const cells = rows.map((row) => [
    row.id,
    row.auth_method,
    when(context, row.created_at),
    when(context, row.last_seen_at),
    row.peer,
    row.user_agent,
  ]);
  await context.printTable(heads, cells);
  return 0;
};

export const handlers: Readonly<Record<string, Handler>> = {
  status,
  link,
  token,
  sessions,
  'set-password': setPassword,
  'reset-password': resetPassword,
  'rotate-secret': rotateSecret,
};
