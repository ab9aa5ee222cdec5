import type { Finding } from '../schema/chain.ts';
import type { ChainVetFile } from '../schema/overlay.ts';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import type { DocumentFile } from './files.ts';

type Unreadable = DocumentFile & { readonly ok: false };

export const unreadable = (file: Unreadable): RuntimeError =>
  new RuntimeError(
    file.fault === 'missing' ? 'chain_not_found' : 'chain_invalid',
    `The chain ${file.path} cannot be used: ${file.message}.`,
    {
      data: { path: file.path, findings: [unreadableFinding(file)] },
      hints: [`ls -ld ${quote(file.path)}`, 'reins chain list'],
    },
  );

export const unreadableFinding = (file: Unreadable): Finding => ({
  severity: 'error',
  code: file.fault,
  path: '',
  line: 1,
  column: 1,
  message: file.message,
});

/** One defect is the message itself, with its place; several stand one per line before the summary (06 §2.3). */
export function invalidChain(path: string, findings: readonly Finding[]): RuntimeError {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const [only] = errors;
  const what =
    only !== undefined && errors.length === 1
      ? `The chain is not valid: ${only.message} at ${placeOf(path, only)}`
      : `The chain ${path} is not valid: ${errors.length} defects.`;
  return new RuntimeError('chain_invalid', what, {
    data: { path, findings: errors },
    hints: [`reins chain vet ${quote(path)}`],
  });
}

/** `<file>:<json path>`, or line and column where the text is no JSON. */
const placeOf = (path: string, finding: Finding): string =>
  `${path}:${finding.path === '' ? `${finding.line}:${finding.column}` : finding.path}`;

/** One caution is said as it is, several are counted. @param more warnings about the file itself */
export function cautionsOf(path: string, findings: readonly Finding[], more: readonly string[] = []) {
  const cautions = findings.filter(({ severity }) => severity === 'warning');
  const [only] = cautions;
  if (only === undefined) return { caution: null, warnings: more };
  const count = cautions.length;
  const what = count === 1 ? `${only.message} at ${placeOf(path, only)}` : `The chain has ${count} warnings`;
  return {
    caution: count === 1 ? `a warning at ${only.path}` : `${count} warnings`,
    warnings: [...more, `${what} (reins chain vet ${quote(path)})`],
  };
}

/** The worst of what was found in a chain. */
export function worstOf(findings: readonly Finding[]): ChainVetFile['worst'] {
  const order = ['error', 'warning', 'info'] as const;
  return order.find((severity) => findings.some((finding) => finding.severity === severity)) ?? 'ok';
}
