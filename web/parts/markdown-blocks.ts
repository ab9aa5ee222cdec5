/** The address of a link, or a note at the foot, that another block may name. */
const definition = /^ {0,3}\[[^\]\n]+\]:/m;

/**
 * A text in the blocks that a blank line ends, so that those before the last are final. Fences and what is indented under
 * a list item stay whole; so does a text with definitions, which say nothing by themselves.
 */
export function blocksOf(text: string): readonly string[] {
  if (definition.test(text)) return [text];
  const blocks: string[] = [];
  let open: string[] = [];
  let fence: string | null = null;
  let blank = false;
  for (const line of text.split('\n')) {
    if (blank && fence === null && open.length > 0 && !/^\s/.test(line) && line !== '') {
      blocks.push(open.join('\n'));
      open = [];
    }
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null) fence = mark ?? null;
    else if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = null;
    blank = line.trim() === '';
    open.push(line);
  }
  if (open.some((line) => line.trim() !== '')) blocks.push(open.join('\n'));
  return blocks;
}
