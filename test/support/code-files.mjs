// Which parts of the split bundle lie in one file. Reading, checking and unpacking cost about the same for a small file as
// for a large one, and a start that read 52 of them spent a tenth of its time on that.
import { basename } from 'node:path';

/**
 * What is started or imported later is a file of its own, with all that it imports at once, except what has been read by
 * then in any case. So a part may lie in two files; whoever is read first gives it.
 * @param outputs those of esbuild's metafile
 * @returns the names of the parts of each file, by the name of the file
 */
export function codeFiles(outputs) {
  const parts = Object.entries(outputs).map(([path, output]) => ({
    name: basename(path),
    isEntry: output.entryPoint !== undefined,
    atOnce: importsOf(output, 'import-statement'),
    later: importsOf(output, 'dynamic-import'),
  }));
  const byName = new Map(parts.map((part) => [part.name, part]));
  const imported = new Set(parts.flatMap((part) => part.later));
  const roots = parts.filter(({ name, isEntry }) => isEntry || imported.has(name)).map(({ name }) => name);
  const needed = new Map(roots.map((root) => [root, reach(root, byName)]));
  const before = readBefore(roots, needed, byName);
  return new Map(roots.map((root) => [root, [...needed.get(root)].filter((name) => !before.get(root).has(name))]));
}

const importsOf = (output, kind) =>
  output.imports.filter((found) => found.kind === kind && !found.external).map(({ path }) => basename(path));

/** A part and all that it imports at once. */
function reach(root, byName) {
  const found = new Set([root]);
  for (const name of found) for (const next of byName.get(name).atOnce) found.add(next);
  return found;
}

/** What has been read when a root is, whoever asks for it: begins with everything and takes away until nothing changes. */
function readBefore(roots, needed, byName) {
  const importers = new Map(roots.map((root) => [root, []]));
  for (const root of roots) {
    for (const name of needed.get(root)) for (const next of byName.get(name).later) importers.get(next).push(root);
  }
  const everything = new Set(byName.keys());
  const before = new Map(roots.map((root) => [root, importers.get(root).length === 0 ? new Set() : everything]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const root of roots) {
      for (const importer of importers.get(root)) {
        const kept = [...before.get(root)].filter(
          (name) => needed.get(importer).has(name) || before.get(importer).has(name),
        );
        if (kept.length === before.get(root).size) continue;
        before.set(root, new Set(kept));
        changed = true;
      }
    }
  }
  return before;
}
