import type { ProgramChange } from '../../schema/overlay.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { Context, Handler } from '../context.ts';

type Wanted = { readonly action: 'declare' | 'refresh' | 'remove' | 'list'; readonly names: readonly string[] };

/** `policy trust` (02 §14.7): declares programs, reads their digests again, lists or takes back. */
const trust: Handler = async (context) => {
  const { action, names } = readWanted(context);
  const policy = context.globals.policy?.value ?? null;
  if (action === 'list') return list(context, policy);
  const change = await (await context.client()).trustPrograms({ policy, action, names: [...names] });
  if (context.globals.format !== 'text') await context.printJson({ schema_version: 1, ...change });
  else await print(context, change);
  for (const { name, message } of change.failed) context.warn(message.includes(name) ? message : `${name}: ${message}`);
  return change.failed.length === 0 ? 0 : 1;
};

/** @throws RuntimeError usage for two ways at once, or none */
function readWanted({ invocation: { flags, words } }: Context): Wanted {
  const given = (['refresh', 'remove', 'list'] as const).filter((name) => flags.bool(name) === true);
  const [action = 'declare'] = given;
  if (given.length > 1) {
    throw new RuntimeError('usage', `--${given.join(' and --')} do not go together`, {
      hints: ['reins policy trust --help'],
    });
  }
  if (action === 'list' && words.length > 0) {
    throw new RuntimeError('usage', '--list takes no name: it lists every declaration', {
      hints: ['reins policy trust --list'],
    });
  }
  if ((action === 'declare' || action === 'remove') && words.length === 0) {
    throw new RuntimeError('usage', '"policy trust" needs the name of a program', {
      hints: ['reins policy trust git', 'reins policy trust --list'],
    });
  }
  return { action, names: words };
}

async function print(context: Context, { programs, dirs_added, policy, pins }: ProgramChange): Promise<void> {
  for (const { state, path, sha256, previous } of programs) {
    const digest = previous === null ? sha256 : `${previous} -> ${sha256}`;
    await context.print(
      state === 'unchanged' || state === 'removed' ? `${state} ${path}` : `${state} ${path} ${digest}`,
    );
  }
  for (const directory of dirs_added) await context.print(`added the directory ${directory} to dirs`);
  const file = policy.path ?? policy.name;
  if (!pins.before && pins.after) {
    context.hint(`from now on ${file} lets its allowlists grant only the programs that it declares`);
  }
  if (pins.before && !pins.after) {
    context.hint(`${file} declares no program any more: its allowlists grant programs without a digest`);
  }
}

async function list(context: Context, policy: string | null): Promise<number> {
  const { programs, dirs, ...rest } = await (await context.client()).listPrograms({ policy });
  if (context.globals.format !== 'text') {
    await context.printJson({ schema_version: 1, ...rest, dirs, programs });
    return 0;
  }
  if (programs.length === 0) context.hint('no program is declared; reins policy trust <name> declares one');
  else {
    await context.printTable(
      [{ title: 'PATH', flexible: true }, { title: 'SHA256' }, { title: 'STATE' }],
      programs.map(({ path, sha256, state }) => [path, sha256, state]),
    );
  }
  for (const directory of dirs) await context.print(`dir ${directory}`);
  return 0;
}

export const handlers = { trust };
