// Bundles the program with esbuild: `node test/support/build.mjs [--out DIR] [--fail-points]`.
// Entry points are the command line and each worker; packages with native parts and Piscina stay external.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Root help is text made at build time from the command table (start-up: no import before it is printed). */
async function rootHelp() {
  const out = join(root, 'node_modules', `.cache-reins-help-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/help.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: out,
    logLevel: 'error',
  });
  const { renderRootHelp } = await import(`${pathToFileURL(out).href}?${process.pid}-${performance.now()}`);
  rmSync(out, { force: true });
  return renderRootHelp();
}

/** Builds into `outdir` (relative to the root, or absolute). `failPoints` compiles the crash hooks in; a release has none. */
export async function buildAll({ outdir = 'dist', failPoints = false } = {}) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const workers = readdirSync(join(root, 'workers')).filter((name) =>
    /^(run-chain|spawn-tool|hash-binary)\.ts$/.test(name),
  );
  rmSync(resolve(root, outdir), { recursive: true, force: true });
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    external: ['better-sqlite3', 'bcrypt', 'piscina', 'react-devtools-core'],
    logLevel: 'warning',
    define: {
      'process.env.NODE_ENV': '"production"',
      REINS_VERSION: JSON.stringify(version),
      REINS_ROOT_HELP: JSON.stringify(await rootHelp()),
      FAIL_POINTS: String(failPoints),
    },
  };
  await build({
    ...common,
    entryPoints: [{ in: 'src/cli/start.ts', out: 'start' }, ...workers.map((name) => `workers/${name}`)],
    outbase: '.',
    outdir,
    splitting: true,
    format: 'esm',
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  });
  // The entry point is CommonJS, so that version and help are printed before Node's module loader is set up.
  await build({
    ...common,
    entryPoints: ['src/cli/main.ts'],
    outfile: join(outdir, 'src/cli/main.js'),
    format: 'cjs',
    define: { ...common.define, 'import.meta': '__meta' },
    banner: { js: 'var __meta={get url(){return require("node:url").pathToFileURL(__filename).href}};' },
    plugins: [
      {
        name: 'start-is-built-apart',
        setup: (setup) =>
          setup.onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: '../../start.js', external: true })),
      },
    ],
  });
  writeFileSync(resolve(root, outdir, 'src/cli/package.json'), '{"type":"commonjs"}\n');
  // Node reads "type" from the nearest package.json; the published package has its own at the root.
  if (outdir !== 'dist') writeFileSync(resolve(root, outdir, 'package.json'), '{"type":"module"}\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--out');
  await buildAll({
    ...(at > 0 ? { outdir: process.argv[at + 1] } : {}),
    failPoints: process.argv.includes('--fail-points'),
  });
}
