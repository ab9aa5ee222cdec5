import { type Handler, isModelHandler } from '../schema/chain.ts';

/** Members of a task that not every handler reads (04 §4). */
export type PartlyRead =
  | 'system_instruction'
  | 'preface'
  | 'execute_config'
  | 'tools'
  | 'prompt_template'
  | 'output_template'
  | 'valid_conditions';

const readers: Readonly<Record<PartlyRead, (handler: Handler) => boolean>> = {
  system_instruction: isModelHandler,
  preface: (handler) => handler === 'chat_completion',
  execute_config: (handler) => isModelHandler(handler) || handler === 'execute_tool_calls' || handler === 'tools',
  tools: (handler) => handler === 'tools',
  prompt_template: (handler) => isModelHandler(handler) || handler === 'noop' || handler === 'raise_error',
  output_template: (handler) => handler === 'tools',
  valid_conditions: (handler) => handler === 'prompt_to_condition',
};

/** Whether a handler reads a member of its task. What it does not read is warned of and has no effect. */
export const reads = (handler: Handler, member: PartlyRead): boolean => readers[member](handler);

/** The same for a word of a document; one that every handler reads, or none knows, is read. */
export const readsMember = (handler: Handler, member: string): boolean =>
  !isPartlyRead(member) || reads(handler, member);

const isPartlyRead = (member: string): member is PartlyRead => Object.hasOwn(readers, member);
