// Bundles the program with esbuild: `node test/support/build.mjs [--out DIR] [--fail-points]`.
// Entry points are the command line and each worker; they are split into parts, and parts are put together to code files, each
// with its bytecode beside it.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import Sqlite from 'better-sqlite3';
import { build, transform } from 'esbuild';
import { buildWeb } from './build-web.mjs';
import { codeFiles } from './code-files.mjs';
import { keepBytecode } from './try-program.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Imports a source file with all that it imports of ours. */
async function importSource(entry) {
  const out = join(root, 'node_modules', `.cache-reins-${basename(entry, '.ts')}-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: out,
    logLevel: 'error',
  });
  const made = await import(`${pathToFileURL(out).href}?${process.pid}-${performance.now()}`);
  rmSync(out, { force: true });
  return made;
}

/** Root help is text made at build time from the command table (start-up: no import before it is printed). */
async function rootHelp() {
  const { renderRootHelp } = await importSource('src/cli/help.ts');
  return renderRootHelp();
}

/** What the newest schema looks like in a database, so that a start can compare it without a digest. */
async function definitions() {
  const { createHandle } = await importSource('src/store/handle.ts');
  const { applyMigrations, definitionsOf, migrations } = await importSource('src/store/migrate.ts');
  const database = createHandle(new Sqlite(':memory:'));
  applyMigrations(database, migrations, 0);
  const text = definitionsOf(database);
  database.close();
  return text;
}

/** Builds into `outdir` (relative to the root, or absolute). `failPoints` compiles the crash hooks in; a release has none. */
export async function buildAll({ outdir = 'dist', failPoints = false } = {}) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const workers = ['run-chain', 'spawner', 'hash-binary', 'find-in-line', 'read-yaml'];
  const made = resolve(root, outdir);
  // Made beside its place and put there whole, so that who runs the program meanwhile meets the old or the new one.
  const place = `${made}.${process.pid}`;
  for (const name of ['code', 'workers']) mkdirSync(join(place, name), { recursive: true });
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'warning',
    // Packages that stay outside: with native parts, or never there. The binary of better-sqlite3 is looked up in the
    // installation, so its own way of finding it is not needed.
    external: ['bindings', 'bcrypt', '@napi-rs/nice', 'react-devtools-core'],
    define: {
      'process.env.NODE_ENV': '"production"',
      REINS_VERSION: JSON.stringify(version),
      REINS_ROOT_HELP: JSON.stringify(await rootHelp()),
      REINS_DEFINITIONS: JSON.stringify(await definitions()),
      FAIL_POINTS: String(failPoints),
    },
  };
  const [split] = await Promise.all([
    build({
      ...common,
      entryPoints: ['src/cli/start.ts', ...workers.map((name) => `workers/${name}.ts`)],
      entryNames: '[name]',
      outdir: join(place, 'code'),
      splitting: true,
      format: 'esm',
      minifySyntax: true,
      minifyIdentifiers: true,
      plugins: [meowReadsNoPackage, plainStructsOnce, inkStartsAtOnce, emojiWhereOneMayBe],
      alias: { superstruct: join(root, 'node_modules/superstruct/dist/index.mjs') },
      jsx: 'automatic',
      write: false,
      metafile: true,
    }),
    build({
      ...common,
      ...commonJs,
      banner: { js: commonJs.banner },
      entryPoints: ['src/cli/main.ts'],
      outfile: join(place, 'src/cli/main.js'),
      define: { ...common.define, 'import.meta': '__meta' },
      plugins: [startIsBuiltApart],
    }),
    // Threads begin with a file of the pool's package, which looks for it beside its own code.
    build({
      ...common,
      format: 'cjs',
      minify: true,
      entryPoints: ['node_modules/piscina/dist/worker.js'],
      outfile: join(place, 'code/worker.js'),
    }),
    buildWeb(join(place, 'web')),
  ]);
  // For the test that lists what a command loads; nothing at run time reads it.
  if (failPoints) writeFileSync(join(place, 'packages.json'), JSON.stringify(packagesOf(split.metafile)));
  const parts = new Map();
  for (const { path, text } of split.outputFiles) {
    const { code } = await transform(text, { ...commonJs, platform: 'node', define: { 'import.meta': '__meta' } });
    const { exports } = split.metafile.outputs[relative(root, path)];
    parts.set(basename(path), inAscii(code) + (exports.join() === 'default' ? membersToo : ''));
  }
  for (const [file, names] of codeFiles(split.metafile.outputs)) {
    const functions = names.map((name) => `${JSON.stringify(name)}:${asFunction(parts.get(name))}`);
    writeFileSync(join(place, 'code', file), `({${functions.join(',\n')}})\n`);
  }
  cpSync(join(root, 'test/support/load-code.cjs'), join(place, 'load-code.js'));
  writeFileSync(join(place, 'start.js'), loading('./load-code.js', 'start'));
  for (const name of workers) {
    writeFileSync(join(place, `workers/${name}.js`), loading('../load-code.js', name));
  }
  // Node reads "type" from the nearest package.json; that of the published package says "module".
  writeFileSync(join(place, 'package.json'), '{"type":"commonjs"}\n');
  await keepBytecode(place);
  rmSync(made, { recursive: true, force: true });
  renameSync(place, made);
}

/**
 * Only esbuild's ES modules can be split, and Node's loader of ES modules waits several times for each file: so what was
 * split is written as CommonJS, and `import()` is a `require` in the moment of its call.
 */
const commonJs = {
  format: 'cjs',
  minify: true,
  supported: { 'dynamic-import': false },
  banner: 'var __meta={get url(){return require("node:url").pathToFileURL(__filename).href}};',
};

/**
 * A CommonJS package that is a part of its own has one export, `default`. Node gives its members by name as well, and so
 * must the bundle: else `const { member } = await import(..)` works from the sources alone.
 */
const membersToo =
  'var all=Object(module.exports.default);' +
  'for(var name of Object.keys(all))' +
  'if(!(name in module.exports))Object.defineProperty(module.exports,name,{value:all[name],enumerable:true});';

const startIsBuiltApart = {
  name: 'start-is-built-apart',
  setup: (setup) => setup.onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: '../../start.js', external: true })),
};

/** A package that is not what it was when its change was written stops the build. */
function replaced(text, from, to, path) {
  if (text.split(from).length !== 2) throw new Error(`${path} has changed: "${from}" is to be replaced in it`);
  return text.replace(from, () => to);
}

/**
 * meow carries what corrects the fields of a package.json, for a member of its result that nobody here asks for. Its tables
 * are sorted when they are loaded, by the rules of a language: half of the time that meow takes. Of what is left, one
 * package loads the module that starts children, for a function that is not there any more, and one makes the stream of
 * stdout, to know whether the fault in such a file may be shown in colours.
 */
const meowReadsNoPackage = {
  name: 'meow-reads-no-package',
  setup: (setup) =>
    setup.onLoad({ filter: /meow[\\/]build[\\/]dependencies\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const changes = [
        ['var normalizeExports = requireNormalize();', 'var normalizeExports = (given) => requireNormalize()(given);'],
        ["import { execFile } from 'node:child_process';", ''],
        ['promisify(execFile);', ''],
        [
          'var libExports = requireLib$1();',
          'var libExports = { codeFrameColumns: (...given) => requireLib$1().codeFrameColumns(...given) };',
        ],
      ];
      return { contents: changes.reduce((all, [from, to]) => replaced(all, from, to, path), text) };
    }),
};

/**
 * superstruct makes a struct, of five closures, for each `string()`. Two thirds of the 1,200 that any command begins with
 * are one of these, and a struct is never changed: one of each does.
 */
const plainStructsOnce = {
  name: 'plain-structs-once',
  setup: (setup) =>
    setup.onLoad({ filter: /superstruct[\\/]dist[\\/]index\.mjs$/ }, ({ path }) => {
      const plain = /^function (boolean|never|number|string|unknown)\(\) \{\n {4}return (define\([\s\S]*?);\n\}$/gm;
      const text = readFileSync(path, 'utf8');
      if (text.match(plain)?.length !== 5) throw new Error(`${path} has changed: see how it makes its plain structs`);
      return { contents: text.replace(plain, 'let the_$1;\nfunction $1() {\n    return the_$1 ??= $2;\n}') };
    }),
};

/**
 * Ink and its layout engine wait at the top of a module, which only ES modules can. The engine is compiled where it stands
 * (15 ms less than asynchronously, too), and what connects to development tools is left out.
 */
const inkStartsAtOnce = {
  name: 'ink-starts-at-once',
  setup: (setup) => {
    const changed = (filter, change) =>
      setup.onLoad({ filter }, ({ path }) => ({ contents: change(readFileSync(path, 'utf8'), path) }));
    const inText = /data:application\/octet-stream;base64,([\w+/=]+)/;
    changed(/yoga-layout[\\/]dist[\\/]binaries[\\/]yoga-wasm-base64-esm\.js$/, (text) => text.replace(inText, ''));
    changed(/yoga-layout[\\/]dist[\\/]src[\\/]index\.js$/, (text, path) => {
      const binary = readFileSync(join(path, '../../binaries/yoga-wasm-base64-esm.js'), 'utf8');
      const atOnce = `const instantiateWasm = (imports, done) => {
        const binary = Buffer.from('${inText.exec(binary)[1]}', 'base64');
        const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), imports);
        done({ exports });
        return exports;
      };
      const engine = { instantiateWasm };
      loadYoga(engine);`;
      return replaced(
        text,
        'const Yoga = wrapAssembly(await loadYoga());',
        `${atOnce}\nconst Yoga = wrapAssembly(engine);`,
        path,
      );
    });
    changed(/ink[\\/]build[\\/]reconciler\.js$/, (text, path) =>
      replaced(
        replaced(text, "await import('./devtools.js')", 'undefined', path),
        'await loadPackageJson()',
        'undefined',
        path,
      ),
    );
  },
};

/**
 * string-width compares each cluster that is not ASCII with every emoji: the expression takes 20 ms to compile, an eighth of
 * the time to the first frame, which has lines and an ellipsis and no emoji. No emoji is one unit below U+231A, or from the
 * lines to the blocks (U+2500 to U+25FC); with a selector behind it, it is longer.
 */
const emojiWhereOneMayBe = {
  name: 'emoji-where-one-may-be',
  setup: (setup) =>
    setup.onLoad({ filter: /node_modules[\\/]string-width[\\/]index\.js$/ }, ({ path }) => {
      const none = "segment.length === 1 && (segment < '\\u231A' || (segment >= '\\u2500' && segment <= '\\u25FC'))";
      const text = readFileSync(path, 'utf8');
      // Another package brings an older one, which does not.
      if (text.includes("from 'emoji-regex'")) return { contents: text };
      return {
        contents: replaced(text, 'rgiEmojiRegex.test(segment)', `(!(${none}) && rgiEmojiRegex.test(segment))`, path),
      };
    }),
};

/**
 * A text with one character that is not ASCII is decoded and kept at twice its length: that alone was 4 ms for the largest
 * file. esbuild leaves such characters in regular expressions only.
 */
const inAscii = (code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const asFunction = (code) => `function(exports,require,module,__filename,__dirname){${code}\n}`;

const loading = (loader, name) => `module.exports=require("${loader}").loadCode("${name}.js");\n`;

/** Which packages each code file holds: `{'rooms-X.js': ['superstruct', ...]}`. */
function packagesOf({ outputs }) {
  const nameOf = (input) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(input)?.[1];
  const inputsOf = new Map(Object.entries(outputs).map(([path, { inputs }]) => [basename(path), Object.keys(inputs)]));
  return Object.fromEntries(
    [...codeFiles(outputs)].map(([file, names]) => [
      file,
      [...new Set(names.flatMap((name) => inputsOf.get(name)).map(nameOf))].filter((name) => name !== undefined),
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--out');
  await buildAll({
    ...(at > 0 ? { outdir: process.argv[at + 1] } : {}),
    failPoints: process.argv.includes('--fail-points'),
  });
}
