import type { KeyContext } from './commands.ts';
import { shownKey } from './key.ts';
import { commandsIn, type KeyMap } from './key-map.ts';

export type HelpLine = {
  readonly keys: string;
  readonly help: string;
  readonly remapped: boolean;
  readonly id: string;
};
export type HelpSection = { readonly title: string; readonly lines: readonly HelpLine[] };

const titles: Readonly<Partial<Record<KeyContext, string>>> = {
  global: 'Everywhere',
  composer: 'Composer',
  completion: 'A list under the composer',
  field: 'A field',
  card: 'A card',
  'card.permission': 'Card of a call',
  'card.question': 'Card of a question',
  'card.unknown': 'Card of an unknown outcome',
  'card.trust': 'Card of untrusted content',
  'card.definition': 'Card of a changed tool',
  'card.full': 'Card viewed whole',
  reading: 'Reading',
  plan: 'Plan',
  approvals: 'Approvals',
  'overlay.any': 'Any list or text that is open',
  'overlay.sessions': 'Sessions',
  'overlay.models': 'Models',
  'overlay.runs': 'Runs',
  'overlay.run': 'A run',
  'overlay.view': 'A text',
  'overlay.why': 'Why it asks',
  'overlay.grants': 'What is allowed for the session',
  'overlay.rule': 'A new rule',
  'overlay.question': 'A question',
};

/** The help in the order in which it is most likely wanted: what is at hand first, then the rest (10 §9). */
export function helpSections(map: KeyMap, at: readonly KeyContext[], filter = ''): readonly HelpSection[] {
  const every = [...new Set(map.commands.map(({ context }) => context))];
  const order = [...at, ...every.filter((context) => !at.includes(context))];
  const wanted = filter.toLowerCase();
  return order.flatMap((context) => {
    const title = titles[context] ?? `Overlay: ${context.slice('overlay.'.length)}`;
    const whole = title.toLowerCase().includes(wanted);
    const lines = commandsIn(map, context)
      .map((command) => ({
        id: command.id,
        keys: command.keys.map(shownKey).join(', '),
        help: command.help,
        remapped: map.remapped.has(command.id),
      }))
      .filter(({ keys, help }) => whole || `${keys} ${help}`.toLowerCase().includes(wanted));
    return lines.length === 0 ? [] : [{ title, lines }];
  });
}
