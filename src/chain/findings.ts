import type { Finding } from '../schema/chain.ts';
import { type JsonMember, type JsonNode, type JsonString, placeInString, pointerOf, type StringPlace } from './json.ts';

/** Where a finding is: an index in the text, and the pointer of what it is about. */
export type Place = { readonly offset: number; readonly pointer: string };

export const placeOf = (node: JsonNode): Place => ({ offset: node.offset, pointer: pointerOf(node) });

export const placeOfMember = (member: JsonMember): Place => ({
  offset: member.nameOffset,
  pointer: pointerOf(member.value),
});

/** Collects findings while a document is read; places become lines and columns at the end. */
export type Findings = {
  error(code: string, place: Place, message: string): void;
  warning(code: string, place: Place, message: string): void;
  info(code: string, place: Place, message: string): void;
  /** The place of an index in a string's value. */
  inside(node: JsonString, index: number): Place;
  failed(): boolean;
  /** By position; findings of one place in the order in which they were found. */
  sorted(): Finding[];
};

export function createFindings(text: string): Findings {
  const found: (Place & Pick<Finding, 'severity' | 'code' | 'message'>)[] = [];
  const add =
    (severity: Finding['severity']) =>
    (code: string, { offset, pointer }: Place, message: string): void => {
      found.push({ severity, code, offset, pointer, message });
    };
  // Findings of a string come mostly in order, so each is counted on from the one before.
  let last: { readonly node: JsonString; readonly place: StringPlace } | null = null;
  return {
    error: add('error'),
    warning: add('warning'),
    info: add('info'),
    inside(node, index) {
      const from = last !== null && last.node === node && last.place.index <= index ? last.place : null;
      last = { node, place: placeInString(text, node, index, from) };
      return { offset: last.place.offset, pointer: pointerOf(node) };
    },
    failed: () => found.some((finding) => finding.severity === 'error'),
    sorted() {
      const lineColumn = positions(text);
      return found
        .toSorted((a, b) => a.offset - b.offset)
        .map(({ severity, code, offset, pointer, message }) => ({
          severity,
          code,
          path: pointer,
          ...lineColumn(offset),
          message,
        }));
    },
  };
}

/** Line and column of ascending offsets, in one pass over the text. Columns count characters, not code units. */
function positions(text: string): (offset: number) => { readonly line: number; readonly column: number } {
  let line = 1;
  let column = 1;
  let at = 0;
  return (offset) => {
    for (; at < offset && at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x0a) {
        line += 1;
        column = 1;
      } else if (code < 0xdc00 || code > 0xdfff) column += 1;
    }
    return { line, column };
  };
}
