import { keepEnds } from '../../src/text/keep-ends.ts';
import { exitOf, readableResult } from '../../src/view/call-lines.ts';

/** Most bytes of what a shell line printed that the model is told. */
const mostKept = 16_384;

/** What the model is told of a line that the operator ran: what it printed, and how it ended where that is not well. */
export function toldOfLine(line: string, result: string): string {
  const read = readableResult(result);
  const exit = exitOf({ result });
  // A result without any text in it stands for itself.
  const printed = read === result && exit !== null ? '(it printed nothing)' : read.trimEnd();
  const ended = exit === null || exit === 'exit 0' ? [] : [`(${exit})`];
  return ['I ran this myself:', `$ ${line}`, cut(printed), ...ended].join('\n');
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostKept) return text;
  const { first, left, last } = keepEnds(bytes, mostKept);
  return `${first}[… ${left} bytes left out …]\n${last}`;
}
