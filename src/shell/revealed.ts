import type { CommandRedirect, CommandWord } from '../schema/command.ts';
import { expandingLine } from './assigned.ts';
import type { createDirectories } from './directories.ts';
import { type Around, type createInputs, isProgram } from './inputs.ts';
import type { Payload } from './payload.ts';
import { shells } from './programs.ts';
import type { createScriptFiles } from './script-files.ts';
import type { ParseScript, Script } from './script.ts';
import type { Doubts } from './started.ts';

/** How deep a command may stand in another (02 §9.3). */
const maxDepth = 4;
/** Most text that is read again because a command hands it to a shell. */
const maxRevealedText = 262_144;

type Parts = {
  readonly parse: ParseScript | null;
  readonly files: ReturnType<typeof createScriptFiles<Around>>;
  readonly directories: ReturnType<typeof createDirectories>;
  readonly inputs: Pick<ReturnType<typeof createInputs>, 'printedBy'>;
  readonly doubts: Doubts;
  needsParser(): void;
  script(read: Script, around: Around): void;
  command(words: readonly CommandWord[], redirects: readonly CommandRedirect[], around: Around): void;
};

/** Reads what stands in the words of a command, or in what it takes from its input, as commands of their own (02 §9.3). */
export function createReveal({ parse, files, directories, inputs, doubts, needsParser, script, command }: Parts) {
  let revealedText = 0;

  return (payload: Payload, name: string, { depth, input, origins }: Around): void => {
    if (payload.kind === 'unreadable') {
      doubts.unread(`not read: ${payload.why}`);
      return;
    }
    if (payload.kind === 'unnamed') {
      doubts.unnamed(payload.why);
      return;
    }
    if (payload.kind === 'script') {
      files.start(payload.words, { depth: depth + 1, input, origins });
      return;
    }
    if (payload.kind === 'words') {
      if (payload.words.length === 0) return;
      if (depth >= maxDepth) doubts.unread(`commands stand in one another more than ${maxDepth} deep`);
      else if (isScript(name)) {
        command(payload.words, [], { depth: depth + 1, input, origins });
        if (!(payload.words[0]?.text ?? '').includes('/'))
          files.start(payload.words, { depth: depth + 1, input, origins });
      } else command(payload.words, [], { depth: depth + 1, input, origins });
      return;
    }
    const open = payload.kind === 'line' ? payload.words.find((word) => word.open)?.text : undefined;
    const given = payload.kind === 'input' ? input.find(isProgram) : undefined;
    if ((open ?? given) !== undefined) doubts.unnamed(`what ${name} runs is no literal: ${open ?? given}`);
    const own = payload.kind === 'input' ? null : payload.words.map((word) => word.text).join(' ');
    const line = payload.kind === 'text' ? expandingLine(own ?? '') : own;
    const program = open !== undefined && isProgram(open) ? inputs.printedBy(open) : [];
    for (const text of line === null ? input : [line, ...program]) {
      // What a shell reads from a program or a file is not seen (02 §7.3).
      if (text === '' || (payload.kind === 'input' && isProgram(text))) continue;
      revealedText += text.length;
      if (parse === null) {
        needsParser();
      } else if (depth >= maxDepth) {
        doubts.unread(`commands stand in one another more than ${maxDepth} deep`);
      } else if (revealedText > maxRevealedText) {
        doubts.unread('too much text stands in the words of other commands');
      } else {
        const before = directories.current();
        const read = parse(text);
        if (payload.kind === 'guess' && read.error !== null) continue;
        const behind = payload.kind === 'input' ? { input: [], origins: [] } : { input, origins };
        script(read, { depth: depth + 1, ...behind });
        if (name !== 'eval') directories.back(before);
      }
    }
  };
}

/** It takes the first of its words for a file with lines. */
const isScript = (name: string): boolean => shells.has(name) || name === 'source' || name === '.';
