/** The address of a link that another block may name, whole in its line. */
const link =
  /^ {0,3}\[((?:[^[\]\\^]|\\.)(?:[^[\]\\]|\\.)*)\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$/;
/** A note at the foot: what follows it belongs to it until its block ends. */
const note = /^ {0,3}\[(\^[^\]\s]+)\]:/;
/** What may stand before an address without a blank line. */
const heading = /^ {0,3}#{1,6}(?:\s|$)/;
const label = /\[([^[\]]+)\]/g;

/**
 * A text in the blocks that a blank line ends, so that those before the last are final. Fences and what is indented under
 * a list item stay whole. An address or a note that stands elsewhere goes ahead of every block that names it, where it
 * means the same: such a block changes when its definition does, and no other.
 */
export function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  const definitions = new Map<string, string>();
  let open: string[] = [];
  let fence: string | null = null;
  let blank = false;
  let defining: { readonly name: string; readonly lines: string[] } | null = null;
  // The first one of a name counts.
  const define = (name: string, lines: readonly string[]) => {
    if (!definitions.has(name)) definitions.set(name, lines.join('\n'));
  };
  const endNote = () => {
    if (defining !== null) define(defining.name, defining.lines);
    defining = null;
  };
  let mayDefine = true;
  for (const line of text.split('\n')) {
    if (blank && fence === null && open.length > 0 && !/^\s/.test(line) && line !== '') {
      endNote();
      blocks.push(open.join('\n'));
      open = [];
    }
    const found: Definition | null =
      fence === null && /^ {0,3}\[/.test(line) ? definitionIn(line, mayDefine || blank) : null;
    if (found !== null) endNote();
    if (found?.kind === 'note') defining = { name: found.name, lines: [line] };
    else if (found !== null) define(found.name, [line]);
    else defining?.lines.push(line);
    mayDefine = found?.kind === 'link' || heading.test(line);
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null) fence = mark ?? null;
    else if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = null;
    blank = line.trim() === '';
    open.push(line);
  }
  endNote();
  if (open.some((line) => line.trim() !== '')) blocks.push(open.join('\n'));
  return definitions.size === 0 ? blocks : blocks.map((block) => withDefinitions(block, definitions));
}

type Definition = { readonly kind: 'link' | 'note'; readonly name: string };

function definitionIn(line: string, mayBeLink: boolean): Definition | null {
  const noted = note.exec(line)?.[1];
  if (noted !== undefined) return { kind: 'note', name: nameOf(noted) };
  const linked = mayBeLink ? link.exec(line)?.[1] : undefined;
  return linked === undefined ? null : { kind: 'link', name: nameOf(linked) };
}

/** Names are the same in whatever case and spacing. */
const nameOf = (written: string): string => written.trim().replace(/\s+/g, ' ').toLowerCase();

function withDefinitions(block: string, definitions: ReadonlyMap<string, string>): string {
  const wanted = new Map<string, string>();
  const look = (text: string) => {
    if (!text.includes('[')) return;
    for (const [, written = ''] of text.matchAll(label)) {
      const name = nameOf(written);
      const found = definitions.get(name);
      if (found === undefined || wanted.has(name)) continue;
      wanted.set(name, found);
      // A note may name others.
      look(found);
    }
  };
  look(block);
  return wanted.size === 0 ? block : `${[...wanted.values()].join('\n\n')}\n\n${block}`;
}
