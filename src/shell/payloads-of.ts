import type { CommandWord } from '../schema/command.ts';
import { builtinPayloads } from './assigned.ts';
import { linesInCode, linesOfSed } from './code-lines.ts';
import { finderPayloads, finders } from './finder-payload.ts';
import { assigned, launcherPayloads } from './launcher-payload.ts';
import { launcherOf, launches } from './launchers.ts';
import { lineOptions } from './line-options.ts';
import { namedLines } from './named-options.ts';
import { codeLines, type Payload } from './payload.ts';
import { baseName, gnuName, shells } from './programs.ts';
import { runtimeLines } from './runtime-options.ts';
import { scriptPayload, shellPayload } from './shell-payload.ts';

/** The payloads of a command (02 §9.3, §9.5); none for a program that starts no other one that its words name. */
export function payloadsOf(words: readonly CommandWord[]): readonly Payload[] {
  const [program, ...rest] = words;
  if (program === undefined) return [];
  const name = gnuName(baseName(program.text));
  if (shells.has(name)) return shellPayload(name, rest);
  // Where `time` is a word of the shell, its options look like a program of their own; where it is a file, it runs on.
  const time = name.startsWith('-') ? launcherOf('time') : undefined;
  if (time !== undefined) return launcherPayloads('time', time, words);
  if (name === 'eval')
    return rest.length === 0 ? [] : [{ kind: 'line', words: rest[0]?.text === '--' ? rest.slice(1) : rest }];
  // Its variables are words of its own.
  if (/^[bg]?make$/.test(name)) {
    // `LINK.c` and its like hold whole lines.
    const lines = rest.flatMap((word) => {
      const made = /^[A-Z]+\.[\w.]+[:?+]*=/.exec(word.text)?.[0];
      return made === undefined
        ? []
        : [{ kind: 'guess' as const, words: [{ ...word, text: word.text.slice(made.length) }] }];
    });
    return [...rest.flatMap(assigned), ...lines, ...optionPayloads(name, rest), ...codePayloads(name, rest)];
  }
  if (name === 'trap') {
    const [action, signal] = rest[0]?.text === '--' ? rest.slice(1) : rest;
    return action === undefined || signal === undefined || action.text === '-' || action.text === '-l'
      ? []
      : [{ kind: 'line', words: [action] }];
  }
  if (name === 'alias') {
    return rest.flatMap((word) => {
      const at = word.text.indexOf('=');
      return at < 1 ? [] : [{ kind: 'line' as const, words: [{ ...word, text: word.text.slice(at + 1) }] }];
    });
  }
  // The file that a name stands for from here on.
  if (name === 'hash' && rest[0]?.text === '-p') return [{ kind: 'words', words: rest.slice(1, 2) }];
  if (name === 'source' || name === '.') {
    const words = rest[0]?.text === '--' ? rest.slice(1) : rest;
    return words[0] === undefined ? [] : [scriptPayload(words[0], words)];
  }
  const runners = Object.hasOwn(finders, name) ? finders[name] : undefined;
  if (runners !== undefined) return finderPayloads(runners, rest);
  // Alone it gives the shell itself something else to read.
  if (name === 'exec' && rest.length === 0) return [{ kind: 'input' }];
  // What `git` itself starts for its subcommands, and what they are called where they are files.
  if (/^git-[a-z]/.test(name)) {
    const git = { text: 'git', path: 'git', open: false };
    const subcommand = name.slice('git-'.length);
    return [{ kind: 'words', words: [git, { ...git, text: subcommand, path: subcommand }, ...rest] }];
  }
  const launcher = launcherOf(name);
  const texts = rest.map((word) => word.text);
  if (launcher !== undefined && launches(name, texts)) {
    if (tellsOfItself(texts) || (name === 'command' && onlyLooks(texts))) return [];
    return [
      ...launcherPayloads(name, launcher, rest),
      ...optionPayloads(name, rest, true),
      ...codePayloads(name, rest),
    ];
  }
  return [
    ...(launcher === undefined ? [] : behindOpenWord(launcher.subcommands, rest)),
    ...builtinPayloads(name, rest),
    ...optionPayloads(name, rest),
    ...codePayloads(name, rest),
  ];
}

/** `kubectl $X pod -- line`: where the shell alone knows the subcommand, what stands behind `--` may be started. */
function behindOpenWord(subcommands: readonly string[], rest: readonly CommandWord[]): readonly Payload[] {
  const at = rest.findIndex(({ open }) => open);
  const end = rest.findIndex(({ text }) => text === '--');
  if (subcommands.length === 0 || at === -1 || end < at || end === rest.length - 1) return [];
  const isOption = (index: number): boolean => rest[index]?.text.startsWith('-') === true;
  const isFirst = rest.slice(0, at).every((_, index) => isOption(index) || isOption(index - 1));
  return isFirst ? [{ kind: 'words', words: rest.slice(end + 1) }] : [];
}

/** `command -v name` says what a name stands for. */
function onlyLooks(words: readonly string[]): boolean {
  const options = words.slice(
    0,
    words.findIndex((word) => !/^-[pvV]+$/.test(word)),
  );
  return options.some((word) => /[vV]/.test(word));
}

/** What the code in the words of a program starts. */
function codePayloads(name: string, rest: readonly CommandWord[]): readonly Payload[] {
  if (name === 'sed' || name === 'gsed') return codeLines(linesOfSed(rest));
  return rest.flatMap(({ text }) => {
    const option = /^--[\w-]+=/.exec(text)?.[0] ?? '';
    return codeLines(linesInCode(name, text.slice(option.length)));
  });
}

/** What the options of a program have it start. */
const optionPayloads = (name: string, rest: readonly CommandWord[], starts = false): readonly Payload[] => [
  ...lineOptions(name, rest).map((word) => ({ kind: 'line' as const, words: [word] })),
  ...[...runtimeLines(name, rest), ...namedLines(name, rest, starts)].map((word) => ({
    kind: 'guess' as const,
    words: [word],
  })),
];

/** A launcher that only says what it is: behind that word stands no command. */
const tellsOfItself = ([only, ...more]: readonly string[]): boolean =>
  more.length === 0 && (only === '--version' || only === '--help');
