/** What decided about a call, in words: a rule by its number from 1, `remembered`, or what else it was. */
export const decidedBy = ({ rule, reason }: { readonly rule: number | null; readonly reason: string }): string =>
  rule === null || reason === 'remembered' ? reason.replaceAll('_', ' ') : `rule ${rule + 1}`;
