import { RuntimeError } from '../../schema/errors.ts';
import { countParts } from '../../text/exact-json.ts';

/** A way to a server that carries JSON-RPC messages, whatever lies below it. */
export type Pipe = {
  /** Opens it; rejects with a reason in one sentence. Afterwards every message and the one end are told. */
  start(listener: PipeListener): Promise<void>;
  /** Resolves once the message is on its way; rejects when it was not sent. */
  send(message: object): Promise<void>;
  /** Ends the server or the connection to it. Safe to call twice. */
  close(): Promise<void>;
};

export type PipeListener = {
  message(value: object): void;
  /** Told once, also after `close`. */
  closed(reason: string): void;
};

/** Error code of an answer that was not kept because of its size: of our own range, never of a server's making. */
export const tooLargeCode = -32_099;
/** What is said of an answer that is JSON-RPC by its name alone. */
export const noForm = 'it answered in a form that the protocol does not have';
export const maxMessageBytes = 16 * 1024 * 1024;
/** Objects and lists of one message: so many of the smallest ones take a gigabyte once they are parsed, and ten seconds. */
export const maxMessageParts = 500_000;

/** What became of a message that has no answer, in `data` of the error that sending it rejects with. */
export type PipeFault = {
  readonly kind: 'auth' | 'session' | 'blocked' | 'network' | 'too_large';
  /** The server may have got it. */
  readonly sent: boolean;
  readonly status?: number;
  /** The scopes that the server wants of a sign-in that it knows. */
  readonly scopes?: string;
};

export const fault = (message: string, data: PipeFault): RuntimeError =>
  new RuntimeError('mcp_error', message, { data });

/** Whether a text of a message, or what is left of one, may be parsed. */
export const hasTooManyParts = (text: string): boolean =>
  text.length > maxMessageParts && countParts(text, maxMessageParts) > maxMessageParts;

/** Why an answer is not kept. */
export const notKept = {
  bytes: `the answer is larger than ${maxMessageBytes} bytes`,
  parts: `the answer holds more than ${maxMessageParts} objects and lists`,
} as const;

export const tooLarge = (what: keyof typeof notKept): RuntimeError =>
  fault(notKept[what], { kind: 'too_large', sent: true });
