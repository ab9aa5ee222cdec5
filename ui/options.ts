import type { ReadStream, WriteStream } from 'node:tty';
import type { RuntimeClient } from '../src/client/operations.ts';
import type { UntrustedContent } from '../src/schema/overlay.ts';
import type { PlanRunOptions } from '../src/schema/plan.ts';
import type { StartRun } from '../src/schema/run.ts';
import type { EditedText } from './lend.ts';
import type { PlanUse } from './plan/plan-effects.ts';
import type { Theme } from './theme.ts';

/** Keys of the configuration; null while they are not known. */
export type ConfiguredLook = { readonly theme: string | null; readonly glyphs: string | null };

/** What a face in the terminal is started with. */
export type TuiOptions = {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly errors: WriteStream;
  /** Opens the program at the first call. */
  readonly client: () => Promise<RuntimeClient>;
  /** The request of a turn, but for its text. */
  readonly request: (client: RuntimeClient) => Promise<Omit<StartRun, 'input'>>;
  /** The options of runs that a plan starts. @throws RuntimeError not_trusted */
  readonly planOptions: (client: RuntimeClient, uses: readonly PlanUse[]) => Promise<PlanRunOptions>;
  /** What chats, or plans too, would use of the project and nobody trusts yet. */
  readonly untrusted: (client: RuntimeClient, all: boolean) => Promise<readonly UntrustedContent[]>;
  /** Accepts content of this hash in this program, without a record. */
  readonly trustOnce: (sha256: string) => void;
  readonly session: string | null;
  /** As flags and environment say; `configured` counts where they do not. @throws RuntimeError usage for a broken one */
  readonly theme: (configured: ConfiguredLook) => Theme;
  /** One of the program's or of the operator's own. @throws RuntimeError usage, with what is wrong */
  readonly themeNamed: (name: string) => Theme;
  readonly themeNames: () => readonly string[];
  readonly policy: string | null;
  readonly model: string | null;
  /** Text of `keys.json` as it is now; null = there is none. @throws what keeps it from being read */
  readonly keys: () => string | null;
  readonly cwd: string;
  readonly shell: boolean;
  readonly thinkOpen: boolean;
  /** Gives a text to the editor of the operator, who has the terminal meanwhile. */
  readonly edit: (name: string, text: string) => Promise<EditedText>;
  /** The operator's own directory: the history of the workspace is in it. */
  readonly home: string;
  /** Entries of the history that are kept while nothing is known of what is configured. */
  readonly mostHistory: number;
  /** Root of the workspace, as soon as that is known: the history belongs to it. */
  readonly root: () => Promise<string>;
  /** @throws RuntimeError usage where the file cannot be sent as an image */
  readonly checkImage: (path: string) => Promise<void>;
  /** Rules of git for what it leaves alone that stand in no ignore file of a workspace. Never throws. */
  readonly gitExcludes: (root: string) => string;
  /** Writes a file whole. @throws RuntimeError in_use where the name is taken and `force` is false */
  readonly writeFile: (path: string, force: boolean, pieces: AsyncIterable<string>) => Promise<void>;
  readonly inTmux: boolean;
  /** Puts a text into the clipboard by tmux. @returns whether it took it; never rejects */
  readonly toTmux: (text: string) => Promise<boolean>;
  /** `TERM_PROGRAM`, or empty. */
  readonly terminalProgram: string;
  /** Neither flag nor variable chose a mode: the configured one counts. */
  readonly modeIsOpen: boolean;
  /** The terminal can move its cursor: lines can be edited. */
  readonly editsLines: boolean;
  readonly now: () => number;
  /** What is written while the screen is held goes here. */
  readonly trace: (text: string) => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  /** A line on stderr, once the terminal is free again. */
  readonly say: (line: string) => void;
};
