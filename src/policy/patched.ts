import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { patchedBy } from '../text/patch-names.ts';
import type { Analysis } from './analysis.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';

/** The analysis with the names that stand in patches on the disk: what their commands change. */
export const withPatches = (analysis: Analysis, host: PolicyHost, read: ReadPath): Analysis =>
  analysis.commands.every(({ patches }) => patches === undefined)
    ? analysis
    : { ...analysis, commands: analysis.commands.map((command) => patched(command, host, read)) };

function patched(command: FoundCommand, host: PolicyHost, read: ReadPath): FoundCommand {
  if (command.patches === undefined) return command;
  const names = command.patches.flatMap(({ file, unseen, ...way }) => {
    const places = placesOfWord(file, command, host).filter((place) => place !== '' && !place.includes('\0'));
    const texts = [...new Set(places.map((place) => read(place).found()))].flatMap((real) => host.textOf(real) ?? []);
    const found = texts.flatMap((text) => patchedBy(text, way)?.map(literal) ?? [unseen]);
    return file.open || texts.length === 0 ? [unseen, ...found] : found;
  });
  return { ...command, values: [...command.values, ...names] };
}

const literal = (text: string): CommandWord => ({ text, path: text, open: false });
