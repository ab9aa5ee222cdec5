import type { RuntimeError } from '../../src/schema/errors.ts';
import type { Session } from '../../src/schema/session.ts';
import type { Known } from '../../src/schema/shape.ts';
import type { Item } from '../../src/view/items.ts';
import { useStore } from '../data/store.ts';
import { useChatState } from './chat-state.ts';
import { isUnderWay, outgoingOf, type SendOptions } from './kept.ts';
import { useFollowing } from './use-following.ts';
import { useReading } from './use-reading.ts';
import { type Unsent, useSending } from './use-sending.ts';
import { useThere } from './use-there.ts';

export type Chat = {
  readonly session: Known<typeof Session> | null;
  readonly error: RuntimeError | null;
  readonly items: readonly Item[];
  /** Reads older messages than those that are loaded, at most so many; null where there are none. */
  readonly older: ((most?: number) => Promise<void>) | null;
  /** The run that is under way. */
  readonly runId: string | null;
  /** That one, or the newest that was. */
  readonly newestRun: string | null;
  readonly unsent: readonly Unsent[];
  /** A message is on its way, and not answered yet. */
  readonly sending: boolean;
  readonly send: (text: string, options: SendOptions) => void;
  readonly reload: () => void;
};

/** One chat: what is stored of it, and what happens in it now, without a gap or a double between the two. */
export function useChat(name: string): Chat {
  const chat = useChatState(name);
  const sending = useStore(outgoingOf(name)).some(isUnderWay);
  const older = useReading(chat);
  const lookForIt = useThere(chat);
  useFollowing(chat);
  const { send, unsent } = useSending(chat, lookForIt);
  return {
    session: chat.session,
    error: chat.error,
    items: chat.heard.transcript.items,
    older: chat.cursor === null ? null : older,
    runId: chat.heard.runId,
    newestRun: chat.newest,
    unsent,
    sending,
    send,
    reload: chat.reload,
  };
}
