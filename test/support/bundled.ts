import { join } from 'node:path';
import { build } from 'esbuild';

/** A program of its own in a directory, from source text that imports ours: some things Node reads only when it starts. @returns its path */
export async function bundled(directory: string, name: string, contents: string): Promise<string> {
  const outfile = join(directory, `${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: directory, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
    logLevel: 'error',
  });
  return outfile;
}
