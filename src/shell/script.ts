/** A command line as a grammar has read it, in our own words: nothing else in the house knows the parser. */

/** A part of a word. */
export type Piece =
  | { readonly kind: 'text'; readonly value: string }
  /** `~` at a place where the shell puts in the home directory. */
  | { readonly kind: 'home' }
  | { readonly kind: 'variable'; readonly name: string; readonly text: string; readonly quoted: boolean }
  /** What a substituted command prints. */
  | { readonly kind: 'output'; readonly steps: readonly Step[]; readonly text: string; readonly quoted: boolean }
  /** `{a,b}`, read again when it is expanded. */
  | { readonly kind: 'brace'; readonly text: string }
  /** `unset`: what it stands for where its name has no value; `path`: what it most likely is, as a place. */
  | {
      readonly kind: 'open';
      readonly text: string;
      readonly unset?: string;
      readonly path?: string;
      /** Of what name it is made. */
      readonly name?: string;
      /** The word that may stand in its place, `${X:-a}`. */
      readonly otherwise?: ScriptWord;
      /** What is taken away from the value of that name. */
      readonly removal?: Removal;
      /** What prints the file that it stands for, `<(..)`. */
      readonly steps?: readonly Step[];
    };

/** What `${X#a}` and its like take away; the pattern is null where it is not known. */
export type Removal = { readonly operator: string; readonly pattern: string | null };

export type ScriptWord = readonly Piece[];

export type ScriptRedirect = {
  readonly operator: string;
  readonly target: ScriptWord | null;
  /** Text of a here-document, as the command reads it but for what is expanded. */
  readonly body: string | null;
};

/** One command, what a loop or an assignment gives to a name, or a file that `[[..]]` looks at, in the order of the text. */
export type Step =
  | {
      readonly kind: 'command';
      readonly words: readonly ScriptWord[];
      readonly redirects: readonly ScriptRedirect[];
      /** What stands before the pipe that this one, or the group around it, reads from. */
      readonly input: readonly Step[];
    }
  | {
      readonly kind: 'values';
      /** Null where nothing gets them: they are looked at. */
      readonly name: string | null;
      readonly words: readonly ScriptWord[];
      /** What comes later in the line has one of them; else the name may still hold what it held before. */
      readonly certain: boolean;
      /** They stand behind what the name held before. */
      readonly append: boolean;
      /** They stand before a command, which gets them in its environment. */
      readonly given?: boolean;
    }
  /** What stands behind this name is a function; its commands are steps before this one. */
  | { readonly kind: 'function'; readonly name: string }
  /** Steps before this one are those of a loop: they may run again behind what comes later. */
  | { readonly kind: 'loop' };

export type Script = {
  readonly steps: readonly Step[];
  /** Why the text is not read whole, else null. */
  readonly error: string | null;
  /** Begin and end of each single-quoted part that stands in no substitution. */
  readonly singleQuoted: readonly (readonly [number, number])[];
};

export type ParseScript = (text: string) => Script;
