import { RuntimeError } from '../schema/errors.ts';
import { ModelPull } from '../schema/registry.ts';
import { inputSchema } from '../tools/input-schema.ts';
import { defineTool, type Tool } from '../tools/tool.ts';
import type { Models } from './models.ts';

/** The chain of a run of kind `model_pull` (09 §6.9): one call, whose live output is how far the download has come. */
export const pullChain = `${JSON.stringify(
  {
    id: 'chain-model-pull',
    description: 'Lets a backend download a model.',
    tasks: [
      {
        id: 'pull',
        handler: 'tools',
        tools: {
          name: 'model_pull',
          tool_name: 'pull',
          args: { model: '{{var:pulled_model}}', backend: '{{var:pulled_from|}}' },
        },
        transition: { branches: [{ operator: 'default', goto: 'end' }] },
      },
    ],
  },
  null,
  2,
)}\n`;

/** The variables that the chain wants. */
export const pullVariables = (model: string, backend: string | null): Readonly<Record<string, string>> => ({
  pulled_model: model,
  pulled_from: backend ?? '',
});

/**
 * `model_pull`: no model is offered it, and no other chain finds it. It changes nothing of the workspace, and a server goes on
 * with what it has of a model, so a run that was stopped in the middle may make its call again without asking.
 */
export function createPullTool(pullModel: Models['pullModel']): Tool {
  return defineTool<ModelPull, null>({
    spec: {
      tools: 'model_pull',
      tool: 'pull',
      description: 'Lets a backend download a model.',
      input_schema: inputSchema(ModelPull, {
        model: { description: 'Its name.' },
        backend: { description: 'The backend; the first that can, if it is empty.' },
      }),
      read_only: true,
    },
    args: ModelPull,
    prepare: ({ model }, site) =>
      site.direct
        ? { ok: true, facts: null, cwd: site.root, summary: model }
        : { ok: false, error: 'unsupported', message: 'model_pull is called by the program only.' },
    async execute({ model, backend }, { signal, output }) {
      const told = createProgress((line) => output('progress', line));
      const wanted = { name: model, backend: backend || null, url: null, sha256: null };
      try {
        const { bytes, present } = await pullModel(wanted, told, signal);
        return { ok: true, value: { model, bytes, present } };
      } catch (error) {
        if (!(error instanceof RuntimeError)) throw error;
        return { ok: false, error: error.code === 'cancelled' ? 'cancelled' : 'unavailable', message: error.message };
      }
    },
  });
}

type Progress = Parameters<Parameters<Models['pullModel']>[1]>[0];

/** One line for each state and each percent: a server tells its state many times a second. */
function createProgress(tell: (line: string) => void): (progress: Progress) => void {
  let before = '';
  return ({ status, completed, total }) => {
    const percent = completed === null || total === null ? null : Math.floor((100 * completed) / total);
    const mark = `${status} ${percent}`;
    if (mark === before) return;
    before = mark;
    tell(`${status}${percent === null ? '' : ` ${percent} % (${completed} of ${total} bytes)`}\n`);
  };
}
