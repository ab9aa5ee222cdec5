import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { cutLine, fitLine, lineColumns, wrapLine } from '../../src/view/wrap.ts';
import { type HelpSection, helpSections } from '../keys/help.ts';
import { shownKey } from '../keys/key.ts';
import type { State } from '../state.ts';
import { contextsBelow } from './below.ts';
import type { Overlay } from './overlay.ts';
import { fieldLines, footKeys, type OverlayView, plainView } from './overlay-view.ts';
import { slashCommands } from '../composer/slash-commands.ts';

type HelpOverlay = Extract<Overlay, { kind: 'help' }>;

const paneNames = { chat: 'Chat', plan: 'Plan', approvals: 'Approvals' } as const;
/** A column of the overview, and the keys in it. */
const cellColumns = 34;
const gapColumns = 2;
const keyColumns = 11;

/** The keys in effect: an overview in columns; with a filter each key in full, or the commands that begin with a slash. */
export function helpView(overlay: HelpOverlay, state: State, columns: number): OverlayView {
  const { query } = overlay;
  const { glyphs } = state;
  const more = footKeys(state.keys, [['overlay.page-down', 'more']]);
  return {
    ...plainView,
    title: `Keys: ${paneNames[state.pane]}`,
    head: [...fieldLines(overlay.field, query, glyphs), ...remapped(state, columns)],
    body: query.startsWith('/')
      ? commandRows(query.slice(1), columns, glyphs)
      : query === ''
        ? overview(helpSections(state.keys, contextsBelow(state)), columns, glyphs)
        : fullRows(helpSections(state.keys, contextsBelow(state), query), query, glyphs),
    at: overlay.at,
    scrolls: more,
    foot: [...more, 'type to search', '/ commands', ...footKeys(state.keys, [['overlay.close', 'close']])],
  };
}

/** What the operator's own file has changed. */
function remapped({ glyphs, keys }: State, columns: number): readonly Line[] {
  const own = keys.commands.filter(({ id }) => keys.remapped.has(id));
  if (own.length === 0) return [];
  const words = own.map(({ id, keys: bound }) => `${id} = ${bound.map(shownKey).join(', ') || 'none'}`);
  return wrapLine(foreign(`From keys.json: ${words.join('; ')}`, glyphs), columns, [], [say('  ')])
    .slice(0, 2)
    .map((line) => cutLine(line, columns));
}

/** The sections in columns, each below the one that is the shortest so far. */
function overview(sections: readonly HelpSection[], columns: number, glyphs: Glyphs): readonly Line[] {
  const count = Math.max(1, Math.floor((columns + gapColumns) / (cellColumns + gapColumns)));
  const width = Math.floor((columns + gapColumns) / count) - gapColumns;
  const stacks: Line[][] = Array.from({ length: count }, () => []);
  for (const section of sections) {
    const shortest = stacks.reduce((a, b) => (b.length < a.length ? b : a));
    shortest.push(...(shortest.length === 0 ? [] : [[]]), [say(section.title, undefined, ['bold'])]);
    for (const line of section.lines) shortest.push(...cell(line.keys, line.help, width, glyphs));
  }
  const rows = Math.max(...stacks.map(({ length }) => length));
  return Array.from({ length: rows }, (_, row) =>
    stacks.flatMap((stack, index): Line => {
      const line = stack[row] ?? [];
      return index === count - 1 ? line : [...fitLine(line, width), say(' '.repeat(gapColumns))];
    }),
  );
}

/** The first key, or as many as have room, and what they do. */
function cell(keys: string, help: string, width: number, glyphs: Glyphs): readonly Line[] {
  const all = keys.split(', ');
  const fits = all.filter((_, index) => all.slice(0, index + 1).join(', ').length <= keyColumns);
  const shown = foreign((fits.length === 0 ? all.slice(0, 1) : fits).join(', '), glyphs, 'accent');
  const before: Line = lineColumns(shown) <= keyColumns ? fitLine(shown, keyColumns) : shown;
  return wrapLine([say(help)], width, [...before, say(' ')], [say(' '.repeat(keyColumns + 1))]);
}

const fullRows = (sections: readonly HelpSection[], query: string, glyphs: Glyphs): readonly Line[] =>
  sections.length === 0
    ? [[say('no key does '), ...foreign(`"${query}"`, glyphs)]]
    : sections.flatMap((section): readonly Line[] => [
        [say(section.title, undefined, ['bold'])],
        ...section.lines.map(
          (line): Line => [
            ...fitLine(foreign(line.keys, glyphs, 'accent'), 31),
            say(' '),
            say(line.help),
            ...(line.remapped ? [say('  (keys.json)', 'dim')] : []),
          ],
        ),
        [],
      ]);

/** The commands of the composer whose name or help has the words. */
function commandRows(query: string, columns: number, glyphs: Glyphs): readonly Line[] {
  const wanted = query.trim().toLowerCase();
  const found = slashCommands.filter((command) =>
    `${command.name} ${command.aliases.join(' ')} ${command.help}`.toLowerCase().includes(wanted),
  );
  if (found.length === 0) return [[say('no command is called '), ...foreign(`"/${query}"`, glyphs)]];
  return found.flatMap(({ name, args, aliases, help }) =>
    wrapLine(
      [
        say(help),
        ...(aliases.length === 0 ? [] : [say(`, also ${aliases.map((alias) => `/${alias}`).join(', ')}`, 'dim')]),
      ],
      columns,
      [...fitLine([say(`/${name} `, 'accent'), say(args, 'dim')], Math.min(38, columns - 24)), say(' ')],
      [say(' '.repeat(Math.min(38, columns - 24) + 1))],
    ),
  );
}
