/** One step of the schema. An old one is never edited. */
export type Migration = {
  readonly version: number;
  readonly statements: readonly string[];
  /** `digestOf` the definitions of a database of this version; a test compares it with a fresh one. */
  readonly digest: string;
};
