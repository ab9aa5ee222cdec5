import type { Action, PolicyFinding, PolicyIdentity } from './policy.ts';

/** Policies as the policy commands show them (02 §14). */

export type PolicyRow = {
  readonly name: string;
  readonly source: PolicyIdentity['source'];
  /** `shadowed`: a stronger layer has a file of that name. */
  readonly state: 'ok' | 'invalid' | 'untrusted' | 'shadowed';
  /** Null for a document that was not read as a policy. */
  readonly rules: number | null;
  readonly default: Action | null;
  readonly sha256: string | null;
  readonly path: string | null;
  /** It would govern a run that is started here. */
  readonly governs: boolean;
};

/** A document as it is stored; nothing of it is evaluated. */
export type PolicyText = Pick<PolicyRow, 'name' | 'source' | 'path' | 'sha256'> & {
  readonly state: 'ok' | 'invalid' | 'untrusted';
  readonly text: string;
};

export type PolicyVetFile = {
  /** Of the file; the name of a preset. */
  readonly path: string;
  readonly worst: 'ok' | 'warn' | 'error';
  readonly findings: readonly (Omit<PolicyFinding, 'severity'> & { readonly severity: 'error' | 'warn' })[];
};
