import { type ErrorCode, exitOf, RuntimeError, shownClass } from '../schema/errors.ts';
import { messageOf } from '../text/thrown.ts';
import { escapeText } from '../view/escape.ts';
import type { Terminal } from './terminal.ts';

/** What a failure is on every surface of this room. */
export type Failure = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hints: readonly string[];
  readonly exit: number;
  /** Defects of one document, one line each (06 §2.3). */
  readonly findings: readonly string[];
  readonly stack: string | null;
};

type Finding = {
  readonly path?: unknown;
  readonly message?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
};

/** Never throws. A bug becomes `internal` and keeps its stack. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RuntimeError) {
    return {
      code: error.code,
      message: error.message,
      hints: error.hints.slice(0, 3),
      exit: exitOf(error.code),
      findings: findingsOf(error.data),
      stack: stackOf(error),
    };
  }
  return {
    code: 'internal',
    message: `a fault of this program: ${messageOf(error)} (--trace shows where)`,
    hints: [],
    exit: 1,
    findings: [],
    stack: error instanceof Error ? stackOf(error) : null,
  };
}

function stackOf(error: Error): string | null {
  const cause = error.cause instanceof Error ? `\ncaused by: ${error.cause.stack ?? error.cause.message}` : '';
  return error.stack === undefined ? null : error.stack + cause;
}

/** `data.findings` of a document's error, as lines; a single one is in the message already (06 §2.3). */
function findingsOf(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null || !('findings' in data) || !Array.isArray(data.findings)) return [];
  if (data.findings.length === 1) return [];
  return data.findings.map((finding: Finding) => {
    const place = typeof finding.line === 'number' && finding.line > 0 ? ` (line ${finding.line})` : '';
    const path = typeof finding.path === 'string' && finding.path !== '' ? `${finding.path}: ` : '';
    return `${path}${String(finding.message ?? finding)}${place}`;
  });
}

/** What a server or a chain said stays in its line: the next one would look like words of this program. */
export const oneLine = (text: string): string => text.replaceAll(/[\r\n]+\s*/g, ' ');

/** Findings, one error line, at most three hints; the stack only with --trace (06 §2.3). */
export function printFailure(failure: Failure, terminal: Terminal, trace: boolean): void {
  // What is piped away from here is a log, and is looked at on a terminal later (11 §9.3): there is no exact text to keep.
  const visible = (text: string) => escapeText(text, { mode: 'prose' });
  const safe = (text: string) => visible(oneLine(text));
  const lines = [
    ...failure.findings.map((line) => `  ${safe(line)}`),
    // What was mistyped is told before the terminal is touched in any way (10 §1.1).
    `${failure.code === 'usage' ? 'reins:' : terminal.style('err', 'red', 'reins:')} ${safe(failure.message)}`,
    ...failure.hints.map((hint) => `  ${safe(hint)}`),
    ...(trace && failure.stack !== null ? [visible(failure.stack)] : []),
  ];
  terminal.err(`${lines.join('\n')}\n`);
}

/** What a management command prints on stdout with a JSON format (06 §8.4). */
export const failureJson = (failure: Failure) => ({
  error: {
    message: failure.message,
    code: shownClass(failure.code),
    ...(failure.hints[0] === undefined ? {} : { hint: failure.hints[0] }),
  },
  exit_code: failure.exit,
});
