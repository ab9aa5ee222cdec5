import { object, string } from 'superstruct';
import { summaryLine } from './files/subject.ts';
import { bytes, inputSchema, json } from './input-schema.ts';
import { defineTool, type Tool } from './tool.ts';

const maxMessageBytes = 64 * 1024;

/** `echo.echo` and `print.print` (05 §6). Both pass the gate like any other tool. */
export function createSayTools(): readonly Tool[] {
  return [echo(), print()];
}

function echo(): Tool {
  const args = object({ input: json() });
  return defineTool<{ input: unknown }, null>({
    spec: {
      tools: 'echo',
      tool: 'echo',
      description: 'Returns its input.',
      input_schema: inputSchema(args, { input: { description: 'Any JSON value.' } }),
      read_only: true,
    },
    args,
    prepare({ input }, site) {
      const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? 'null');
      return { ok: true, facts: null, cwd: site.root, summary: summaryLine(text) };
    },
    execute: async ({ input }) => ({ ok: true, value: input ?? null }),
  });
}

function print(): Tool {
  const args = object({ message: bytes(string(), 0, maxMessageBytes) });
  return defineTool<{ message: string }, null>({
    spec: {
      tools: 'print',
      tool: 'print',
      description: 'Shows a message to the person who runs this.',
      input_schema: inputSchema(args, { message: { description: 'The text to show.' } }),
      read_only: false,
    },
    args,
    prepare: ({ message }, site) => ({ ok: true, facts: null, cwd: site.root, summary: summaryLine(message) }),
    async execute({ message }, { emit }) {
      emit({ kind: 'print', text: message });
      return { ok: true, value: message };
    },
  });
}
