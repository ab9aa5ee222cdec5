import type { Policy, PolicyFinding } from '../schema/policy.ts';
import { readStrictJson } from '../text/strict-json.ts';
import { readDocument } from './document.ts';
import { createFindings } from './findings.ts';
import { attachRegexes } from './regexes.ts';

const maxPolicyBytes = 1_048_576;
const maxDepth = 32;
const byteOrderMark = '\ufeff';

export type ParsedPolicy =
  | { readonly policy: Policy; readonly findings: readonly PolicyFinding[] }
  | { readonly policy: null; readonly findings: readonly PolicyFinding[] };

/**
 * The one validator (02 §3), for loading, vet, editor and import: every finding of severity `load` that the text of a
 * document gives, at most 50; one of them rejects it as a whole (`policy` is null). Findings about the file itself are
 * the reader's, vet findings are those of `vetPolicy`. Waits only to load the regex engine. Never throws.
 */
export async function parsePolicy(document: Uint8Array | string): Promise<ParsedPolicy> {
  const findings = createFindings();
  const text = decode(document);
  if (typeof text !== 'string') {
    findings.add('$', text.code, text.message);
    return { policy: null, findings: findings.list };
  }
  const json = readStrictJson(text, maxDepth);
  if (!json.ok) {
    findings.add('$', json.problem, `${json.message} (line ${json.line}, column ${json.column})`);
    return { policy: null, findings: findings.list };
  }
  if (json.duplicates.length > 0) {
    findings.add(
      '$',
      'duplicate_member',
      `members stand twice in one object: ${json.duplicates.slice(0, 5).join(', ')}`,
    );
    return { policy: null, findings: findings.list };
  }
  const policy = await attachRegexes(readDocument(json.value, findings), findings);
  return findings.list.length === 0 ? { policy, findings: [] } : { policy: null, findings: findings.list };
}

type Undecoded = { readonly code: 'too_large' | 'bad_encoding'; readonly message: string };

function decode(document: Uint8Array | string): string | Undecoded {
  const bytes = typeof document === 'string' ? new TextEncoder().encode(document) : document;
  if (bytes.length > maxPolicyBytes) {
    return { code: 'too_large', message: `the document has ${bytes.length} bytes, at most ${maxPolicyBytes} are read` };
  }
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { code: 'bad_encoding', message: 'the document is UTF-16, it must be UTF-8' };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(byteOrderMark) ? text.slice(1) : text;
  } catch {
    return { code: 'bad_encoding', message: 'the document is not UTF-8' };
  }
}
