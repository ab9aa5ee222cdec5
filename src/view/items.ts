/** What a transcript is made of (10 §5.1). Texts are as they came: whoever draws them makes them visible. */
import type { ShownImage } from './image-words.ts';

export type Decision = {
  readonly action: 'allow' | 'approve' | 'deny';
  /** From 0; null where no rule matched. */
  readonly rule: number | null;
  readonly reason: string;
  readonly detail: string | null;
  readonly policy: string;
};

export type CallVerdict = {
  readonly ask_id: string;
  readonly verdict: string;
  readonly by: string;
  readonly at: string;
};

export type CallItem = {
  readonly kind: 'call';
  /** The call's own id. */
  readonly id: string;
  readonly run_id: string | null;
  /** The operator ran it as a `!` line (10 §6.6). */
  readonly line?: true;
  /** Calls of one message of the model have the same; null where that is not known. */
  readonly batch: string | null;
  readonly tools: string;
  readonly tool: string;
  readonly args: unknown;
  readonly state: 'pending' | 'running' | 'ok' | 'failed' | 'denied';
  readonly decision: Decision | null;
  /** The ask that it waits for, or waited for. */
  readonly ask_id: string | null;
  readonly diff: string | null;
  readonly verdict: CallVerdict | null;
  /** What it printed so far, the newest part of it. */
  readonly output: string;
  readonly result: string | null;
  readonly error: string | null;
  readonly bytes: number | null;
  readonly ms: number | null;
  readonly started_at: string | null;
};

export type Item =
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly text: string;
      /** What was sent along. */
      readonly images?: readonly ShownImage[];
      /** `pending`: sent, and its row is not confirmed yet; `unsent`: it was not taken. */
      readonly state: 'pending' | 'sent' | 'unsent';
      /** Number of the message in its session; null while that is not known. */
      readonly seq: number | null;
      /** Of its stored message, where the item was shown before there was one. */
      readonly message_id?: string;
    }
  | {
      readonly kind: 'assistant';
      readonly id: string;
      readonly text: string;
      readonly state: 'streaming' | 'complete' | 'partial' | 'failed';
      readonly seq: number | null;
      readonly message_id?: string;
    }
  | {
      readonly kind: 'reasoning';
      readonly id: string;
      readonly text: string;
      readonly state: 'streaming' | 'complete';
      readonly started_at: string | null;
      readonly ms: number | null;
      /** As the provider counts them, where it does. */
      readonly tokens?: number;
    }
  | CallItem
  /** A question that belongs to no call: of a bound, of the model. */
  | {
      readonly kind: 'ask';
      readonly id: string;
      readonly run_id: string;
      readonly tools: string;
      readonly tool: string;
      readonly summary: string;
      readonly verdict: CallVerdict | null;
    }
  | {
      readonly kind: 'notice';
      readonly id: string;
      readonly level: 'info' | 'warn' | 'error';
      readonly text: string;
      /** That of its event, where what is told may be told again with each run. */
      readonly code?: string;
    }
  /** A run that did not complete. */
  | {
      readonly kind: 'end';
      readonly id: string;
      readonly run_id: string;
      readonly status: 'failed' | 'cancelled' | 'suspended' | 'interrupted' | 'exhausted';
      readonly class: string;
      readonly text: string;
      /** What helps, as a command or a key. */
      readonly fix: string | null;
    };

/** Whether the run can go on behind its end. */
export const restsAt = ({ status }: Extract<Item, { readonly kind: 'end' }>): boolean =>
  status === 'suspended' || status === 'interrupted';

/** Most characters of a running tool's output that are kept; its result comes whole. */
const keptOutput = 65_536;

export const appendOutput = (output: string, piece: string): string => {
  const all = output + piece;
  return all.length > keptOutput * 2 ? all.slice(-keptOutput) : all;
};
