import type { CommandWord } from '../schema/command.ts';
import type { Action, PolicyCall, PolicyHost, TrustedBinaries, TrustedStart, TrustFinding } from '../schema/policy.ts';
import { builtInProviders } from '../schema/tool-names.ts';
import type { Analysis } from './analysis.ts';
import { foreignPath } from './foreign-paths.ts';
import type { GlobPlaces } from './glob.ts';
import { type Collected, namedPaths } from './named-paths.ts';
import { placedNames } from './placed-names.ts';
import { withPatches } from './patched.ts';
import { comparable, type PathValue, pathValue, placesOf } from './paths.ts';
import { bounded, type Taken } from './taken.ts';
import { takenPlaces } from './taken-along.ts';
import { noTexts, textWords } from './text-words.ts';
import { unknownOperands } from './unknown-operands.ts';

export type Result = 'true' | 'false' | 'indeterminate';

/** What an operator found; `detail` says in words what was caught or what failed. */
export type Reading = {
  readonly result: Result;
  readonly detail: string | null;
  /** Of `indeterminate`: a rule that denies does not match by it either, but no `allow` stands. */
  readonly asks?: true;
  /** Something was not read on the way: no `allow` stands, whatever else matches. */
  readonly floor?: string;
  /** Why `trusted_binaries` withdrew an allow. */
  readonly trust?: TrustFinding;
  /** How the programs of a granted call start, where `trusted_binaries` judged them. */
  readonly starts?: readonly TrustedStart[];
};

export const no: Reading = { result: 'false', detail: null };
export const yes = (detail: string): Reading => ({ result: 'true', detail });
export const notBecause = (detail: string): Reading => ({ result: 'false', detail });
export const unclear = (detail: string): Reading => ({ result: 'indeterminate', detail });
/** What only the shell knows: a person is asked, since most of what it may be is not meant (02 §9.3). */
export const perhaps = (detail: string): Reading => ({ ...unclear(detail), asks: true });

/** One call under judgement: every fact is looked up when first needed, and once. */
export type Scope = {
  readonly call: PolicyCall;
  readonly host: PolicyHost;
  /** The block of the document when it has an entry, else null (02 §10.1). */
  readonly trusted: TrustedBinaries | null;
  places(): GlobPlaces;
  path(text: string): PathValue;
  /** The guarded paths of the host, comparable. */
  guarded(): PolicyHost['guarded'];
  /** The analysed command of a `local_shell` call. */
  analysis(): Analysis;
  /** The paths that an analysed line may name; many rules ask for them. */
  named(analysis: Analysis): readonly PathValue[];
  /** Whether those are all of them. */
  namedWhole(analysis: Analysis): boolean;
  /** Those of them that a program takes for paths, by what is known of it. */
  meant(analysis: Analysis): readonly PathValue[];
  /** The words that name nothing, by what is known of their program. */
  texts(analysis: Analysis): ReadonlySet<CommandWord>;
  /** Those that it may take for paths, if another word is what only the run knows. */
  doubted(analysis: Analysis): readonly PathValue[];
  /** The directories that an analysed line takes with all they hold. */
  taken(analysis: Analysis): readonly Taken[];
  /** What refuses another call under the rules of the same document, its default aside: a rule in words, or null. */
  refusedBy(tools: string, tool: string, args: PolicyCall['args']): string | null;
};

type Meant = {
  readonly sure: readonly PathValue[];
  readonly texts: ReadonlySet<CommandWord>;
  readonly doubted: readonly PathValue[];
};

export function createScope(
  call: PolicyCall,
  host: PolicyHost,
  trusted: TrustedBinaries | null,
  analyse: () => Analysis,
  refusedBy: Scope['refusedBy'] = () => null,
): Scope {
  const paths = new Map<string, PathValue>();
  let places: GlobPlaces | null = null;
  let guarded: PolicyHost['guarded'] | null = null;
  let analysis: Analysis | null = null;
  const named = new Map<Analysis, Collected>();
  const meant = new Map<Analysis, Meant>();
  const taken = new Map<Analysis, readonly Taken[]>();
  const comparables = (texts: readonly string[]): readonly string[] => texts.map((text) => comparable(text, host));
  const path = (text: string): PathValue => {
    const known = paths.get(text);
    if (known !== undefined) return known;
    const value = pathValue(isOwn(call.tools) ? text : foreignPath(text), host);
    paths.set(text, value);
    return value;
  };
  const withPlaced = ({ commands }: Analysis, found: Collected): Collected => {
    const placed = commands.flatMap((command) => placedNames(command, host, path));
    return placed.length === 0 ? found : { ...found, paths: [...found.paths, ...placed.map(path)] };
  };
  const readNamed = (line: Analysis): Collected => {
    const known = named.get(line);
    if (known !== undefined) return known;
    const found = withPlaced(line, namedPaths(line, host, path));
    named.set(line, found);
    return found;
  };
  const readMeant = (line: Analysis): Meant => {
    const known = meant.get(line);
    if (known !== undefined) return known;
    // Who runs the line of another toolset is not known.
    const { texts, doubtful } = call.tools === 'local_shell' ? textWords(line, host) : noTexts;
    const without = (left: ReadonlySet<CommandWord>): readonly PathValue[] =>
      (left.size === 0 ? readNamed(line) : withPlaced(line, namedPaths(line, host, path, left))).paths;
    const sure = without(doubtful.size === 0 ? texts : new Set([...texts, ...doubtful]));
    const found = {
      sure,
      texts,
      doubted: doubtful.size === 0 ? [] : without(texts).filter((one) => !sure.includes(one)),
    };
    meant.set(line, found);
    return found;
  };
  return {
    call,
    host,
    trusted,
    refusedBy,
    path,
    places() {
      places ??= placesOf(host);
      return places;
    },
    guarded() {
      guarded ??= {
        secrets: comparables(host.guarded.secrets),
        secretPrefixes: comparables(host.guarded.secretPrefixes),
        plane: comparables(host.guarded.plane),
        path: comparables(host.guarded.path),
        instructions: comparables(host.guarded.instructions),
      };
      return guarded;
    },
    analysis() {
      analysis ??= withPatches(analyse(), host, path);
      return analysis;
    },
    named: (line) => readNamed(line).paths,
    namedWhole: (line) => readNamed(line).whole,
    meant: (line) => readMeant(line).sure,
    texts: (line) => readMeant(line).texts,
    doubted: (line) => readMeant(line).doubted,
    taken(line) {
      const known = taken.get(line);
      if (known !== undefined) return known;
      const found = bounded([...takenPlaces(line, host, path), ...unknownOperands(line, host, path)]);
      taken.set(line, found);
      return found;
    },
  };
}

/** Whether a toolset is the program's own, whose arguments are what their names say and nothing else. */
export const isOwn = (tools: string): boolean => builtInProviders.includes(tools);

/** Judges one comparable name of a path; made once for an operand, since it is asked for every call. */
export type PathTest = (comparable: string, scope: Scope) => boolean;

/** Lexical and real path must both match under `allow`, either suffices else (02 §7.2). */
export function pathMatches(path: PathValue, test: PathTest, scope: Scope, action: Action): boolean {
  const first = test(path.lexical, scope);
  if (first !== (action === 'allow') || path.real() === path.lexical) return first;
  return test(path.real(), scope);
}
