import { databaseSchema } from '../../app.ts';
import type { Handler } from '../context.ts';

/** `version` (06 §28). The plain form is printed by `main.ts` before any import. */
const version: Handler = async (context) => {
  const { process, globals } = context;
  if (globals.format === 'text') {
    await context.print(`reins ${process.version}`);
    return 0;
  }
  await context.printJson({ version: process.version, ...process.runtime, schema: await databaseSchema() });
  return 0;
};

export const handlers = { '': version };
