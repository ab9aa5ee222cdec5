import type { RuntimeClient } from '../../src/client/operations.ts';
import type { SavedDraft } from '../../src/schema/draft.ts';
import { toWire } from '../../src/schema/errors.ts';
import { type AttachDeps, type Attached, attachMentions } from './attach.ts';
import type { ComposerAction, ComposerIntent, Written } from './composer-state.ts';
import type { HistoryFile } from './history-file.ts';
import { callAsOperator, type OperatorCallDeps } from './operator-calls.ts';
import { slashCommands } from './slash-commands.ts';
import { toldOfLine } from './told-of-line.ts';
import { createMentionFinder } from './mention-finder.ts';

export type ComposerEffectDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly dispatch: (action: ComposerAction) => void;
  readonly session: () => { readonly id: string; readonly name: string } | null;
  readonly history: HistoryFile;
  readonly mostHistory: () => number;
  /** What is in the composer outlives the program; else only the queue does. */
  readonly drafts: boolean;
  /** Where relative paths of calls begin: what lies below it can be mentioned. */
  readonly root: () => Promise<string>;
  /** Rules of git that stand in no file of the workspace itself. Never throws. */
  readonly gitExcludes: (root: string) => string;
  /** Whether the policy lets a file be read; such as it does not are never offered. */
  readonly readable: (path: string) => Promise<boolean>;
  readonly calls: OperatorCallDeps;
  readonly image: AttachDeps['image'];
  readonly attached: (message: AttachIntent, attached: Attached) => void;
  readonly say: (text: string, bad: boolean) => void;
  /** Short ids of what waits for an answer, and names of themes: words for lists. */
  readonly openAsks: () => readonly string[];
  readonly themes: () => readonly string[];
  readonly now: () => number;
};

/** A message whose mentions are read before it is sent. */
export type AttachIntent = { readonly do: 'attach' } & Written;

export type ComposerEffects = {
  perform(intent: AttachIntent | Extract<ComposerIntent, { do: 'shell' | 'remember' | 'save' | 'find' }>): void;
  /** Reads the history. */
  start(): Promise<void>;
  /** The draft of a session that was opened. */
  restore(sessionId: string): Promise<void>;
  /** Writes what is not written yet. Never rejects. */
  close(): Promise<void>;
};

const noText: SavedDraft['draft'] = { text: '', caret: 0, pastes: [] };
const saveMs = 500;

/** Carries out what the composer wants: drafts, history, words for its lists. */
export function createComposerEffects(deps: ComposerEffectDeps): ComposerEffects {
  const { client: clientOf, dispatch } = deps;
  const ending = new AbortController();
  let unsaved: { readonly session: string; readonly saved: SavedDraft } | null = null;
  let timer: NodeJS.Timeout | undefined;
  const find = createMentionFinder({ ...deps, signal: ending.signal });
  let asked = 0;

  const save = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const wanted = unsaved;
    unsaved = null;
    if (wanted === null) return;
    const { session: session_id, saved } = wanted;
    try {
      const client = await clientOf();
      // A draft that a screen has left there stays as it is.
      const draft = deps.drafts ? saved.draft : ((await client.readDraft({ session_id }))?.draft ?? noText);
      const isEmpty = draft.text === '' && saved.queue.length === 0;
      await client.saveDraft({ session_id, saved: isEmpty ? null : { ...saved, draft } });
    } catch (error) {
      // A lock or a full disk: with the next change, or when the program is left.
      unsaved ??= wanted;
      throw error;
    }
  };

  const findPaths = async (query: string): Promise<void> => {
    asked += 1;
    const own = asked;
    await find(
      query,
      () => own === asked,
      (found) => dispatch({ type: 'paths', query, found }),
    );
  };

  const words: Readonly<Record<string, (client: RuntimeClient) => Promise<readonly string[]>>> = {
    sessions: async (client) => (await client.sessionNames({})).map(({ name }) => name),
    models: async (client) =>
      (await client.listModels({ backend: null, refresh: false })).rows.map(({ model }) => model),
    chains: async (client) => (await client.listChains({})).map(({ name }) => name),
    policies: async (client) => (await client.listPolicies({ policy: null })).policies.map(({ name }) => name),
    plans: async (client) => (await client.listPlans({ status: null })).map(({ name }) => name),
    tools: async (client) => [
      ...new Set((await client.listTools({ policy: null, chain: null })).map(({ tools }) => tools)),
    ],
    servers: async (client) => (await client.listMcpServers({})).map(({ name }) => name),
    asks: async () => ['forget', ...deps.openAsks()],
    topics: async () => slashCommands.map(({ name }) => name),
    themes: async () => deps.themes(),
    runs: async (client) =>
      (await client.listRuns({ status: null, session: null, limit: 50 })).runs.map(({ id }) => id),
  };

  const findWords = async (source: string): Promise<void> => {
    const load = words[source];
    dispatch({ type: 'words', source, words: load === undefined ? [] : await load(await clientOf()) });
  };

  const shell = async (line: string, keep: boolean): Promise<void> => {
    const session = deps.session()?.id ?? null;
    const called = await callAsOperator(deps.calls, {
      tools: 'local_shell',
      tool: 'local_shell',
      args: { command: line },
    });
    if (!called.ok) deps.say(called.why, true);
    // What was refused is no news for the model either, nor is it news of another session.
    else if (keep && (session === null || session === deps.session()?.id))
      dispatch({ type: 'context', text: toldOfLine(line, called.text) });
  };

  return {
    perform(intent) {
      const failed = (error: unknown): void => deps.say(toWire(error).message, true);
      switch (intent.do) {
        case 'remember':
          void deps.history.append(intent.text, deps.session()?.name ?? null).catch(failed);
          return;
        case 'save': {
          const session = deps.session();
          if (session === null) return;
          unsaved = { session: session.id, saved: intent.saved };
          clearTimeout(timer);
          timer = setTimeout(() => void save().catch(failed), saveMs);
          timer.unref();
          return;
        }
        case 'find':
          void (
            intent.wanted.kind === 'paths' ? findPaths(intent.wanted.query) : findWords(intent.wanted.source)
          ).catch(failed);
          return;
        case 'shell':
          void shell(intent.line, intent.keep).catch(failed);
          return;
        case 'attach':
          void deps
            .root()
            .then((root) =>
              attachMentions(intent.text, {
                root,
                call: (wanted) => callAsOperator(deps.calls, wanted),
                image: deps.image,
              }),
            )
            .catch((error: unknown) => ({ ok: false, problems: [toWire(error).message] }) as const)
            .then((attached) => deps.attached(intent, attached));
      }
    },
    async start() {
      dispatch({ type: 'history', entries: await deps.history.read(), most: deps.mostHistory() });
    },
    async restore(sessionId) {
      // What is not written yet of the session before is written; of this one it is newer than what is read.
      if (unsaved !== null && unsaved.session !== sessionId) await save();
      const saved = await (await clientOf()).readDraft({ session_id: sessionId });
      if (saved === null) return;
      dispatch({ type: 'restore', saved: deps.drafts ? saved : { ...saved, draft: noText } });
    },
    async close() {
      ending.abort();
      await save().catch(() => undefined);
      await deps.history.compact();
    },
  };
}
