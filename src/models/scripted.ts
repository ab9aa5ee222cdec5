import { isAbsolute, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import type { Route } from '../schema/protocol.ts';
import { codeOf, messageOf } from '../text/thrown.ts';
import type { DiscoveredModel, Model, ModelPart, ModelRequest } from './model.ts';
import { chooseTurn, type CompiledTurn, compileTurn, scopeOf, viewOf } from './scripted-match.ts';
import { playReply } from './scripted-play.ts';
import { invalid, parseScript } from './scripted-script.ts';
import type { Pace, Script } from './scripted-types.ts';

/** Largest script (08 §6.1). */
const maxScriptBytes = 5 * 1024 * 1024;
const builtinPrefix = 'builtin:';

/**
 * The adapter of type `scripted`: plays the script that is the route's URL (08 §6). The file is read now; which turn is
 * played follows from each request alone.
 * @throws RuntimeError config_invalid when the script cannot be read or does not load
 */
export async function createScripted(route: Route): Promise<Model> {
  const { script, turns, fallback } = await readScript(route.base_url, route.workspace);
  const loaded: Loaded = { defaults: script.defaults ?? {}, turns, fallback, route };
  return { stream: (request, signal) => play(loaded, request, signal), close: () => {} };
}

/**
 * The models of a script, as written there (08 §4).
 * @throws RuntimeError config_invalid when the script cannot be read or does not load
 */
export async function listScripted(baseUrl: string, workspace: string): Promise<readonly DiscoveredModel[]> {
  const { script } = await loadScript(baseUrl, workspace);
  return script.models.map((model) => {
    const listed = new Set(model.capabilities ?? ['chat', 'tools']);
    return {
      name: model.name,
      context: model.context ?? null,
      max_output: model.max_output ?? null,
      capabilities: {
        chat: listed.has('chat'),
        tools: listed.has('tools'),
        think: listed.has('think'),
        vision: listed.has('vision'),
        embed: listed.has('embed'),
      },
    };
  });
}

/** Finds every defect that a run would: a list leaves the expressions of the turns alone. @throws as `createScripted` */
export async function checkScript(baseUrl: string, workspace: string): Promise<void> {
  await readScript(baseUrl, workspace);
}

async function readScript(baseUrl: string, workspace: string) {
  const { script, name } = await loadScript(baseUrl, workspace);
  const turns: CompiledTurn[] = [];
  for (const [index, turn] of script.turns.entries()) {
    turns.push(await compileTurn(turn, (message, at) => invalid(name, `/turns/${index}${at}`, message)));
  }
  const fallback =
    script.fallback === undefined
      ? null
      : await compileTurn({ name: 'fallback', reply: script.fallback }, (message, at) =>
          invalid(name, at.replace(/^\/reply/, '/fallback'), message),
        );
  return { script, turns, fallback };
}

async function loadScript(baseUrl: string, workspace: string): Promise<{ script: Script; name: string }> {
  if (baseUrl.startsWith(builtinPrefix)) return loadBuiltin(baseUrl);
  const path = isAbsolute(baseUrl) ? baseUrl : join(workspace, baseUrl);
  const { open } = await import('node:fs/promises');
  const { constants } = await import('node:fs');
  let text: string;
  try {
    // Non-blocking: opening a FIFO would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const state = await file.stat();
      if (!state.isFile()) throw new Error('it is not a regular file');
      if (state.size > maxScriptBytes) throw new Error('it is larger than 5 MiB');
      text = new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new RuntimeError('config_invalid', `The script ${path} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
  return { script: parseScript(text, path), name: path };
}

/** Short words for what people meet; else the system's own. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error);
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES') return 'permission denied';
  return messageOf(error);
};

async function loadBuiltin(baseUrl: string): Promise<{ script: Script; name: string }> {
  const name = baseUrl.slice(builtinPrefix.length);
  if (name !== 'demo') {
    throw new RuntimeError('config_invalid', `There is no built-in script "${name}"; the only one is builtin:demo.`);
  }
  const { demoScript } = await import('./scripted-demo.ts');
  return { script: demoScript, name: baseUrl };
}

/** A script ready to be played. */
type Loaded = {
  readonly defaults: Pace;
  readonly turns: readonly CompiledTurn[];
  readonly fallback: CompiledTurn | null;
  readonly route: Route;
};

async function* play(loaded: Loaded, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { route } = loaded;
  await request.leave?.();
  const view = viewOf(request);
  const choice = chooseTurn(loaded.turns, view);
  const chosen = choice.kind === 'turn' ? choice.compiled : loaded.fallback;
  if (chosen === null) {
    yield permanent(noTurn(view.last_user, choice.kind === 'none' ? choice.failed : []));
    return;
  }
  for (const assertion of chosen.assertions) {
    const unmet = assertion(view);
    if (unmet === null) continue;
    yield permanent(`script expectation failed: turn "${chosen.turn.name}": ${unmet}`);
    return;
  }
  // Kept with the message, so that `times` is counted from the history alone.
  if (choice.kind === 'turn') yield { kind: 'meta', provider_meta: { scripted: { turn: chosen.turn.name } } };
  yield* playReply(chosen.turn.reply, {
    backend: route.backend,
    defaults: loaded.defaults,
    scope: scopeOf(view, route.workspace, choice.kind === 'turn' ? choice.groups : []),
    request,
    signal,
    timeouts: route.timeouts,
  });
}

const permanent = (message: string): ModelPart => ({
  kind: 'error',
  error: { class: 'permanent', message: message.slice(0, 1000) },
});

const noTurn = (lastUser: string, failed: readonly string[]): string => {
  const text = lastUser.length > 200 ? `${lastUser.slice(0, 200)}…` : lastUser;
  return `the script has no turn for this request: ${JSON.stringify(text)} (${failed.join('; ')})`;
};
