import type { InstructionsView } from '../schema/instructions.ts';
import { formatBytes } from './format.ts';

/** What a file with instructions for agents is called, and what becomes of it; foreign words may be in the reason. */
export function instructionsLine({ source, bytes, cut, withheld }: InstructionsView): string {
  const name = source === 'project' ? 'AGENTS.md' : 'AGENTS.md of your own';
  if (withheld !== null) return `${name} is not given to the model: ${withheld}`;
  return `${name} (${formatBytes(bytes)}${cut ? ', the first 32 KiB' : ''})`;
}
