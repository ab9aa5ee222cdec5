import { makeTemplate } from './project-template.ts';

/** Builds the program once into `test/.build`, with the crash hooks compiled in. Threads always run a bundle. */
export async function setup(): Promise<() => void> {
  if (process.env['REINS_TEST_NO_BUILD'] === undefined) {
    // A plain module, so that `npm run build` needs no compiler step.
    const module: { buildAll(options: { outdir: string; failPoints: boolean }): Promise<void> } = await import(
      './build.mjs' as string
    );
    await module.buildAll({ outdir: 'test/.build', failPoints: true });
  }
  return makeTemplate();
}
