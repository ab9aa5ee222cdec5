import type { RuntimeClient } from '../src/client/operations.ts';
import { toWire } from '../src/schema/errors.ts';
import type { McpServerView } from '../src/schema/mcp-server.ts';
import type { HookView, SourceKind } from '../src/schema/tool-sources.ts';
import { plural } from '../src/view/format.ts';
import type { Action } from './actions.ts';
import type { Effect } from './effect.ts';
import type { HeldDefinition } from './held-definition.ts';
import { definitionOverlay } from './overlays/definition-view.ts';
import { quoteAll } from '../src/text/quote.ts';

export type DefinitionEffects = {
  /** Says in the banner what is put aside. */
  look(): Promise<void>;
  /** Puts a question for each of them. @returns false when there is none */
  review(): Promise<boolean>;
  answer(answer: Extract<Effect, { do: 'definition' }>): Promise<void>;
};

export type DefinitionDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly dispatch: (action: Action) => void;
  readonly say: (text: string, bad: boolean) => void;
  readonly now: () => number;
};

const bannerId = 'definitions';

/** Tools whose definitions changed: where the operator hears of them, and what the answers do (10 §2.1, §7.8). */
export function createDefinitionEffects({ client: clientOf, dispatch, say, now }: DefinitionDeps): DefinitionEffects {
  const kept = new Set<string>();

  const look = async (): Promise<void> => {
    const [first, ...more] = (await heldDefinitions(await clientOf())).filter((held) => !kept.has(keyOf(held)));
    if (first === undefined) return dispatch({ type: 'no-banner', id: bannerId });
    const one = first.tool === null ? `the program of ${first.source}` : `the tool ${first.source}.${first.tool}`;
    const text =
      more.length === 0
        ? `${one} ${first.change === 'new' ? 'is new' : 'has changed'}`
        : `${plural(more.length + 1, 'tool')} have changed`;
    const banner = { rank: 3, id: bannerId, text: `${text} and cannot be called: /trust`, fixed: false };
    dispatch({ type: 'banner', banner });
  };

  const review = async (): Promise<boolean> => {
    const [first, ...waiting] = await heldDefinitions(await clientOf());
    // They may be described as they were again.
    if (first === undefined) dispatch({ type: 'no-banner', id: bannerId });
    else dispatch({ type: 'overlay', overlay: definitionOverlay(first, waiting, now()) });
    return first !== undefined;
  };

  const accept = async (held: HeldDefinition): Promise<void> => {
    const client = await clientOf();
    const { source: name, tool, sha256: definition_sha256 } = held;
    const tools = tool === null ? {} : { tools: [tool] };
    say(`accepting ${tool ?? name}…`, false);
    if (held.kind === 'mcp') await client.acceptMcpServer({ name, definition_sha256, ...tools });
    else await client.acceptHook({ name, definition_sha256: definition_sha256 ?? '', ...tools });
    say(`accepted ${tool === null ? name : `${name}.${tool}`}: it can be called from the next message on`, false);
  };

  return {
    look,
    review,
    async answer({ held, how }) {
      if (how === 'keep') kept.add(keyOf(held));
      else {
        try {
          await accept(held);
        } catch (error) {
          say(toWire(error).message, true);
          // It changed while it was looked at: what it is now is another question.
          if (toWire(error).code === 'conflict') await review();
        }
      }
      await look();
    },
  };
}

const keyOf = ({ kind, source, tool, pin }: HeldDefinition): string => JSON.stringify([kind, source, tool, pin]);

/** As they were listed last: nobody is contacted. */
async function heldDefinitions(client: RuntimeClient): Promise<readonly HeldDefinition[]> {
  const [hooks, servers] = await Promise.all([client.listHooks({}), client.listMcpServers({})]);
  const programs = servers
    .filter(({ state, command_changed }) => state === 'quarantined' && command_changed)
    .map(
      ({ name, command, args }): HeldDefinition => ({
        kind: 'mcp',
        source: name,
        tool: null,
        change: 'program',
        sha256: null,
        pin: '',
        lines: [quoteAll([command ?? '', ...args])],
      }),
    );
  return [
    ...programs,
    ...hooks.flatMap((hook) => heldOf('hook', hook)),
    ...servers.flatMap((server) => heldOf('mcp', server)),
  ];
}

const heldOf = (kind: SourceKind, { name, drift, definition_sha256 }: HookView | McpServerView): HeldDefinition[] =>
  drift.map(({ tool, change, diff, sha256 }) => ({
    kind,
    source: name,
    tool,
    change,
    sha256: definition_sha256,
    pin: sha256,
    // The names of the two files say nothing.
    lines: diff.replace(/\n$/, '').split('\n').slice(2),
  }));
