import type { Handler } from '../context.ts';

/** Serves until it is told to stop (09 §1). */
const serve: Handler = async (context) => {
  const { serveBeam } = await import('../serve-beam.ts');
  return serveBeam(context);
};

export const handlers: Readonly<Record<string, Handler>> = { '': serve };
