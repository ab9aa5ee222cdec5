import { configKeys, configTable } from '../schema/config.ts';
import { exitCodes, flagRows, type HelpRow, renderRows } from './help.ts';
import { globalFlags } from './table/globals.ts';
import type { HelpTopic } from './table/surfaces.ts';

/** 06 §4. Variables that stand for a flag are named with the flag they stand for. */
export const variables: readonly HelpRow[] = [
  ['REINS_HOME', 'User-level directory, default ~/.reins.'],
  ...globalFlags.flatMap((flag): readonly HelpRow[] =>
    flag.env?.startsWith('REINS_') === true ? [[flag.env, `As --${flag.name}.`]] : [],
  ),
  ['REINS_SESSION', 'Session used by chat in place of the active one, without switching.'],
  ['REINS_TUI, REINS_THEME', 'Mode and theme of the full-screen terminal.'],
  ['REINS_ADDR, REINS_PORT', 'Address and port of the server.'],
  ['REINS_PUBLIC_ORIGIN', 'Origin under which people reach the server.'],
  ['REINS_TLS_CERT, REINS_TLS_KEY', 'Certificate and key of the server.'],
  ['REINS_BEAM_TOKEN', 'Bearer token of the server.'],
  ['REINS_JWT_SECRET', 'Signing secret of the server; REINS_JWT_SECRET_FILE names a file.'],
  ['REINS_RUN_ID', 'Set in children of tools; marks a command that a tool has started.'],
  ['OLLAMA_HOST', 'Default of --ollama; scheme and port may be missing.'],
  ['<NAME>', 'Given to --api-key-env: read at the moment of use, never stored.'],
  ['HTTP_PROXY, HTTPS_PROXY', 'Proxies of outbound HTTP; NO_PROXY excepts hosts.'],
  ['NODE_EXTRA_CA_CERTS', 'Further certificate authorities.'],
  ['VISUAL, EDITOR', 'External editor.'],
  ['NO_COLOR, FORCE_COLOR', 'No colour; colour also without a terminal.'],
  ['TERM', 'dumb: no colour, nothing is redrawn.'],
  ['CI', 'Set and not false: no colour, nobody is asked.'],
];

const config = (): readonly HelpRow[] =>
  configKeys.map((key) => {
    const { accepts, fallback, meaning } = configTable[key];
    return [key, `${meaning} (${fallback === '' ? 'no default' : `default ${fallback}`}; ${accepts})`] as const;
  });

/** One line per topic. */
export const topicTitles: Readonly<Record<HelpTopic, string>> = {
  flags: 'Global flags, before or after any command word.',
  env: 'Environment variables. Flag > environment > config > built-in.',
  'exit-codes': 'Exit codes.',
  config: 'Keys of reins config set|get|unset.',
};

/** Text of `reins help <topic>` (06 §2.6), at most 80 columns. */
export function renderTopic(topic: HelpTopic): string {
  const rows: Readonly<Record<HelpTopic, () => readonly HelpRow[]>> = {
    flags: () => flagRows(globalFlags),
    env: () => variables,
    'exit-codes': () => exitCodes.map(([code, meaning]) => [String(code), meaning] as const),
    config,
  };
  return `${[topicTitles[topic], '', ...renderRows(rows[topic]())].join('\n')}\n`;
}
