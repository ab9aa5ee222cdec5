// Bundles the program with esbuild: `node test/support/build.mjs [--out DIR] [--fail-points]`.
// Entry points are the command line and each worker; each becomes one code file with its bytecode beside it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
  const workers = ['run-chain', 'spawn-tool', 'hash-binary'];
  const made = resolve(root, outdir);
  // Made beside its place and put there whole, so that who runs the program meanwhile meets the old or the new one.
  const place = `${made}.${process.pid}`;
  mkdirSync(join(place, 'workers'), { recursive: true });
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    // `import()` becomes a `require` in the moment of its call: the loader of ES modules waits several times for each file.
    supported: { 'dynamic-import': false },
    define: {
      'process.env.NODE_ENV': '"production"',
      'import.meta': '__meta',
      REINS_VERSION: JSON.stringify(version),
      REINS_ROOT_HELP: JSON.stringify(await rootHelp()),
      FAIL_POINTS: String(failPoints),
    },
    banner: { js: 'var __meta={get url(){return require("node:url").pathToFileURL(__filename).href}};' },
  };
  const bundle = (entry, out, plugins, more = {}) =>
    build({ ...common, entryPoints: [entry], outfile: join(place, out), external: outside, plugins, ...more });
  const apart = [renamed(libraries, (name) => `./${name}.js`)];
  await Promise.all([
    bundle('src/cli/main.ts', 'src/cli/main.js', [renamed(['./start.ts'], () => '../../start.js')]),
    bundle('src/cli/start.ts', 'code/start.js', apart),
    ...workers.map((name) => bundle(`workers/${name}.ts`, `code/${name}.js`, apart)),
    ...libraries.map((name) => bundle(name, `code/${name}.js`, [], { footer: { js: defaultIsAll } })),
  ]);
  cpSync(join(root, 'test/support/load-code.cjs'), join(place, 'load-code.js'));
  writeFileSync(join(place, 'start.js'), loading('./load-code.js', 'code/start.js'));
  for (const name of workers) {
    writeFileSync(join(place, `workers/${name}.js`), loading('../load-code.js', `../code/${name}.js`));
  }
  // Node reads "type" from the nearest package.json; that of the published package says "module".
  writeFileSync(join(place, 'package.json'), '{"type":"commonjs"}\n');
  keepBytecode(place);
  rmSync(made, { recursive: true, force: true });
  renameSync(place, made);
}

/** Packages that stay outside: with native parts, with threads of their own, or never there. */
const outside = ['better-sqlite3', 'bcrypt', 'piscina', 'react-devtools-core'];
/** Packages that are needed now and then only: each is a code file of its own. */
const libraries = ['meow', 're2js', 'liquidjs', 'diff', 'string-width', 'http-proxy-agent', 'https-proxy-agent'];

/** What `import` takes for the default of a CommonJS module is the module itself. */
const defaultIsAll = 'if(typeof module.exports.default==="function")module.exports=module.exports.default;';

/** Leaves imports of these names in the output, under other names. */
const renamed = (names, rename) => ({
  name: 'renamed',
  setup: (setup) =>
    setup.onResolve({ filter: /.*/ }, ({ path }) =>
      names.includes(path) ? { path: rename(path), external: true } : undefined,
    ),
});

const loading = (loader, file) =>
  `module.exports=require("${loader}").loadCode(require("node:path").join(__dirname,"${file}"));\n`;

/** Tries the program on its own demo and keeps the bytecode: a short run that starts from it takes a quarter less. */
function keepBytecode(place) {
  const home = mkdtempSync(join(tmpdir(), 'reins-build-'));
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const env = { PATH: process.env.PATH, HOME: home };
  const hook = join(root, 'test/support/keep-bytecode.cjs');
  for (const argv of [['init', 'scripted'], ['session', 'list'], ['run', '--quiet', 'hello'], ['demo']]) {
    const command = ['--require', hook, join(place, 'src/cli/main.js'), ...argv];
    const tried = spawnSync(process.execPath, command, { cwd, env, encoding: 'utf8', stdio: 'pipe' });
    if (tried.status !== 0)
      console.warn(`build: "reins ${argv.join(' ')}" ended with ${tried.status}: ${tried.stderr}`);
  }
  rmSync(home, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--out');
  await buildAll({
    ...(at > 0 ? { outdir: process.argv[at + 1] } : {}),
    failPoints: process.argv.includes('--fail-points'),
  });
}
