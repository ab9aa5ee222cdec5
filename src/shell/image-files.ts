import { settingLines } from './setting-lines.ts';

/** What the files that containers are built from start (`Dockerfile`, `compose.yaml`). */

/** Programs that build one. */
export const imageBuilders: ReadonlySet<string> = new Set(
  'docker podman nerdctl buildah docker-compose podman-compose'.split(' '),
);

/** Most instructions of one file that are looked at. */
const maxInstructions = 256;

const built = /^[ \t]*(?:onbuild[ \t]+)?run[ \t]+(?:--[\w-]+(?:=\S*)?[ \t]+){0,16}/i;
const started = /^[ \t]*(?:(?:healthcheck[ \t]+(?:--[\w-]+(?:=\S*)?[ \t]+){0,16})?cmd|entrypoint)[ \t]+/i;
const hereDocument = /^<<-?["']?(\w+)["']?[ \t]*$/;

/** What a build starts: the lines behind `RUN`. */
export const runLines = (text: string): readonly string[] => instructions(built, text);

/** What a container starts that is made of it: those behind `CMD`, `ENTRYPOINT` and `HEALTHCHECK`. */
export const startLines = (text: string): readonly string[] => instructions(started, text);

/** What the services of `compose.yaml` start. */
export const serviceLines = settingLines('command|entrypoint|test');

/** Lines for a shell, lists of words, or here-documents that are scripts. Linear in the text. */
function instructions(instruction: RegExp, text: string): readonly string[] {
  const found: string[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length && found.length < maxInstructions; at += 1) {
    const first = lines[at] ?? '';
    const begin = instruction.exec(first)?.[0];
    if (begin === undefined) continue;
    const parts = [first.slice(begin.length)];
    // A comment between the parts of a continued line ends nothing.
    while (/\\[ \t]*$/.test(parts.at(-1) ?? '') && at + 1 < lines.length) {
      at += 1;
      const next = lines[at] ?? '';
      if (!/^[ \t]*(?:#|$)/.test(next)) parts.push(next);
    }
    const line = parts.map((part) => part.replace(/\\[ \t]*$/, '')).join(' ');
    const mark = hereDocument.exec(line)?.[1];
    if (mark === undefined) {
      found.push(wordsOfList(line) ?? line);
      continue;
    }
    const end = lines.findIndex((one, index) => index > at && one.replace(/^\t+/, '') === mark);
    found.push(lines.slice(at + 1, end === -1 ? lines.length : end).join('\n'));
    if (end === -1) break;
    at = end;
  }
  return found;
}

/** `["program","word"]`, as a line; null for any other form. */
function wordsOfList(text: string): string | null {
  const list = /^[ \t]*\[(.*)\][ \t]*$/.exec(text)?.[1];
  if (list === undefined) return null;
  const words = Array.from(list.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, word = '']) => word.replace(/\\(.)/g, '$1'));
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}
