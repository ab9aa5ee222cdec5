import { summaryInstruction } from '../chain/summary-frame.ts';
import { compactChainId } from '../schema/session.ts';

/** The chain of a run of kind `compact` (07 §2.9): one model call without tools, whose answer must be text. */
export const summaryChain = `${JSON.stringify(
  {
    id: compactChainId,
    description: 'Sums up the older messages of a session.',
    tasks: [
      {
        id: 'summarise',
        handler: 'chat_completion',
        system_instruction: summaryInstruction,
        execute_config: {
          model: '{{var:model}}',
          provider: '{{var:provider|}}',
          temperature: 0.2,
          tools: [],
          shift: true,
          retry_policy: { max_attempts: 4, initial_backoff: '1s', max_backoff: '30s', jitter: 0.25 },
        },
        transition: {
          branches: [
            { operator: 'equals', when: 'executed', goto: 'end' },
            { operator: 'default', goto: 'no_summary' },
          ],
        },
      },
      {
        id: 'no_summary',
        handler: 'raise_error',
        prompt_template: 'the model called a tool where a summary was asked for',
      },
    ],
  },
  null,
  2,
)}\n`;
