import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { isStandard, namedPaths, placesOfWord, type ReadPath } from './named-paths.ts';
import { listedOperands } from './option-tables.ts';
import type { Taken } from './taken.ts';

/** What a copied directory brings into its target: files that no word names, and that may be written over there. */

/** Options of these programs whose value is the next word. */
const valued =
  /^(?:-[A-Za-z]*e|-[SCMTBf]|--(?:exclude|include|filter|rsh|exclude-from|include-from|files-from|backup-dir|suffix|chmod|chown|partial-dir|link-dest|compare-dest|copy-dest|temp-dir|max-size|min-size|bwlimit|port|timeout|log-file|rsync-path|password-file))$/;

/** Another machine, for `scp` and `rsync`. */
const remote = /^[^/]*:/;

/** Most sources of one copy that are looked at, the files that a pattern stands for among them. */
const maxSources = 256;

/** Where a source lies, and what stands before the names of what it holds where they arrive. */
type Held = { readonly found: string; readonly lead: string };

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
  const { name, sources, targets, whole } = readCopy(command);
  const isRemote = ({ text }: CommandWord): boolean => !localCopies.has(name) && remote.test(text);
  const filled = targets.filter((word) => !isRemote(word)).flatMap((word) => directoriesOf(word, command, host, read));
  if (filled.length === 0 || sources.length === 0) return [];
  const settled = !analysis.commands.some((other) => other !== command && mayFill(other, read));
  const held = (source: CommandWord): readonly Held[] =>
    placesOfWord(source, command, host).flatMap((from) => {
      const found = read(from).found();
      // A way back, or a slash at the end, which systems read differently, stands for what lies in it.
      const inner = name === 'ditto' || whole || /(?:^|\/)\.{0,2}$/.test(from);
      const outer = !inner || (from.endsWith('/') && localCopies.has(name));
      return [...(inner ? [''] : []), ...(outer ? [`${baseName(found)}/`] : [])].map((lead) => ({ found, lead }));
    });
  const local = sources.slice(0, maxSources).filter((word) => !isRemote(word));
  const places = local.map(held);
  // It is made by the line itself, or not there.
  const known =
    settled &&
    local.length === sources.length &&
    places.flat().length <= maxSources &&
    places.every((one, at) => local[at]?.open !== true || one.length > 1) &&
    places.every((one) => one.some(({ found }) => exists(found, host)));
  let named: ReadonlySet<string> | null = null;
  const isNamed = (origin: string): boolean => {
    named ??= new Set(namedPaths(analysis, host, read).paths.map((path) => path.found()));
    return named.has(origin);
  };
  const most = places.flat().slice(0, maxSources);
  const given = sources
    .map(({ text }) => text)
    .join(' ')
    .slice(0, 80);
  return filled.flatMap(({ place, real }): readonly Taken[] => {
    const taken = { given: `${place}, where ${name} puts what ${given} holds,`, real, changes: true, opens: false };
    const comesFrom = (rest: string, { found, lead }: Held): boolean => {
      const origin = `${found}/${rest.slice(lead.length)}`;
      return rest.startsWith(lead) && (exists(origin, host) || (!settled && isNamed(origin)));
    };
    const arriving: Taken = {
      ...taken,
      arrives: true,
      admits: (path) => most.some((one) => comesFrom(path.slice(real === '/' ? 1 : real.length + 1), one)),
    };
    return known ? [arriving] : [taken, arriving];
  });
}

/** Those that copy from here to here, however their operands look. */
const localCopies: ReadonlySet<string> = new Set('cp gcp ditto'.split(' '));

function readCopy({ words: [program, ...rest] }: FoundCommand): {
  readonly name: string;
  readonly sources: readonly CommandWord[];
  readonly targets: readonly CommandWord[];
  /** The target is no directory in which it is put, but becomes what the source is. */
  readonly whole: boolean;
} {
  const name = baseName(program?.text ?? '');
  const at = rest.findIndex(({ text }) => /^(?:-[A-Za-z]*t|--target-directory)$/.test(text) && name !== 'rsync');
  const behind = at === -1 ? undefined : rest[at + 1];
  const attached = rest.flatMap(({ path }) => /^--target-directory=(.+)$/s.exec(path)?.[1] ?? []);
  const operands = rest.filter(
    (word, index) =>
      word !== behind &&
      !word.text.startsWith('-') &&
      (localCopies.has(name) || !valued.test(rest[index - 1]?.text ?? '')),
  );
  const into = [...(behind === undefined ? [] : [behind]), ...attached.map(literal)];
  const whole = rest.some(({ text }) => /^(?:-[A-Za-z]*T|--no-target-directory)$/.test(text) && localCopies.has(name));
  return into.length > 0
    ? { name, sources: operands, targets: into, whole }
    : { name, sources: operands.slice(0, -1), targets: operands.slice(1).slice(-1), whole };
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
  const operands = listedOperands(baseName(program.text), rest, undefined);
  return operands === null || operands.some(({ kind }) => kind === 'write');
}
