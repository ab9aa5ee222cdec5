import { it } from 'vitest';
import { readFileSync } from 'node:fs';
import { judge, load, plainHost } from './policy/virtual-host.ts';
it('prints', async () => {
  const lines = readFileSync('/tmp/h-scratch/lines.txt', 'utf8').split('\n').filter((l) => l && !l.startsWith('//'));
  const out: string[] = [];
  for (const line of lines) {
    const [entries = '', command = ''] = line.split(' @@ ');
    const text = command.replaceAll('⏎', '\n');
    const grant = await load({ default_action: 'approve', rules: [{ tools: 'local_shell', action: entries.startsWith('!') ? 'deny' : 'allow', when: [{ op: entries.startsWith('!') ? 'command_blacklist' : 'command_prefix_allowlist', value: entries.replace('!', '') }] }], ...(entries.startsWith('!') ? { default_action: 'allow' } : {}) });
    const programs = [...new Set([...plainHost.programs, ...(text.match(/[A-Za-z0-9_.-]+/g) ?? [])])];
    const r = judge(grant, { tools: 'local_shell', tool: 'local_shell', args: { command: text } }, { ...plainHost, programs });
    out.push(`${r.action.padEnd(8)} ${entries} @@ ${command}   [${r.detail ?? ''}]`);
  }
  console.log(out.join('\n'));
});
