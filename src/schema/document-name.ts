/** Names of policies, chains and themes that are files of their own (06 §5.4). */
export const documentName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const isDocumentName = (name: string): boolean => documentName.test(name);

/** The policy that a file is by its name: null for `hitl-policy.json`; undefined for a file that is no policy. */
export function policyNameOf(file: string): string | null | undefined {
  if (file === 'hitl-policy.json') return null;
  const name = /^hitl-policy-(.+)\.json$/.exec(file)?.[1];
  return name !== undefined && isDocumentName(name) ? name : undefined;
}
