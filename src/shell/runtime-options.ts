import type { CommandWord } from '../schema/command.ts';
import { splitWords } from '../text/posix-words.ts';
import { literalWord } from './words.ts';

/**
 * Options by which a runtime starts a line. They reach it by way of other programs and of variables, so Java's count in the
 * words of any program that does not only print or look for them, and in the value of any name: nothing else is spelled like them.
 */

const telling: ReadonlySet<string> = new Set('echo printf grep egrep fgrep rg ag ack'.split(' '));
const erlang: ReadonlySet<string> = new Set('erl werl iex elixir'.split(' '));

/** Of the words of a program. */
export function runtimeLines(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  if (erlang.has(name)) return erlangLines(rest);
  if (telling.has(name)) return [];
  return rest.flatMap(({ text, open }) => (open || !handed.test(text) ? [] : linesOfJava(text)));
}

/** As an option of its own, behind the `-J` of a tool, or among those that a property holds for another runtime. */
const handed = /^(?:-J|-[DP][\w.-]{1,256}=.*)?-XX:/s;
const onError = /-XX:On(?:OutOfMemory)?Error=/;

/** Behind the option: all of the rest, and the rest as far as its first word goes, which may stand in quotes. */
export function linesOfJava(text: string): readonly CommandWord[] {
  const option = onError.exec(text);
  if (option === null) return [];
  const rest = text.slice(option.index + option[0].length);
  const [first = ''] = splitWords(rest).words;
  return [...new Set([rest, first])].filter((line) => line !== '').map(literalWord);
}

/** `-s os cmd line`, `-run os cmd line`, and code in which quotes may be missing, since variables lose them. */
function erlangLines(rest: readonly CommandWord[]): readonly CommandWord[] {
  const called = rest.flatMap(({ text }, at) =>
    /^-(?:s|run)$/.test(text) && rest[at + 1]?.text === 'os' && rest[at + 2]?.text === 'cmd'
      ? rest.slice(at + 3, at + 4)
      : [],
  );
  const spelled = rest.flatMap(({ text, open }) => {
    const line = open ? undefined : /\bos:cmd\(\s{0,16}["']?([^"')]{1,4096})/.exec(text)?.[1];
    return line === undefined ? [] : [literalWord(line.replaceAll('\\ ', ' '))];
  });
  return [...called, ...spelled];
}
