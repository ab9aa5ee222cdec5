import { firstGroups } from '../text/first-groups.ts';

/** Most lines of one word that are looked at. */
const maxLines = 256;

const awks: ReadonlySet<string> = new Set('awk gawk mawk nawk original-awk goawk'.split(' '));
/** What `system` is given, and what stands before or behind a pipe. */
const awkLine = /system\s*\(\s*"((?:[^"\\]|\\.)*)"|\|&?\s*"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline/g;
/** Behind the command `e`, to the end of the line. */
const sedLine = /(?:^|[\s;{}\d$/!,])e[ \t]+([^\n]+)/g;

/** The lines that a script of `awk` or `sed` hands to a shell, as far as it spells them out. */
export function linesInCode(name: string, script: string): readonly string[] {
  if (name === 'sed' || name === 'gsed') return firstGroups(sedLine, script, maxLines);
  if (!awks.has(name)) return [];
  return firstGroups(awkLine, script, maxLines).map((line) => line.replace(/\\(["\\])/g, '$1'));
}
