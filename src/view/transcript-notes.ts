import type { RunEvent, StepError } from '../schema/event.ts';
import type { Item } from './items.ts';
import { keyMend } from './key-mend.ts';
import { closeCalls, closeOpen, closeReasoning, type Draft } from './transcript-draft.ts';

type End = Extract<Item, { kind: 'end' }>;

/** Everything else is one line, or nothing. */
export function note(draft: Draft, event: RunEvent): void {
  const id = `${event.run_id}:${event.seq}`;
  const push = (text: string, level: 'info' | 'warn' | 'error' = 'info') =>
    draft.push({ kind: 'notice', id, level, text });
  const end = (status: End['status'], reason: string, text: string, fix: string | null) =>
    draft.push({ kind: 'end', id, run_id: event.run_id, status, class: reason, text, fix });
  switch (event.kind) {
    case 'notice': {
      const { code, level, message: text } = event;
      if (!ofEveryRun.has(code)) push(text, level);
      else if (!isSaid(draft, code, text)) draft.push({ kind: 'notice', id, level, text, code });
      return;
    }
    case 'print':
      push(event.text);
      return;
    case 'model_retry':
      // The next attempt thinks anew.
      closeReasoning(draft, event.timestamp);
      push(`${event.class}: ${event.message}; again in ${Math.round(event.wait_ms / 1000)} s`, 'warn');
      return;
    case 'context_shifted':
      push(`context: ${event.dropped_messages} older messages are left out of the request`);
      return;
    case 'compaction':
      push(
        event.ok
          ? `compacted: ${event.replaced_messages} messages became a summary (${event.before_tokens} to ${event.after_tokens} tokens)`
          : `compaction failed: ${event.error ?? ''}`,
      );
      return;
    case 'compute_exhausted':
      push(`bound spent: ${event.bound}, ${event.used} of ${event.limit}`, 'warn');
      return;
    case 'chain_resumed':
      push('the run goes on');
      return;
    case 'chain_completed':
      closeOpen(draft, event.timestamp, 'partial');
      closeCalls(draft, event.run_id, false);
      return;
    case 'chain_failed':
      closeOpen(draft, event.timestamp, 'failed');
      closeCalls(draft, event.run_id, false);
      end('failed', event.error.class, event.error.message, fixFor(event.error));
      return;
    case 'chain_cancelled':
      closeOpen(draft, event.timestamp, 'partial');
      closeCalls(draft, event.run_id, false);
      end('cancelled', event.reason, `by ${event.by}`, null);
      return;
    case 'chain_suspended': {
      closeOpen(draft, event.timestamp, 'partial');
      closeCalls(draft, event.run_id, true);
      const asks = event.reason === 'ask';
      const text = asks ? 'it waits for an answer' : 'it stopped at its last checkpoint';
      const stands = event.reason === 'interrupted' ? 'interrupted' : 'suspended';
      end(stands, event.reason, text, asks ? null : `reins state resume ${event.run_id}`);
      return;
    }
    default:
      return;
  }
}

/** What a run says before it begins holds for the next one, too. */
const ofEveryRun: ReadonlySet<string> = new Set([
  'provider_unavailable',
  'provider_ready',
  'chain_warnings',
  'policy_fallback',
  'policy_warnings',
  'command_tables_ignored',
  'settings_ignored',
  'wide_root',
]);

/** Each run tells it; who reads one after another is told once, and of what cannot be used again where it was there meanwhile. */
function isSaid(draft: Draft, code: string, text: string): boolean {
  const isReady = code === 'provider_ready' || code === 'provider_unavailable';
  const last = draft
    .items()
    .findLast(
      (item) =>
        item.kind === 'notice' &&
        item.code !== undefined &&
        (item.text === text || (isReady && item.code === 'provider_ready')),
    );
  return last?.kind === 'notice' && last.text === text;
}

/** The same message once more: by a key, and where there are only lines. */
export const sendAgain = {
  key: 'Ctrl+X u sends the message again',
  line: 'Up and Enter send the message again',
} as const;

/** What mends a failure (10 §6.10); null where the message has said all. */
function fixFor({ class: failure, message }: StepError): string | null {
  switch (failure) {
    case 'auth':
      return keyMend(message) ?? 'reins backend update <name> --api-key-env <NAME>';
    case 'model_unavailable':
    case 'no_tool_support':
      return '/model chooses another model';
    case 'capacity':
      // What was counted here says itself what is too long.
      return message.includes('raise the limit') || message.includes('set-context')
        ? null
        : '/compact makes the session shorter; /model chooses another model';
    case 'rate_limit':
    case 'server_error':
    case 'empty_reply':
    case 'timeout':
      return sendAgain.key;
    case 'storage':
    case 'permanent':
      return '/doctor shows what is wrong';
    default:
      return null;
  }
}
