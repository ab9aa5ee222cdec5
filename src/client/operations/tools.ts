import { array, nullable, object, optional, pick, string } from 'superstruct';
import { StartRun } from '../../schema/run.ts';
import { ListedTool } from '../../schema/tool-sources.ts';
import { masked, operation } from '../operation.ts';

/** Tools of all providers (09 §6.10). */
export const tools = {
  /**
   * `policy` by name or path, `chain` by name; null = the policy that would govern here, and every chain. With `turn`: what
   * a turn of a session that is asked for like this would offer its model.
   */
  listTools: operation(
    'reads',
    object({
      policy: nullable(string()),
      chain: nullable(string()),
      turn: optional(pick(StartRun, ['chain_path', 'chain_name', 'trust', 'shell'])),
    }),
    masked(array(ListedTool)),
  ),
} as const;
