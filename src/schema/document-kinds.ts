/** A document that a person writes for a command to read. */
export type DocumentKind = 'chain' | 'policy' | 'script';

type Kind = {
  readonly called: string;
  /** Members that no other kind has; all of one group make a document of this kind. */
  readonly signs: readonly (readonly string[])[];
  /** The command that takes it. */
  readonly next: (file: string) => string;
};

const kinds: Readonly<Record<DocumentKind, Kind>> = {
  script: {
    called: 'a script of the scripted provider',
    signs: [['script', 'turns']],
    next: (file) => `reins backend add <name> --type scripted --url ${file}`,
  },
  policy: {
    called: 'a policy',
    signs: [['rules'], ['default_action']],
    next: (file) => `reins policy vet ${file}`,
  },
  chain: { called: 'a chain', signs: [['id', 'tasks']], next: (file) => `reins chain vet ${file}` },
};

/**
 * What a document is that was given where one of another kind is wanted; null when nothing says so. One sentence says
 * more than a complaint about each of its members.
 * @param members names of the members of the document
 */
export function otherDocument(
  wanted: DocumentKind,
  members: Iterable<string>,
): { readonly message: string; readonly next: Kind['next'] } | null {
  const names = new Set(members);
  const shows = ({ signs }: Kind): boolean => signs.some((group) => group.every((name) => names.has(name)));
  if (shows(kinds[wanted])) return null;
  const other = Object.values(kinds).find(shows);
  if (other === undefined) return null;
  return { message: `this is ${other.called}, not ${kinds[wanted].called}`, next: other.next };
}
