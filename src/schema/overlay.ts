/** Documents of the overlay as every surface reads them. */
import type { Finding } from './chain.ts';

/** One chain of the overlay (06 §26). */
export type ChainRow = {
  readonly name: string;
  readonly id: string | null;
  readonly source: 'project' | 'user' | 'builtin';
  readonly path: string | null;
  readonly trust: 'trusted' | 'untrusted' | 'builtin' | 'user';
  readonly sha256: string;
};

export type ChainVetFile = {
  readonly path: string;
  readonly worst: 'ok' | 'info' | 'warning' | 'error';
  readonly findings: readonly Finding[];
};

/** A project document that waits for trust, with what a person has to see of it (06 §6.5). */
export type UntrustedContent = {
  readonly kind: 'chain' | 'policy' | 'agent' | 'database';
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly text: string;
};
