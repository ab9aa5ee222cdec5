import type { Chain, Finding } from '../schema/chain.ts';
import { createFindings, type Findings } from './findings.ts';
import { plainValue, readJson } from './json.ts';
import { normalise } from './normalise.ts';
import { vet } from './vet.ts';

export type ReadChain = {
  /** The normalised document; null when there is any error. */
  readonly chain: Chain | null;
  /** Its JSON text, what a worker is given and `JSON.parse` reads; empty when `chain` is null. */
  readonly text: string;
  /** Sorted by position. */
  readonly findings: readonly Finding[];
};

/** What is registered here, for the warning `unknown_provider`; without it no provider is called unknown. */
export type KnownNames = { readonly providers?: readonly string[] };

const maxBytes = 1024 * 1024;

/**
 * Reads, normalises and checks a chain document (04 §2, §16). Never throws for what a file can hold. The template
 * library is loaded only for a template that is more than text, macros and plain variables.
 */
export async function readChain(source: Uint8Array | string, known: KnownNames = {}): Promise<ReadChain> {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
  if (bytes.length > maxBytes) {
    return failure('too_large', 1, 1, `a chain document has at most ${maxBytes} bytes, not ${bytes.length}`);
  }
  const text = decode(bytes);
  if (text === null) {
    const { line, column } = firstBadByte(bytes);
    return failure('not_utf8', line, column, 'the document is not UTF-8 text');
  }
  const findings = createFindings(text);
  const { root, problems } = readJson(text);
  const foreign = root === null ? foreignStart(text) : null;
  if (foreign !== null) findings.error('not_json', { offset: foreign.offset, pointer: '' }, foreign.message);
  else for (const { code, offset, pointer, message } of problems) findings.error(code, { offset, pointer }, message);
  if (root === null) return rejected(findings);
  const canonical = normalise(root, findings);
  await vet(canonical, known.providers ?? null, findings);
  if (findings.failed()) return rejected(findings);
  // Vetted without an error, so every member of the document has the type that Chain gives it.
  const chain = plainValue(canonical) as Chain;
  return { chain, text: JSON.stringify(chain), findings: findings.sorted() };
}

/**
 * What is no JSON from its first character on: a program, YAML, prose. A comment may well stand before a chain. Of what the
 * file holds nothing is told: it may be a file of keys.
 */
function foreignStart(text: string): { readonly offset: number; readonly message: string } | null {
  const offset = text.search(/\S/);
  if (offset < 0) return { offset: 0, message: 'the file is empty; a chain is one JSON object with id and tasks' };
  if (/^(?:[{["/]|#(?!!)|-?\d|(?:true|false|null)\b)/.test(text.slice(offset, offset + 8))) return null;
  return { offset, message: 'this is no JSON; a chain is one JSON object with id and tasks' };
}

const rejected = (findings: Findings): ReadChain => ({ chain: null, text: '', findings: findings.sorted() });

const failure = (code: string, line: number, column: number, message: string): ReadChain => ({
  chain: null,
  text: '',
  findings: [{ severity: 'error', code, path: '', line, column, message }],
});

/** The text without a byte order mark; null when the bytes are no UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Where the bytes stop being UTF-8: the first byte that cannot follow what was read. */
function firstBadByte(bytes: Uint8Array): { readonly line: number; readonly column: number } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let column = 1;
  for (let index = 0; index < bytes.length; index += 1) {
    try {
      const read = decoder.decode(bytes.subarray(index, index + 1), { stream: true });
      if (read === '\n') {
        line += 1;
        column = 1;
      } else if (read !== '') column += 1;
    } catch {
      break;
    }
  }
  return { line, column };
}
