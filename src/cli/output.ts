import type { RunEvent } from '../schema/event.ts';
import type { RunResult, RunStarted } from '../schema/run.ts';
import { createStreamEscaper, escapeText } from '../view/escape.ts';
import type { Context } from './context.ts';
import type { Failure } from './report-error.ts';
import {
  eventObject,
  failedObject,
  initObject,
  type ResultExtras,
  type ResultObject,
  resultObject,
  streamLine,
} from './result-json.ts';

/** What stdout gets of a run, by `--output-format` (06 §8). */
export type Output = {
  started(started: RunStarted): Promise<void>;
  event(event: RunEvent): Promise<void>;
  finished(result: RunResult, extras: ResultExtras): Promise<void>;
  /** What failed before or beside the run: every JSON format ends with its object all the same (06 §8.4, §8.5). */
  failed(failure: Failure): Promise<void>;
  /** Whether the whole output value is needed (`awaitRun` with `full`). */
  readonly full: boolean;
};

/** What an output needs of a context: there is none yet where the command line could not be read. */
export type OutputSite = Pick<Context, 'terminal' | 'process' | 'printJson'> & {
  readonly globals: Pick<Context['globals'], 'format' | 'raw'>;
};

export function createOutput(context: OutputSite): Output {
  switch (context.globals.format) {
    case 'text':
      return context.globals.raw ? rawOutput(context) : textOutput(context);
    case 'json':
      return jsonOutput(context);
    case 'stream-json':
      return streamOutput(context);
  }
}

const nothing = async () => undefined;

/**
 * Text: streamed to a terminal on stdout, else the answer once at the end; a copy of the stream goes to stderr when
 * that is a terminal (06 §2.1).
 */
function textOutput(context: OutputSite): Output {
  const { terminal } = context;
  const toOut = terminal.stdoutIsTerminal;
  const toErr = !toOut && terminal.stderrIsTerminal && !terminal.quiet;
  let escaper = createStreamEscaper();
  let streamed = '';
  let copied = false;
  let streamedLast: string | null = null;

  const write = async (text: string): Promise<void> => {
    if (toOut) return terminal.out(text);
    terminal.copy(text);
  };
  const endOfTurn = async () => {
    await write(escaper.end());
    escaper = createStreamEscaper();
    if (streamed === '') return;
    streamedLast = streamed;
    if (!streamed.endsWith('\n')) await write('\n');
    streamed = '';
    copied = true;
  };
  return {
    full: false,
    failed: nothing,
    started: nothing,
    event: async (event) => {
      if (!toOut && !toErr) return;
      if (event.kind === 'step_chunk' && event.content !== undefined && event.content !== '') {
        streamed += event.content;
        await write(escaper.push(event.content));
      } else if (event.kind === 'step_stream_end' || event.kind === 'step_failed') await endOfTurn();
    },
    finished: async (result) => {
      if (toOut || toErr) await endOfTurn();
      if (result.text === '') return;
      // The answer stands on the terminal already (06 §2.1.1).
      if (toOut && copied && streamedLast?.trimEnd() === result.text.trimEnd()) return;
      const text = result.text.endsWith('\n') ? result.text : `${result.text}\n`;
      await terminal.out(toOut ? escapeText(text, { mode: 'prose' }) : text);
    },
  };
}

/** `--raw`: always the full value, a string as a JSON string (06 §8.2). */
function rawOutput(context: OutputSite): Output {
  const { terminal } = context;
  return {
    full: true,
    failed: nothing,
    started: nothing,
    event: nothing,
    finished: async (result) => {
      if (result.output_type === null) return;
      const text = `${JSON.stringify(result.output, null, 2)}\n`;
      await terminal.out(terminal.stdoutIsTerminal ? escapeText(text, { mode: 'prose' }) : text);
    },
  };
}

/** One object at the end. */
function jsonOutput(context: OutputSite): Output {
  return {
    full: true,
    started: nothing,
    event: nothing,
    finished: async (result, extras) => context.printJson(resultObject(result, extras)),
    failed: async (failure) => context.printJson(failedObject(failure)),
  };
}

/** One object per line: `init`, the events, `result`. */
function streamOutput(context: OutputSite): Output {
  const { terminal, process } = context;
  let lines = 0;
  const now = () => new Date(process.now()).toISOString();
  const write = (value: unknown): Promise<void> => {
    const line = streamLine(value);
    return terminal.out(terminal.stdoutIsTerminal ? escapeText(line, { mode: 'prose' }) : line);
  };
  const last = (object: ResultObject): Promise<void> => {
    lines += 1;
    const { type, ...rest } = object;
    return write({ type, seq: lines, timestamp: now(), ...rest });
  };
  return {
    full: true,
    started: (started) => {
      lines = 1;
      return write(initObject(started, now(), process.cwd));
    },
    event: (event) => {
      lines += 1;
      return write(eventObject(event, lines));
    },
    finished: (result, extras) => last(resultObject(result, extras)),
    failed: async (failure) => {
      if (lines === 0) {
        lines = 1;
        await write(initObject(null, now(), process.cwd));
      }
      await last(failedObject(failure));
    },
  };
}
