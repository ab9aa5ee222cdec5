import { readObject } from '../src/text/json-object.ts';
import type { Effect } from './effect.ts';

/** What `/policy …` asks of the world, or what is wrong with it. Nothing is executed and no ask is made (10 §6.5). */
export function policySlash(args: string): Effect | string {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
  // It would show another policy than the one that was named.
  if (['show', 'list', 'vet'].includes(word) && rest !== '') return `/policy ${word} takes no argument, not ${rest}`;
  switch (word) {
    case '':
    case 'show':
      return { do: 'report', what: 'policy' };
    case 'list':
      return { do: 'report', what: 'policies' };
    case 'vet':
      return { do: 'report', what: 'vet' };
    case 'use':
      return rest === '' || /\s/.test(rest)
        ? '/policy use takes the name of a policy: /policy list names them'
        : { do: 'use-policy', name: rest };
    case 'replay':
      return rest === ''
        ? '/policy replay takes the name or the path of a policy'
        : { do: 'report', what: 'replay', of: rest };
    default:
      return explained(rest);
  }
}

function explained(text: string): Effect | string {
  const usage = '/policy explain takes <tools>/<tool> and arguments as JSON, or ! and a command';
  if (text.startsWith('!')) {
    const command = text.slice(1).trim();
    return command === ''
      ? usage
      : { do: 'explain-call', call: { tools: 'local_shell', tool: 'local_shell', args: { command } } };
  }
  const [, tools, tool, given = ''] = /^([^\s/.]+)[/.](\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (tools === undefined || tool === undefined) return usage;
  const args = given === '' ? {} : readObject(given);
  return args === null ? usage : { do: 'explain-call', call: { tools, tool, args } };
}
