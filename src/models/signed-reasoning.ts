import { textOr } from './shape.ts';

/** An entry of `reasoning_details`, or a piece of one. */
type Detail = Readonly<Record<string, unknown>>;

/**
 * Collects what a router signed: the service behind it wants it back with the calls that it belongs to. A sealed piece is
 * whole; a text arrives in pieces, of which the last one holds the signature.
 */
export function createSigned() {
  const details: Detail[] = [];
  return {
    read(detail: Detail): void {
      const last = details.at(-1);
      const { type, text, signature } = detail;
      if (type === 'reasoning.encrypted') details.push(detail);
      if (type !== 'reasoning.text') return;
      if (last?.['type'] !== type || last['index'] !== detail['index'] || textOr(last['signature'], '') !== '') {
        details.push(detail);
        return;
      }
      const joined = { ...last, ...detail, text: textOr(last['text'], '') + textOr(text, '') };
      details[details.length - 1] =
        typeof signature === 'string' ? joined : { ...joined, signature: last['signature'] };
    },
    all: (): readonly Detail[] =>
      details.filter((one) => one['type'] === 'reasoning.encrypted' || textOr(one['signature'], '') !== ''),
  };
}
