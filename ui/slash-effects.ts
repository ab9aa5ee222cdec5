import { basename } from 'node:path';
import type { RuntimeClient } from '../src/client/operations.ts';
import { RuntimeError, toWire } from '../src/schema/errors.ts';
import { quote } from '../src/text/quote.ts';
import { plural } from '../src/view/format.ts';
import { commandsStay, mostLookedThrough, newestToUndo, noFiles, stayed, undoText } from '../src/view/undo-text.ts';
import { filePageBytes as most_bytes, sessionFile } from '../src/view/session-file.ts';
import type { Action } from './actions.ts';
import type { KnownSession } from './known-session.ts';
import { loadKeys } from './keys/keys-file.ts';
import type { NotifyWay } from './notify.ts';
import { question, writes } from './overlays/question.ts';
import { noSession, type SlashIntent } from './slash-intent.ts';
import type { State } from './state.ts';
import { actingName } from './stored-name.ts';
import type { ClientLink } from './use-client.ts';

export type SlashDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly link: Pick<ClientLink, 'choose' | 'compact' | 'forkWithSummary' | 'openSession'>;
  readonly state: () => State;
  /** For what is started from now on, in this program. */
  readonly chooseShell: (on: boolean) => void;
  readonly dispatch: (action: Action) => void;
  readonly say: (text: string, bad: boolean) => void;
  /** @throws RuntimeError usage, with what is wrong with it */
  readonly setTheme: (name: string) => void;
  /** Text of `keys.json` as it is now; null = there is none. @throws what keeps it from being read */
  readonly keys: () => string | null;
  readonly setNotify: (way: NotifyWay) => void;
  /** Writes a file whole. @throws RuntimeError in_use where the name is taken and `force` is false */
  readonly writeFile: (path: string, force: boolean, pieces: AsyncIterable<string>) => Promise<void>;
  /** @throws RuntimeError usage where the file cannot be sent as an image */
  readonly checkImage: (path: string) => Promise<void>;
};

