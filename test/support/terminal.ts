import { spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';
import { type CliHome, cliEnvironment, program } from './run-cli.ts';

/** The program in a real pseudo-terminal, with an emulator that holds the screen as a person would see it. */
export type CliTerminal = {
  /** Everything that was written, escape bytes included. */
  bytes(): string;
  /** The emulated lines, scrollback included, without trailing blanks. */
  screen(): string;
  /** Resolves when the screen holds the text. @throws with the screen, when the program ends without it or it never comes */
  saw(text: string): Promise<void>;
  type(keys: string): void;
  /**
   * Presses a key until the screen is as wanted, each time after a pause: a question ignores keys for a moment (06 §9).
   * The pause is longer than that moment and than most answers take, so that one key is enough as a rule. One too many,
   * on a busy machine, goes to what lies below: wait for the question's end rather than for what comes after it.
   * @throws when the program ends before
   */
  press(key: string, wanted: string | ((screen: string) => boolean)): Promise<void>;
  /**
   * Answers a question of lines until the screen is as wanted: again only where it says that the answer came too early, or
   * the second answer would be one to what comes next. @throws when the program ends before
   */
  answer(line: string, wanted: string): Promise<void>;
  kill(signal: string): void;
  /** The rows in view, top to bottom, without trailing blanks. */
  rows(): readonly string[];
  /** Where the cursor stands, both from 0. */
  cursor(): { readonly column: number; readonly row: number };
  /** What a program can leave switched on: screen, cursor, paste, focus and mouse reports. */
  modes(): Readonly<Record<'alternate' | 'paste' | 'focus' | 'mouse', boolean>>;
  resize(columns: number, rows: number): void;
  /** The window is closed: whoever reads or writes its terminal finds it gone. */
  close(): void;
  /** Resolves when the rows in view are as wanted. @throws when the program ends before */
  until(holds: (rows: readonly string[]) => boolean, what: string): Promise<void>;
  readonly ended: Promise<{ readonly code: number; readonly signal: number | undefined }>;
};

/** Shorter than a test may take, so that it fails with what was on the screen. */
const mostMs = 45_000;
const pauseMs = 450;

export function openTerminal(
  home: CliHome,
  argv: readonly string[],
  options: {
    readonly columns?: number;
    readonly rows?: number;
    readonly cwd?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly command?: readonly string[];
  } = {},
): CliTerminal {
  const columns = options.columns ?? 100;
  const height = options.rows ?? 40;
  const screen = new headless.Terminal({ cols: columns, rows: height, scrollback: 5000, allowProposedApi: true });
  const [file = process.execPath, ...before] = options.command ?? [process.execPath, program];
  const pty = spawn(file, [...before, ...argv], {
    cols: columns,
    rows: height,
    cwd: options.cwd ?? home.workspace,
    env: { ...cliEnvironment(home, options.environment) },
  });
  let bytes = '';
  let over = false;
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  pty.onData((data) => {
    bytes += data;
    screen.write(data, wake);
  });
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      // What is still being drawn is drawn first.
      screen.write('', () => {
        over = true;
        wake();
        resolve({ code: exitCode, signal });
      });
    });
  });
  const read = () => {
    const { active } = screen.buffer;
    const lines: string[] = [];
    for (let index = 0; index < active.length; index += 1) {
      const line = active.getLine(index);
      const text = line?.translateToString(true) ?? '';
      if (line?.isWrapped === true) lines.push(`${lines.pop() ?? ''}${text}`);
      else lines.push(text);
    }
    return lines.join('\n').trimEnd();
  };
  const until = (holds: (screen: string) => boolean, what: string) =>
    new Promise<void>((resolve, reject) => {
      const settle = (done: () => void) => {
        clearTimeout(late);
        watchers.delete(look);
        done();
      };
      const missed = () => settle(() => reject(new Error(`never saw ${what} on:\n${read()}`)));
      const late = setTimeout(missed, mostMs);
      const look = () => {
        if (holds(read())) settle(resolve);
        else if (over) missed();
      };
      watchers.add(look);
      look();
    });
  const inView = () => {
    const { active } = screen.buffer;
    return Array.from(
      { length: screen.rows },
      (_, index) =>
        active
          .getLine(active.viewportY + index)
          ?.translateToString(true)
          .trimEnd() ?? '',
    );
  };
  return {
    rows: inView,
    cursor: () => ({ column: screen.buffer.active.cursorX, row: screen.buffer.active.cursorY }),
    modes: () => ({
      alternate: screen.buffer.active.type === 'alternate',
      paste: screen.modes.bracketedPasteMode,
      focus: screen.modes.sendFocusMode,
      mouse: screen.modes.mouseTrackingMode !== 'none',
    }),
    resize: (to, rows) => {
      screen.resize(to, rows);
      pty.resize(to, rows);
    },
    until: (holds, what) => until(() => holds(inView()), what),
    bytes: () => bytes,
    screen: read,
    saw: (text) => until((shown) => shown.includes(text), JSON.stringify(text)),
    press: async (key, wanted) => {
      const holds = typeof wanted === 'string' ? (shown: string) => shown.includes(wanted) : wanted;
      const again = setInterval(() => {
        if (!over && !holds(read())) pty.write(key);
      }, pauseMs);
      try {
        await until(holds, typeof wanted === 'string' ? JSON.stringify(wanted) : 'what was wanted');
      } finally {
        clearInterval(again);
      }
    },
    answer: async (line, wanted) => {
      const refusals = () => read().split('came before the question was read').length;
      while (!read().includes(wanted)) {
        const before = refusals();
        pty.write(`${line}\r`);
        await until((shown) => shown.includes(wanted) || refusals() > before, JSON.stringify(wanted));
      }
    },
    type: (keys) => pty.write(keys),
    kill: (signal) => pty.kill(signal),
    // The stream of the other end is not in the type.
    close: () => (pty as unknown as { _socket: { destroy(): void } })._socket.destroy(),
    ended,
  };
}
