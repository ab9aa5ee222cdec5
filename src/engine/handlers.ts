import { promptText } from '../chain/values.ts';
import type { Handler } from '../schema/chain.ts';
import type { Prepared } from './expand.ts';
import { failed, failure, type Handled } from './failure.ts';
import { callTools } from './handlers/call-tools.ts';
import { chat } from './handlers/chat.ts';
import { prompt } from './handlers/prompt.ts';
import { route } from './handlers/route.ts';
import { callOneTool } from './handlers/tools-task.ts';

/**
 * What executes each kind of task (04 §7). A handler returns its failures; it throws a RuntimeError for an input that
 * it cannot take, which is a failure of the attempt too.
 */
export const handlers: Readonly<Record<Handler, (step: Prepared) => Promise<Handled>>> = {
  chat_completion: chat,
  execute_tool_calls: callTools,
  tools: callOneTool,
  route,
  prompt_to_string: prompt,
  prompt_to_int: prompt,
  prompt_to_float: prompt,
  prompt_to_range: prompt,
  prompt_to_condition: prompt,
  noop: async (step) => ({ kind: 'done', output: step.input, evalText: 'noop' }),
  raise_error: async (step) => {
    const { entered, root } = step.run.state;
    const message = promptText(step.input.value, step.input.type);
    // Where a failure led here, the message is followed by what went wrong first (04 §7.6), once: its own
    // template may have said it.
    const first = entered === null ? '' : (root ?? entered).message;
    return failed(failure('raised', message.includes(first) ? message : `${message}: ${first}`));
  },
};
