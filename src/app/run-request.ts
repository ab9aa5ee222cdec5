import { statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import type { AppOptions } from '../app-options.ts';
import type { Settings } from '../registry/settings.ts';
import type { RunOptions } from '../runs/run-routes.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { StartRun } from '../schema/run.ts';
import { requestedPolicy } from '../workspace/files.ts';
import { realOf, type Workspace } from '../workspace/paths.ts';

export type RunRequestDeps = {
  readonly options: Pick<AppOptions, 'serving' | 'policy' | 'shell' | 'allowedDir' | 'context' | 'trust'>;
  readonly settings: Pick<Settings, 'value' | 'isSet'>;
  readonly workspace: Pick<Workspace, 'root'>;
};

const refuse = (param: string, message: string): RuntimeError =>
  new RuntimeError('invalid_parameter', message, { data: { param } });

/**
 * What a run over HTTP is started with: what the request says within what the operator allowed when the server began
 * (09 §1.1). Names are names of the overlay, never paths.
 */
export function runRequest({ options, settings, workspace }: RunRequestDeps) {
  const { serving } = options;
  // The five minutes that are built in are those of a command line: a conversation has none.
  const timeoutMs = serving?.timeoutMs ?? (settings.isSet('default-timeout') ? settings.value('default-timeout') : 0);
  const bound = realOf(options.allowedDir ?? workspace.root);

  /** A directory below the bound; a request may narrow it and never widen. @throws RuntimeError invalid_parameter */
  const allowedDir = (wanted: string | undefined): string | null => {
    if (wanted === undefined) return options.allowedDir;
    const path = realOf(resolve(bound, wanted));
    const inside = relative(bound, path);
    if (inside !== '' && (inside.startsWith('..') || isAbsolute(inside)))
      throw refuse('allowed_dir', 'The directory is outside what this server allows.');
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw refuse('allowed_dir', 'That is no directory.');
    return path;
  };

  return {
    timeoutMs,

    /** @throws RuntimeError shell_disabled, invalid_parameter */
    of(wanted: RunOptions): Omit<StartRun, 'input'> {
      if (wanted.shell === true && !options.shell) {
        throw new RuntimeError('shell_disabled', 'This server was started without --shell.', {
          data: { param: 'shell' },
        });
      }
      const policy = requestedPolicy(wanted.policy);
      for (const name of Object.keys(wanted.vars ?? {})) {
        if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name) || reserved.has(name)) {
          throw refuse(`vars.${name}`, 'That is no name of a variable that can be given.');
        }
      }
      const named = wanted.chain !== undefined || wanted.chain_document !== undefined;
      return {
        chain_path: named ? null : (serving?.chain ?? null),
        ...(wanted.chain === undefined ? {} : { chain_name: wanted.chain }),
        ...(wanted.chain_document === undefined ? {} : { chain_text: wanted.chain_document }),
        model: wanted.model ?? null,
        provider: wanted.provider ?? null,
        policy: policy ?? options.policy?.value ?? null,
        on_ask: 'ask',
        timeout_ms: wanted.timeout_s === undefined ? timeoutMs : wanted.timeout_s * 1000,
        context: options.context,
        think: wanted.think ?? null,
        shell: wanted.shell === true,
        allowed_dir: allowedDir(wanted.allowed_dir),
        max_turns: 0,
        max_tool_calls: 0,
        max_tokens: 0,
        variables: { ...wanted.vars },
        images: [],
        trust: [...options.trust],
      };
    },
  };
}

const reserved: ReadonlySet<string> = new Set(['model', 'provider', 'chain']);
