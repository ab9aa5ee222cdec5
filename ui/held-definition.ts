import type { SourceKind } from '../src/schema/tool-sources.ts';

/** A tool that is put aside until the operator has looked at it (05 §2.6). */
export type HeldDefinition = {
  readonly kind: SourceKind;
  /** The hook or the server. */
  readonly source: string;
  /** Null: the program of the server itself (05 §10.3.4). */
  readonly tool: string | null;
  readonly change: 'new' | 'changed' | 'program';
  /** The listing that is shown, by which exactly that is accepted. */
  readonly sha256: string | null;
  /** This one definition, whatever becomes of the others. */
  readonly pin: string;
  /** The difference, line by line: foreign text. */
  readonly lines: readonly string[];
};
