import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, type Line, say, type Token } from '../../src/view/line.ts';
import { cutLine, wrapLine } from '../../src/view/wrap.ts';
import type { HeldDefinition } from '../held-definition.ts';
import { type Change, only, type State } from '../state.ts';
import { innerColumns, look } from './look.ts';
import { unseen } from './looking.ts';
import type { Overlay } from './overlay.ts';

export type DefinitionOverlay = Extract<Overlay, { kind: 'definition' }>;

const colours: Readonly<Record<string, Token>> = { '+': 'add', '-': 'remove' };

/** What has to be looked at, as rows: the definition that was accepted against the one that is described now. */
export const definitionBody = ({ lines }: HeldDefinition, columns: number, glyphs: Glyphs): readonly Line[] =>
  lines.flatMap((line) => wrapLine(foreign(line, glyphs, colours[line.slice(0, 1)]), columns, [say('│ ', 'border')]));

const sentences = {
  changed: 'described otherwise than you accepted it: its calls are refused until you do again',
  new: 'not there when you accepted the others: its calls are refused until you accept it',
  program: 'its program is another one than when you registered it: it is not started until you accept it',
} as const;

/** What it is about, which stays in view. */
export function definitionHead({ held, said }: DefinitionOverlay, columns: number, glyphs: Glyphs): readonly Line[] {
  const of = held.kind === 'hook' ? 'hook' : 'MCP server';
  return [
    ...wrapLine(
      [...foreign(named(held), glyphs), say(` of the ${of} `, 'dim'), ...foreign(held.source, glyphs)],
      columns,
    ),
    ...wrapLine([say(sentences[held.change], 'warn')], columns),
    ...(said === null ? [] : [cutLine([say(`! ${said}`, 'warn')], columns)]),
  ];
}

const named = ({ source, tool }: HeldDefinition): string => (tool === null ? source : `${source}.${tool}`);

const answers = { 'card.accept': 'accept', 'card.keep-out': 'keep' } as const;

/** A key of the question; nothing unseen is accepted (10 §7.4, §7.8). */
export function definitionCommand(state: State, top: DefinitionOverlay, id: string, now: number): Change {
  const inner = innerColumns(state);
  const rows = {
    head: definitionHead(top, inner, state.glyphs).length,
    body: definitionBody(top.held, inner, state.glyphs).length,
  };
  const how = Object.hasOwn(answers, id) ? answers[id as keyof typeof answers] : null;
  const { looking, counts } = look(state, top, rows, id, how === null ? null : how === 'keep' ? 'no' : 'yes', now);
  const below = state.overlays.slice(0, -1);
  if (how === null || !counts) return only({ ...state, overlays: [...below, { ...top, ...looking }] });
  const [next, ...waiting] = top.waiting;
  const overlays = next === undefined ? below : [...below, definitionOverlay(next, waiting, now)];
  return only({ ...state, overlays, closedAt: now }, { do: 'definition', held: top.held, how });
}

export const definitionOverlay = (
  held: HeldDefinition,
  waiting: readonly HeldDefinition[],
  now: number,
): DefinitionOverlay => ({ kind: 'definition', held, waiting, ...unseen(now) });
