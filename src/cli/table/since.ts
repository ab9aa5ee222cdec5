import type { Flag } from '../command.ts';

/** The flag of commands that look back over what was recorded. */
export const since: Flag = {
  name: 'since',
  kind: 'since',
  value: 't',
  help: 'From this time on (30d, 2w, an ISO date).',
};
