import { type ConfigKey, configKeys, configWarning } from '../../schema/config.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { ConfigEntry } from '../../schema/registry.ts';
import type { Context, Handler } from '../context.ts';
import { nearest } from '../../text/nearest.ts';
import { themesOf } from '../themes.ts';

const keyOf = (context: Context): ConfigKey => {
  const key = context.invocation.words[0] ?? '';
  const known = configKeys.find((one) => one === key);
  if (known !== undefined) return known;
  const near = nearest(key, configKeys, 3, 1)[0];
  throw new RuntimeError(
    'usage',
    `unknown config key "${key}"${near === undefined ? '' : ` (did you mean ${near}?)`}; the keys are ${configKeys.join(', ')}`,
    { hints: ['reins help config'] },
  );
};

const shown = async (context: Context, entry: ConfigEntry, text: string): Promise<number> => {
  if (context.globals.format === 'text') await context.print(text);
  else await context.printJson(entry);
  return 0;
};

const set: Handler = async (context) => {
  const key = keyOf(context);
  const entry = await (await context.client()).setConfig({ key, value: context.invocation.words[1] ?? '' });
  const warning = configWarning(key, entry.value) ?? (await nameFault(context, key, entry.value));
  if (warning !== null) context.warn(warning);
  return shown(context, entry, `${entry.key} = ${entry.value}`);
};

/** What is wrong with the chain, policy or theme that a key names. It may come to be later: it is told, not refused. */
async function nameFault(context: Context, key: ConfigKey, value: string): Promise<string | null> {
  if (value === '') return null;
  try {
    if (key === 'tui-theme') (await themesOf(context)).named(value, null);
    if (key === 'hitl-policy-name') await (await context.client()).showPolicy({ policy: value });
  } catch (error) {
    if (error instanceof RuntimeError) return error.message;
    throw error;
  }
  if (key !== 'default-chain' && key !== 'attention-chain') return null;
  return (await (await context.client()).configuredChainFault({ key })).fault;
}

const get: Handler = async (context) => {
  const key = keyOf(context);
  const entry = await (await context.client()).getConfig({ key });
  return shown(context, entry, entry.value);
};

const unset: Handler = async (context) => {
  const key = keyOf(context);
  const entry = await (await context.client()).unsetConfig({ key });
  return shown(context, entry, entry.value === '' ? `${entry.key} is not set` : `${entry.key} = ${entry.value}`);
};

const list: Handler = async (context) => {
  const entries = await (await context.client()).listConfig({});
  if (context.globals.format !== 'text') {
    await context.printJson(entries);
    return 0;
  }
  await context.printTable(
    [{ title: 'KEY' }, { title: 'VALUE', flexible: true }, { title: 'SOURCE' }],
    entries.map((entry) => [entry.key, entry.value, entry.source]),
  );
  return 0;
};

export const handlers = { set, get, unset, list };
