/** An item longer than this is cut in its middle, as a card is: what was said last is what is gone on from. */
const mostLines = 200;
const firstLines = 100;
const lastLines = 20;

/** The lines of one item where nobody has asked for all of them. @param where says how the others are read */
export function boundedLines(lines: readonly string[], where: string): readonly string[] {
  if (lines.length <= mostLines) return lines;
  const hidden = lines.length - firstLines - lastLines;
  return [...lines.slice(0, firstLines), `note: ${hidden} more lines: ${where}`, ...lines.slice(-lastLines)];
}
