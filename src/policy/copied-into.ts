import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { isStandard, namedPaths, placesOfWord, type ReadPath } from './named-paths.ts';
import { judgeWords, tableOf } from './option-tables.ts';
import type { Taken } from './taken-along.ts';

/** What a copied directory brings into its target: files that no word names, and that may be written over there. */

/** Options of these programs whose value is the next word. */
const valued =
  /^(?:-[A-Za-z]*e|-[SCMTBf]|--(?:exclude|include|filter|rsh|exclude-from|include-from|files-from|backup-dir|suffix|chmod|chown|partial-dir|link-dest|compare-dest|copy-dest|temp-dir|max-size|min-size|bwlimit|port|timeout|log-file|rsync-path|password-file))$/;

/** Another machine, for `scp` and `rsync`. */
const remote = /^[^/]*:/;

/**
 * The directories that a recursive copy fills. Where its source is here and nothing else in the line may fill that, only
 * what lies in it now is copied; of any other source nobody knows what it holds.
 */
export function copiedInto(
  command: FoundCommand,
  analysis: Analysis,
  host: PolicyHost,
  read: ReadPath,
): readonly Taken[] {
  const [program, ...rest] = command.words;
  const name = baseName(program?.text ?? '');
  const at = rest.findIndex(({ text }) => /^(?:-[A-Za-z]*t|--target-directory)$/.test(text) && name !== 'rsync');
  const behind = at === -1 ? undefined : rest[at + 1];
  const attached = rest.flatMap(({ path }) => /^--target-directory=(.+)$/s.exec(path)?.[1] ?? []);
  const operands = rest.filter(
    (word, index) =>
      word !== behind && !word.text.startsWith('-') && (name === 'cp' || !valued.test(rest[index - 1]?.text ?? '')),
  );
  const named = [...(behind === undefined ? [] : [behind]), ...attached.map(literal)];
  const targets = named.length > 0 ? named : operands.slice(1).slice(-1);
  const sources = named.length > 0 ? operands : operands.slice(0, -1);
  const remotes = name !== 'cp' && name !== 'gcp' && name !== 'ditto';
  const whole = rest.some(({ text }) => /^(?:-[A-Za-z]*T|--no-target-directory)$/.test(text) && !remotes);
  const settled = !analysis.commands.some((other) => other !== command && mayFill(other, read));
  return targets
    .filter(({ text }) => !(remotes && remote.test(text)))
    .flatMap((word) => directoriesOf(word, command, host, read))
    .flatMap(({ place, real }) =>
      sources.flatMap((source): readonly Taken[] => {
        const given = `${place}, where ${name} puts what ${source.text} holds,`;
        const taken = { given, real, changes: true, opens: false };
        if (remotes && remote.test(source.text)) return [taken];
        const held = placesOfWord(source, command, host).flatMap((from) => {
          const found = read(from).found();
          // A way back, or a slash at the end, which systems read differently, stands for what lies in it.
          const inner = name === 'ditto' || whole || /(?:^|\/)\.{0,2}$/.test(from);
          const outer = !inner || (from.endsWith('/') && !remotes);
          return [...(inner ? [''] : []), ...(outer ? [`${baseName(found)}/`] : [])].map((lead) => ({ found, lead }));
        });
        // It is made by the line itself, or not there.
        const known = settled && !source.open && held.some(({ found }) => exists(found, host));
        const brought = (path: string): boolean => held.some(({ found, lead }) => comesFrom(path, found, lead));
        const comesFrom = (path: string, found: string, lead: string): boolean => {
          const rest = path.slice(real === '/' ? 1 : real.length + 1);
          const origin = `${found}/${rest.slice(lead.length)}`;
          return rest.startsWith(lead) && (exists(origin, host) || (!settled && isNamed(origin)));
        };
        const isNamed = (origin: string): boolean =>
          namedPaths(analysis, host, read).some((one) => one.found() === origin);
        const arriving: Taken = { ...taken, admits: brought, arrives: true };
        return known ? [arriving] : [taken, arriving];
      }),
    );
}

const literal = (text: string): CommandWord => ({ text, path: text, open: false });

const exists = (real: string, host: PolicyHost): boolean => host.isDirectory(real) || host.hardLinks(real) > 0;

const directoriesOf = (
  word: CommandWord,
  command: FoundCommand,
  host: PolicyHost,
  read: ReadPath,
): readonly { readonly place: string; readonly real: string }[] =>
  placesOfWord(word, command, host)
    .filter((place) => place !== '' && !place.includes('\0'))
    .map((place) => ({ place, real: read(place).found() }))
    .filter(({ real }) => host.isDirectory(real));

/** Commands that put nothing into a directory, beside those whose tables say so. */
const quiet: ReadonlySet<string> = new Set(
  'cd mkdir true : test [ sleep wait exit export set rm rmdir chmod'.split(' '),
);

/** Whether a command may put something into a directory that another one copies. */
function mayFill({ words: [program, ...rest], redirects }: FoundCommand, read: ReadPath): boolean {
  if (redirects.some(({ target, writes }) => writes && target !== null && !isStandard(read(target.path)))) return true;
  if (program === undefined || quiet.has(program.text)) return false;
  const table = tableOf(baseName(program.text), undefined);
  const judged =
    table === undefined
      ? null
      : judgeWords(
          table,
          rest.map(({ text }) => text),
          undefined,
        );
  return judged?.ok !== true || judged.operands.some(({ kind }) => kind === 'write');
}
