import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** The import table of ARCHITECTURE.md section 9: rooms and single files a room may import, and packages by file. */
type Room = {
  readonly may: readonly string[];
  /** file (relative to the room) or `*` -> packages. */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /** Nothing of `node:`. */
  readonly pure?: true;
};

const words = ['src/schema', 'src/text'];
const rooms: Readonly<Record<string, Room>> = {
  web: {
    may: [...words, 'src/view', 'src/client'],
    packages: {
      '*': ['react', 'react-dom', 'wouter', '@tanstack/react-virtual'],
      'parts/markdown-body.tsx': ['react-markdown', 'remark-gfm'],
      'editor/code-mirror.ts': [
        'codemirror',
        '@codemirror/lang-json',
        '@codemirror/language',
        '@codemirror/lint',
        '@lezer/highlight',
      ],
      'editor/line-diff.ts': ['diff'],
      'chains/layout.ts': ['@dagrejs/dagre'],
      'vite.config.ts': ['vite', '@vitejs/plugin-react'],
    },
  },
  ui: {
    may: [...words, 'src/view', 'src/client/operations.ts', 'src/client/play-plan.ts'],
    packages: { '*': ['ink', 'react'] },
  },
  'src/cli': {
    may: [
      ...words,
      'src/view',
      'src/app.ts',
      'src/app-options.ts',
      'src/client/operations.ts',
      'src/client/play-plan.ts',
      'ui/start.tsx',
      'ui/theme.ts',
      'ui/theme-file.ts',
      'ui/options.ts',
      'ui/plain/start-plain.ts',
      'src/client/routes.ts',
      'src/server/open-beam.ts',
      'src/server/beam-commands.ts',
    ],
    packages: { 'parse.ts': ['meow'] },
  },
  'src/server': {
    may: [...words, 'src/client', 'src/app-options.ts'],
    packages: {
      'dispatch.ts': ['@tinyhttp/app'],
      'authenticate.ts': ['@tinyhttp/cookie'],
      'token.ts': ['jsonwebtoken'],
      'operator.ts': ['bcrypt'],
      'static.ts': ['sirv'],
      '*': ['superstruct'],
    },
  },
  'src/app.ts': { may: ['src/app', 'src/app-options.ts', 'src/client', 'src/runs', 'src/store'], packages: {} },
  'src/app': {
    may: [
      ...words,
      'src/app-options.ts',
      'src/client',
      'src/sessions',
      'src/plans',
      'src/runs',
      'src/gate',
      'src/trials',
      'src/asks',
      'src/registry',
      'src/workspace',
      'src/tools',
      'src/store',
      'src/policy',
      'src/view',
      'src/chain/allowlist.ts',
    ],
    packages: {},
  },
  'src/app-options.ts': { may: ['src/schema'], packages: {} },
  'src/sessions': {
    may: [...words, 'src/chain', 'src/store', 'src/runs'],
    packages: { 'drafts.ts': ['superstruct'] },
  },
  'src/plans': {
    may: [
      ...words,
      'src/chain/cap.ts',
      'src/store',
      'src/runs',
      'src/workspace',
      'src/tools/tool.ts',
      'src/tools/input-schema.ts',
      'src/view/plan-lines.ts',
    ],
    packages: { '*': ['superstruct'] },
  },
  'src/runs': {
    may: [
      ...words,
      'src/store',
      'src/workspace',
      'src/tools/catalog.ts',
      'src/tools/source.ts',
      'src/tools/tool.ts',
      'src/gate',
      'src/asks',
    ],
    packages: {
      'pools.ts': ['piscina'],
      'supervisor.ts': ['superstruct'],
      'run-requests.ts': ['superstruct'],
      'resume.ts': ['superstruct'],
    },
  },
  'src/gate': {
    may: [
      ...words,
      'src/shell',
      'src/policy',
      'src/chain/allowlist.ts',
      'src/tools/catalog.ts',
      'src/tools/arguments.ts',
      'src/tools/tool.ts',
      'src/store',
      'src/registry',
      'src/asks',
    ],
    packages: {},
  },
  'src/trials': { may: [...words, 'src/shell', 'src/policy', 'src/store', 'src/workspace'], packages: {} },
  'src/asks': {
    may: [...words, 'src/store'],
    packages: { 'attention.ts': ['superstruct'] },
  },
  'src/registry': {
    may: [...words, 'src/store', 'src/workspace', 'src/models', 'src/tools', 'src/children'],
    packages: {},
  },
  workers: { may: [...words, 'src/engine', 'src/models', 'src/children'], packages: {} },
  'src/children': { may: [], packages: {} },
  'src/workspace': { may: [...words, 'src/chain', 'src/policy', 'src/store'], packages: {} },
  'src/engine': { may: [...words, 'src/chain', 'src/models/model.ts'], packages: {} },
  'src/tools': {
    may: [...words, 'src/children'],
    packages: {
      '*': ['superstruct'],
      'mcp/client.ts': ['@modelcontextprotocol/sdk'],
      'mcp/transports.ts': ['@modelcontextprotocol/sdk'],
      'mcp/sign-in.ts': ['@modelcontextprotocol/sdk'],
      'mcp/sign-in-server.ts': ['@modelcontextprotocol/sdk'],
      'files/diff.ts': ['diff'],
      'json-check.ts': ['ajv'],
    },
  },
  'src/store': { may: words, packages: { 'store.ts': ['better-sqlite3'], 'mac.ts': ['@noble/hashes'] } },
  'src/models': {
    may: words,
    packages: {
      'stream.ts': ['eventsource-parser'],
      'proxy-agent.ts': ['https-proxy-agent', 'http-proxy-agent'],
      '*': ['superstruct'],
    },
  },
  'src/client': { may: words, packages: { 'http-events.ts': ['eventsource-parser'], '*': ['superstruct'] } },
  'src/chain': {
    may: words,
    packages: { 'template-engine.ts': ['liquidjs'], 'check-template.ts': ['liquidjs'] },
    pure: true,
  },
  'src/policy': { may: [...words, 'src/shell/launchers.ts', 'src/shell/programs.ts'], packages: {}, pure: true },
  'src/view': {
    may: words,
    packages: {
      'format.ts': ['string-width'],
      'wrap.ts': ['string-width'],
      'markdown.ts': ['marked'],
      'markdown-table.ts': ['marked'],
    },
    pure: true,
  },
  'src/shell': {
    may: words,
    packages: { 'parse-script.ts': ['unbash'], 'word-reader.ts': ['unbash'] },
    pure: true,
  },
  'src/schema': { may: ['src/text'], packages: { '*': ['superstruct'] }, pure: true },
  'src/text': { may: [], packages: { 'linear-regex.ts': ['re2js'], 'yaml-json.ts': ['yaml'] }, pure: true },
};

