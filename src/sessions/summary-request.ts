import { transcriptWithin } from '../chain/transcript.ts';
import type { Message } from '../schema/message.ts';

/** A longer message is told in pieces, so that a small context can leave out parts of it. */
const pieceLength = 8192;

/**
 * The messages of a request for a summary (07 §2.9): the conversation is told, not continued, so all of it are user's
 * messages. The first is the summary so far, if there is one, or the beginning; both stay when a context is too small
 * for everything, and so does the request itself, which is the last. The same rows give as many messages every time.
 */
export function summaryRequest(
  former: Message | null,
  messages: readonly Message[],
  newMessage: (content: string) => Message,
): readonly Message[] {
  const told = messages.flatMap((message) => pieces(transcriptWithin([message], Number.POSITIVE_INFINITY)));
  const texts = [
    ...(former === null ? [] : [`The summary so far:\n${former.content}`]),
    ...told,
    'Now write the summary of all of it.',
  ];
  return texts.map(newMessage);
}

function pieces(text: string): readonly string[] {
  if (text.length <= pieceLength) return text === '' ? [] : [text];
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + pieceLength);
    // Both halves of a character stay together.
    if (end < text.length && isLead(text.charCodeAt(end - 1))) end -= 1;
    found.push(text.slice(at, end));
    at = end;
  }
  return found.map((piece, index) => (index === 0 ? piece : `(goes on) ${piece}`));
}

const isLead = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
