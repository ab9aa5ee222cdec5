import type { SetupIssue } from '../schema/registry.ts';

type Draft = Omit<SetupIssue, 'fixPath' | 'cliCommand' | 'subject'> & {
  readonly fixPath?: string;
  readonly cliCommand?: string | null;
  readonly subject?: string;
};

/** One finding of `doctor`; what is left out is null. */
export const issue = (draft: Draft): SetupIssue => ({
  ...draft,
  fixPath: draft.fixPath ?? null,
  cliCommand: draft.cliCommand ?? null,
  subject: draft.subject ?? null,
});
