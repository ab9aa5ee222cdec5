import { array, nullable, object, string } from 'superstruct';
import { ListedTool } from '../../schema/tool-sources.ts';
import { masked, operation } from '../operation.ts';

/** Tools of all providers (09 §6.10). */
export const tools = {
  /** `policy` by name or path, `chain` by name; null = the policy that would govern here, and every chain. */
  listTools: operation(
    'reads',
    object({ policy: nullable(string()), chain: nullable(string()) }),
    masked(array(ListedTool)),
  ),
} as const;
