import { quote } from '../text/quote.ts';
import type { Flags } from './parse.ts';
import type { Failure } from './report-error.ts';

/** Flags that say where what a command names is kept. Variables of the environment stay; flags end with the command. */
const placeFlags = ['data-dir', 'db', 'tenant'] as const;

/**
 * Makes an advised command reach what this invocation reached, so that it works when it is pasted (06 §2.3): an ask of
 * a run with `--data-dir` is answered with the same flag. What shows forms or help stays as it is.
 */
export function placeCommands(flags: Pick<Flags, 'text'>): (command: string) => string {
  const given = placeFlags.flatMap((name) => {
    const value = flags.text(name);
    return value === null ? [] : [{ flag: `--${name}`, text: `--${name} ${quote(value)}` }];
  });
  return (command) => {
    if (!command.startsWith('reins ') || /^reins help\b|--help\b/.test(command)) return command;
    const missing = given.filter(({ flag }) => !command.includes(`${flag} `) && !command.includes(`${flag}=`));
    return ['reins', ...missing.map(({ text }) => text), command.slice('reins '.length)].join(' ');
  };
}

/** The failure with its commands placed; a mistake on the command line shows forms, which are not pasted. */
export const withPlaces = (failure: Failure, placed: (command: string) => string): Failure =>
  failure.code === 'usage' ? failure : { ...failure, hints: failure.hints.map(placed) };
