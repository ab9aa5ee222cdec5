import type { PolicyFinding } from '../schema/policy.ts';
import { quote } from '../text/quote.ts';

const maxFindings = 50;

/** Collects what is wrong with a document, at most 50 findings (02 §3). */
export type Findings = {
  readonly list: readonly PolicyFinding[];
  add(path: string, code: string, message: string): void;
};

export function createFindings(): Findings {
  const list: PolicyFinding[] = [];
  return {
    list,
    add(path, code, message) {
      if (list.length < maxFindings) list.push({ severity: 'load', path, code, message });
    },
  };
}

/**
 * What a load failure prints (02 §3): one line for each finding, and the line that says what holds until it is mended.
 * @param path of the file as a person would name it
 */
export function loadFailureLines(path: string, findings: readonly PolicyFinding[]): readonly string[] {
  const lines = findings.map(
    (finding) => `reins: policy ${path}: ${finding.path}: ${finding.message} [${finding.code}]`,
  );
  const closing = `reins: this policy is not used: every tool call will ask until it is fixed (reins policy vet ${quote(path)})`;
  return [...lines, closing];
}
