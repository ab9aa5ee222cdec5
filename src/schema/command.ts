import type { Way } from '../text/patch-names.ts';

/** How a `local_shell` call is read (02 §9). One reader for gate, card and executor: `shell/read-line.ts`. */

/** A word of a command, as the shell would hand it over. */
export type CommandWord = {
  /** Quotes removed, known variables put in; what is not known stands as it was written. */
  readonly text: string;
  /** As `text`, with U+0000 where the shell puts in the home directory (`~`, `$HOME`). */
  readonly path: string;
  /** As `path`, where the names that the line gives no value have none; absent where that is the same. */
  readonly unset?: string;
  /** Something in it is decided by the shell when it runs: a pattern, an expansion whose value is not known. */
  readonly open: boolean;
  /** A program puts something else in its place, or behind it: what `find` has found, what `xargs` reads. */
  readonly filled?: boolean;
  /** A part of it that only the run knows, where the line tells what gives it. */
  readonly unknown?: UnknownPart;
};

/** What stands before and behind such a part, as in `path`, and what it may come from. */
export type UnknownPart = {
  readonly before: string;
  readonly behind: string;
  /** The shell, or the program that gets it, makes several words of it. */
  readonly split: boolean;
  readonly origins: readonly Origin[];
};

/** What gives a text that only the run knows: a command that prints it, a text of the line itself, or anything else. */
export type Origin =
  | {
      readonly kind: 'printed';
      readonly words: readonly CommandWord[];
      readonly input: readonly Origin[];
      /** What it prints of what the line spells out: an `echo`. */
      readonly texts: readonly string[];
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file' };

export type CommandRedirect = {
  readonly operator: string;
  /** Null for a here-document. */
  readonly target: CommandWord | null;
  /** The target is opened for writing. */
  readonly writes: boolean;
};

/** A command anywhere in a call. One that was revealed stands in the words of another: it tightens and grants nothing. */
export type FoundCommand = {
  readonly words: readonly CommandWord[];
  readonly redirects: readonly CommandRedirect[];
  /** What the line gives to a name: no word of any program, but a place that it speaks of. */
  readonly values: readonly CommandWord[];
  /** The variable by which another command gets them, which may write there (`GIT_TRACE=x git status`); absent: none does. */
  readonly variable?: string | null;
  /** Where its relative paths may lie, after a literal `cd` before it: below the call's directory (`''`), or elsewhere. */
  readonly directories: readonly string[];
  readonly revealed: boolean;
  /** Files on the disk that hold a patch which it applies; absent where there are none. */
  readonly patches?: readonly Patch[];
};

/** A patch in a file; `unseen` stands for the names in it where they cannot be told. */
export type Patch = Way & { readonly file: CommandWord; readonly unseen: CommandWord };

export type LineOperator = '&&' | '||' | '|';

/** A call made of audited parts only (02 §9.4): what an allowlist may judge, and what then runs. */
export type GrantableLine = {
  readonly commands: readonly {
    readonly words: readonly string[];
    /** As they are written again, such as `2>/dev/null`. */
    readonly redirects: readonly string[];
  }[];
  /** Between one command and the next. */
  readonly operators: readonly LineOperator[];
};

type Read = {
  /** `unreadable` and `unnameable` (02 §9.3) raise an `allow` to an ask; what was not read is scanned as raw text. */
  readonly verdict: 'readable' | 'unreadable' | 'unnameable';
  /** Why it is not readable, else null. */
  readonly detail: string | null;
  readonly commands: readonly FoundCommand[];
  readonly grant:
    | { readonly ok: true; readonly line: GrantableLine }
    | { readonly ok: false; readonly construct: string };
  /** Why the tool refuses to start it (`needs_shell`), else null; it is judged all the same. */
  readonly refusal: string | null;
};

export type CommandReading =
  | (Read & {
      readonly form: 'argv';
      readonly words: readonly string[];
      /** Words that hold an unquoted `*`, `?` or `[` (05 §3.7 `not_expanded`). */
      readonly unexpanded: readonly string[];
      /** The line outside its single quotes; null when the call has `args`. */
      readonly unquoted: string | null;
    })
  | (Read & {
      readonly form: 'sh';
      readonly line: string;
      /** The line outside its single quotes; null when it does not parse. */
      readonly unquoted: string | null;
    })
  /** Refused by the tool before anybody is asked; the evaluator treats it as unreadable. */
  | {
      readonly form: 'none';
      readonly verdict: 'unreadable';
      readonly raw: string;
      readonly error: 'invalid_arguments';
      readonly message: string;
    };
