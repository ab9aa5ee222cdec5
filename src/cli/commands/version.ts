import { databaseSchema } from '../../app.ts';
import type { Handler } from '../context.ts';
import type { Process } from '../process.ts';

/** `version` (06 §28). The plain form is printed by `main.ts` before any import. */
const versionCommand: Handler = async (context) => {
  const { process, globals } = context;
  if (globals.format === 'text') {
    await context.print(`reins ${process.version}`);
    return 0;
  }
  await context.printJson(await versionJson(process));
  return 0;
};

/** What `version --json` prints. */
export const versionJson = async ({ version, runtime }: Pick<Process, 'version' | 'runtime'>) => ({
  version,
  ...runtime,
  schema: await databaseSchema(),
});

export const handlers = { '': versionCommand };
