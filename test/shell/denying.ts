import { judge, load, plainHost } from '../policy/virtual-host.ts';

const denying = await load({
  default_action: 'allow',
  rules: [{ action: 'deny', when: [{ op: 'command_blacklist', value: 'evil' }] }],
});

/** What becomes of a line where everything is allowed but the program `evil`. */
export const verdict = (command: string): string =>
  judge(denying, { tools: 'local_shell', tool: 'local_shell', args: { command } }, plainHost).action;
