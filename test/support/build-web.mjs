// Builds the browser app with Vite: `buildWeb(directory)`. What was built is kept by the digest of its sources, so that a
// build in which no page has changed copies it.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../../', import.meta.url));
const kept = join(root, 'node_modules/.cache/reins-web');
/** Everything that a page may be made of. */
const sources = ['web', 'src/client', 'src/schema', 'src/text', 'src/view', 'package-lock.json'];

const filesBelow = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

function digest() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  for (const source of sources) {
    const path = join(root, source);
    for (const file of source.includes('.') ? [path] : filesBelow(path).sort()) {
      hash.update(file).update('\0').update(readFileSync(file)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Puts the built app into a directory that is not there yet. */
export async function buildWeb(directory) {
  const built = join(kept, digest());
  if (!existsSync(built)) {
    const place = `${built}.${process.pid}`;
    const { build } = await import('vite');
    // A test runner has a word of its own there, and React would be built for development.
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    await build({ root: join(root, 'web'), configFile: join(root, 'web/vite.config.ts'), build: { outDir: place } });
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
    for (const file of filesBelow(place)) if (/\.(?:js|css|svg)$/.test(file)) compress(file);
    const names = existsSync(kept) ? readdirSync(kept) : [];
    // Two test runs may build the same at one time.
    const older = names.filter((name) => !name.includes('.') && join(kept, name) !== built);
    mkdirSync(kept, { recursive: true });
    rmSync(built, { recursive: true, force: true });
    renameSync(place, built);
    for (const name of older) rmSync(join(kept, name), { recursive: true, force: true });
  }
  cpSync(built, directory, { recursive: true });
}

/** The server sends what is compressed already. */
function compress(file) {
  const text = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  writeFileSync(`${file}.br`, brotliCompressSync(text, { params: quality }));
}