/** Line budgets of ARCHITECTURE.md section 16. */
const budgets: Readonly<Record<string, number>> = {
  'src/gate/call.ts': 200,
  'src/app/open.ts': 250,
  'src/app/rooms.ts': 250,
  'ui/app.tsx': 160,
};

function filesBelow(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

type Import = { readonly specifier: string; readonly typeOnly: boolean };

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const found: Import[] = [];
  for (const match of text.matchAll(/^\s*(?:import|export)\s+(type\s+)?(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)) {
    found.push({ specifier: match[2] ?? '', typeOnly: match[1] !== undefined });
  }
  for (const match of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g))
    found.push({ specifier: match[1] ?? '', typeOnly: false });
  return found;
}

const sources = ['src', 'workers', 'ui', 'web'].flatMap(filesBelow);

const roomOf = (file: string): string | undefined =>
  Object.keys(rooms)
    .filter((room) => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];

const target = (file: string, specifier: string): string => relative(root, resolve(root, dirname(file), specifier));
const packageOf = (specifier: string): string =>
  specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : (specifier.split('/')[0] ?? specifier);

describe('the house', () => {
  it('gives every source file a room', () => {
    expect(sources.filter((file) => roomOf(file) === undefined)).toEqual([]);
  });

  it('lets a room import what the table says and nothing else', () => {
    const wrong = sources.flatMap((file) => {
      const name = roomOf(file);
      const room = name === undefined ? undefined : rooms[name];
      if (name === undefined || room === undefined) return [];
      const local = file.slice(name.length + 1);
      return importsOf(file).flatMap(({ specifier }) => {
        if (specifier.startsWith('node:')) return room.pure ? [`${file} -> ${specifier}`] : [];
        if (specifier.startsWith('.')) {
          const to = target(file, specifier);
          const inside = roomOf(to) === name || room.may.some((may) => to === may || to.startsWith(`${may}/`));
          return inside ? [] : [`${file} -> ${to}`];
        }
        const allowed = [...(room.packages['*'] ?? []), ...(room.packages[local] ?? [])];
        return allowed.includes(packageOf(specifier)) ? [] : [`${file} -> ${specifier}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('has no permission that nobody uses', () => {
    const imports = sources.flatMap((file) => importsOf(file).map(({ specifier }) => ({ file, specifier })));
    const unused = Object.entries(rooms).flatMap(([name, room]) => {
      const own = imports.filter(({ file }) => roomOf(file) === name);
      const rows = room.may.filter(
        (may) =>
          !own.some(({ file, specifier }) => {
            const to = specifier.startsWith('.') ? target(file, specifier) : '';
            return to === may || to.startsWith(`${may}/`);
          }),
      );
      const packages = Object.entries(room.packages).flatMap(([place, names]) =>
        names.filter(
          (wanted) =>
            !own.some(
              ({ file, specifier }) =>
                packageOf(specifier) === wanted && (place === '*' || file === `${name}/${place}`),
            ),
        ),
      );
      return [...rows, ...packages].map((what) => `${name} -> ${what}`);
    });
    expect(unused).toEqual([]);
  });

  it('installs the packages that the table names, and no other', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    // The web app is built: what it is made of is in its files.
    const named = Object.entries(rooms).flatMap(([name, { packages }]) =>
      name === 'web' ? [] : Object.values(packages).flat(),
    );
    const packageOf = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    expect(Object.keys(dependencies).sort()).toEqual([...new Set(named.map(packageOf))].sort());
    // Nothing is taken from a range: who installs it gets what was tried.
    expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('has no circle of files', () => {
    const edges = new Map(
      sources.map((file) => [
        file,
        importsOf(file)
          .filter(({ specifier }) => specifier.startsWith('.'))
          .map(({ specifier }) => target(file, specifier)),
      ]),
    );
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
        return;
      }
      state.set(file, 'open');
      for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of sources) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('imports no file that is missing', () => {
    const missing = sources.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => target(file, specifier))
        .filter((to) => statSync(join(root, to), { throwIfNoEntry: false }) === undefined),
    );
    expect(missing).toEqual([]);
  });

  it('lets only the entry point know where it is, and read the environment', () => {
    const code = (file: string): string =>
      readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const reads = (pattern: RegExp): string[] => sources.filter((file) => pattern.test(code(file)));
    expect(reads(/import\.meta/)).toEqual(['src/cli/main.ts']);
    // The command line's rooms get a `process` of their own as a value; only the global one counts here.
    const ownProcess = /[{,]\s*process\s*[,}:]|\bprocess: Process\b|\.process\./;
    const global = reads(/\bprocess\.(env|argv|cwd|exit)\b/).filter((file) => !ownProcess.test(code(file)));
    expect(global.filter((file) => !file.startsWith('workers/'))).toEqual(['src/cli/main.ts']);
  });

  it('parses addresses with the one parser that reads every text alike', () => {
    const asked = sources.filter((file) => /\bcanParse\(/.test(readFileSync(join(root, file), 'utf8')));
    expect(asked).toEqual([]);
  });

  it('keeps default exports to the jobs of a pool, and to what a bundler reads', () => {
    const withDefault = sources.filter((file) => /^export default/m.test(readFileSync(join(root, file), 'utf8')));
    expect(withDefault.filter((file) => !file.startsWith('workers/'))).toEqual(['web/vite.config.ts']);
  });

  it('reaches no tool, policy, ask or SQL from a worker', () => {
    const seen = new Set<string>();
    const walk = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { specifier, typeOnly } of importsOf(file)) {
        if (!typeOnly && specifier.startsWith('.')) walk(target(file, specifier));
      }
    };
    for (const file of sources.filter((name) => name.startsWith('workers/'))) walk(file);
    const forbidden = [
      'src/tools',
      'src/policy',
      'src/asks',
      'src/store',
      'src/gate',
      'src/runs',
      'src/workspace',
      'src/registry',
    ];
    expect([...seen].filter((file) => forbidden.some((room) => file.startsWith(room)))).toEqual([]);
  });

  it('is described by files and decisions that are there', () => {
    const text = (file: string): string => readFileSync(join(root, file), 'utf8');
    const decisions = text('docs/decisions.md');
    const documents = [text('ARCHITECTURE.md'), decisions];
    const inTree = ['src', 'workers', 'ui', 'web', 'test'].flatMap((directory) =>
      readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' }).map((path) => `${directory}/${path}`),
    );
    const named = documents.flatMap((document) =>
      [...document.matchAll(/`([\w@./-]*[\w-]\.(?:tsx?|mjs|cjs))`/g)].map(([, name = '']) => name),
    );
    expect(named.filter((name) => !inTree.some((path) => `/${path}`.endsWith(`/${name}`)))).toEqual([]);

    const numbers = (pattern: RegExp, from: string): string[] => [...from.matchAll(pattern)].map(([, n = '']) => n);
    const known = new Set(numbers(/^(?:\*\*)?(\d+)(?:\. |: see )/gm, decisions));
    const cited = [...documents, ...sources.map(text)].flatMap((from) => numbers(/decisions? (\d+)/g, from));
    expect(cited.filter((number) => !known.has(number))).toEqual([]);
  });

  it('keeps the files that want to grow within their budgets', () => {
    const over = Object.entries(budgets).filter(
      ([file, lines]) => readFileSync(join(root, file), 'utf8').split('\n').length > lines,
    );
    expect(over).toEqual([]);
  });

  it('names no tool implementation outside the tools room and the app', () => {
    const users = sources.filter(
      (file) =>
        !file.startsWith('src/tools/') &&
        importsOf(file).some(
          (
            { specifier }, // The diff that cards show is no tool.
          ) => /\/tools\/(builtin|local-shell|web|files\/(?!diff\.ts))/.test(specifier),
        ),
    );
    expect(users.filter((file) => file !== 'src/app.ts' && !file.startsWith('src/app/'))).toEqual([]);
  });
});
