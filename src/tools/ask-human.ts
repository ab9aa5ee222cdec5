import { array, type Infer, object, optional, pattern, size, string } from 'superstruct';
import { fail } from './failure.ts';
import { summaryLine } from './files/subject.ts';
import { inputSchema } from './input-schema.ts';
import { defineTool, type Tool } from './tool.ts';

/** 03 §1.1. */
const most = { question: 2_000, detail: 20_000, choices: 12, choice: 200 } as const;

/**
 * `engine.ask_human`: a question in words, whose answer is the result (03 §1.1). Only chains that name it have it: `*` in
 * an allowlist leaves it out. The gate asks; the tool hands on what was said.
 */
export function createAskHumanTool(): Tool {
  const said = (longest: number) => pattern(size(string(), 1, longest), /\S/);
  const args = object({
    question: said(most.question),
    detail: optional(said(most.detail)),
    choices: optional(size(array(said(most.choice)), 1, most.choices)),
  });
  return defineTool<Infer<typeof args>, null>({
    spec: {
      tools: 'engine',
      tool: 'ask_human',
      description:
        'Asks the person who runs this one question and waits for the answer, which is the result. Only for what ' +
        'decides how to go on and no other tool can tell.',
      input_schema: inputSchema(args, {
        question: { description: 'The question, to be understood on its own.', maxLength: most.question },
        detail: { type: 'string', description: 'What helps to decide.', maxLength: most.detail },
        choices: {
          type: 'array',
          items: { type: 'string', maxLength: most.choice },
          maxItems: most.choices,
          description: 'Answers to choose from; another one may be given all the same.',
        },
      }),
      read_only: false,
    },
    args,
    prepare: ({ question }, site) => ({ ok: true, facts: null, cwd: site.root, summary: summaryLine(question) }),
    question: ({ question: text, detail, choices }) => ({
      text,
      ...(detail === undefined ? {} : { detail }),
      ...(choices === undefined ? {} : { choices }),
    }),
    execute: async (_args, { answer }) =>
      answer === null ? fail('denied', 'Nobody was asked.') : { ok: true, value: answer },
  });
}