/** Carries out what such a command says; what came of it is said. */
export function createSlashEffects(deps: SlashDeps): {
  /** @param failed told why nothing came of it */
  perform(intent: SlashIntent, failed: (message: string) => void): void;
} {
  const { link, say, client: clientOf } = deps;

  const nameOf = async (session: KnownSession): Promise<string> =>
    actingName(await clientOf(), session, { session: () => deps.state().session, dispatch: deps.dispatch });

  const exported = async ({ format, path, force, of }: Extract<SlashIntent, { do: 'export' }>): Promise<void> => {
    const session = of ?? deps.state().session;
    if (session === null) return say(noSession, true);
    const client = await clientOf();
    const file = path ?? `${basename(session.name)}.${format}`;
    const more = (after: number) => client.exportSession({ session: { id: session.id }, after, most_bytes });
    const pieces = sessionFile(format, await more(0), more);
    const again = { do: 'export', format, path: file, force: true, ...(of === undefined ? {} : { of }) } as const;
    await write(file, force ? null : again, pieces);
  };

  /** @param again what writes over a file of that name, once somebody has said so; null = it was said */
  const write = async (file: string, again: SlashIntent | null, pieces: AsyncIterable<string>): Promise<void> => {
    try {
      await deps.writeFile(file, again === null, pieces);
    } catch (error) {
      if (again === null || toWire(error).code !== 'in_use') throw error;
      const effects = [{ do: 'slash', intent: again }] as const;
      const overlay = question('Export', [`${file} exists already.`], { words: 'write over it', effects });
      return deps.dispatch({ type: 'overlay', overlay });
    }
    say(`wrote ${file}`, false);
  };

  const doing: { readonly [K in SlashIntent['do']]: (intent: Extract<SlashIntent, { do: K }>) => Promise<void> } = {
    think: async ({ level }) => {
      link.choose({ think: level });
      say(`thinking: ${level}, from the next turn on`, false);
    },
    shell: async ({ on }) => {
      const { value } = await (await clientOf()).getConfig({ key: 'shell' });
      if (!on && value === 'true') return say('the shell is on by your settings: reins config set shell false', true);
      deps.chooseShell(on);
      const stays = on ? '; the policy rules each command' : '';
      say(`the shell is ${on ? 'on' : 'off'} from the next turn on, in this program${stays}`, false);
    },
    trim: async ({ messages }) => {
      link.choose({ trim: messages });
      say(messages === 0 ? 'all messages are sent' : `the last ${plural(messages, 'message')} are sent`, false);
    },
    chain: async ({ name }) => {
      const client = await clientOf();
      const known = (await client.listChains({})).find((row) => row.name === name || row.id === name);
      // A path that is typed is consent to what lies there; a name is the project's own (11 §4).
      if (known?.trust === 'untrusted')
        throw new RuntimeError(
          'not_trusted',
          `chain ${known.name} is not trusted: reins trust add ${quote(known.path ?? '')}`,
        );
      const { id, sha256 } = await client.showChain({ name: known?.name ?? name });
      link.choose(known === undefined ? { chain_path: name } : { chain_path: null, chain_name: known.name });
      const where = known?.path ?? known?.source ?? name;
      say(`chain ${id} from the next turn on · sha256 ${sha256.slice(0, 8)} · ${where}`, false);
    },
    theme: async ({ name, save }) => {
      deps.setTheme(name);
      if (!save) return say(`theme ${name}; --save keeps it`, false);
      const effects = [{ do: 'slash', intent: { do: 'keep-theme', name } }] as const;
      const lines = [writes(deps.state().facts, 'tui-theme', name)];
      deps.dispatch({
        type: 'overlay',
        overlay: question('Theme', lines, { words: 'keep it for every start', effects }),
      });
    },
    'keep-theme': async ({ name }) => {
      await (await clientOf()).setConfig({ key: 'tui-theme', value: name });
      say(`tui-theme = ${name}, for every start`, false);
    },
    notify: async ({ way }) => {
      deps.setNotify(way);
      say(`notifications: ${way}, in this program`, false);
    },
    image: async ({ path }) => {
      // What cannot be sent is said now, and not when the message is lost with it.
      await deps.checkImage(path);
      deps.dispatch({ type: 'compose', action: { type: 'image', path }, now: deps.state().now });
    },
    'reload-keys': async () => {
      const { map, notices } = loadKeys(deps.keys);
      deps.dispatch({ type: 'keys', map });
      for (const notice of notices) deps.dispatch({ type: 'notice', level: 'warn', text: `keys.json: ${notice}` });
      say(
        `keys.json was read: ${plural(map.remapped.size, 'command')} of yours, ${notices.length} refused`,
        notices.length > 0,
      );
    },
    compact: async ({ keep }) => {
      const { session } = deps.state();
      if (session === null) return say(noSession, true);
      const { messages, ended } = await link.compact(await nameOf(session), keep);
      if (ended !== 'completed') return say(`nothing was compacted: the summary is ${ended}`, true);
      // Who has opened another one meanwhile stays there.
      if (deps.state().session?.id === session.id) await link.openSession(await nameOf(session));
      say(`compacted ${plural(messages, 'message')} into a summary; all of them stay stored`, false);
    },
    'fork-summary': async ({ to, at, keep }) => {
      const { session } = deps.state();
      if (session === null) return say(noSession, true);
      const from = await nameOf(session);
      const { name, summarised, ended } = await link.forkWithSummary(from, { to, at, keep });
      if (name === null) return say(`nothing was forked: the summary is ${ended}`, true);
      await link.openSession(name);
      say(`forked ${from}: a summary stands for ${plural(summarised, 'message')}`, false);
    },
    undo: async ({ run_id }) => {
      const { session } = deps.state();
      const client = await clientOf();
      const named = run_id ?? (session === null ? null : await newestOf(client, await nameOf(session)));
      if (named === null) return say('this session has no turn yet', true);
      const changes = await client.showChanges({ run_id: named });
      const undone = changes.files.filter(({ state }) => state === 'changed');
      const lines = changes.files.map((file) => `${file.path} ${undoText(file)}`);
      if (lines.length === 0) return say(noFiles(changes), changes.forgotten);
      if (undone.length === 0) return say(`there is nothing to undo: ${lines.join(' · ')}`, false);
      const hint = commandsStay(changes);
      const effects = [{ do: 'slash', intent: { do: 'undo-shown', run_id: changes.run_id } }] as const;
      const asked = question('Undo', [...lines, ...(hint === null ? [] : [hint])], {
        words: 'undo these changes',
        effects,
      });
      deps.dispatch({ type: 'overlay', overlay: asked });
    },
    'undo-shown': async ({ run_id }) => {
      const after = await (await clientOf()).undoChanges({ run_id });
      const stays = stayed(after);
      const done = after.files.length - stays.length;
      say([`undone: ${plural(done, 'file')}`, ...stays].join(' · '), stays.length > 0);
    },
    export: exported,
    'export-run': async ({ run_id, force }) => {
      const client = await clientOf();
      const [short = run_id] = await client.shortIds({ ids: [run_id] });
      const run = await client.showRun({ run_id, full: true });
      const file = `${short}.json`;
      const again = { do: 'export-run', run_id, force: true } as const;
      await write(file, force ? null : again, whole(`${JSON.stringify(run, null, 2)}\n`));
    },
  };
  return {
    perform(intent, failed) {
      // The table has a function for exactly this kind of intent.
      (doing[intent.do] as (intent: SlashIntent) => Promise<void>)(intent).catch((error: unknown) =>
        // The command is not the flag that takes the same.
        failed(toWire(error).message.replace(/^--image: /, '/image: ')),
      );
    },
  };
}

async function newestOf(client: RuntimeClient, session: string): Promise<string | null> {
  const { runs } = await client.listRuns({ status: null, session, limit: mostLookedThrough });
  return newestToUndo(runs)?.id ?? null;
}

async function* whole(text: string): AsyncIterable<string> {
  yield text;
}
