import { imageWords } from './image-words.ts';
import type { Session, SessionMessage } from '../schema/session.ts';
import { readJson } from '../text/read-json.ts';
import { escapeText } from './escape.ts';

/**
 * A session as a document for people (07 §2.8): a title, per message `## role · time`, content, tool calls as fenced JSON.
 * What could hide or move text is made visible, since a document is read on terminals too; the JSON form has it as it is.
 */
export function markdownHead(session: Session): string {
  const times = [
    `created ${session.created_at}`,
    ...(session.last_message_at === null ? [] : [`last message ${session.last_message_at}`]),
  ];
  return `# ${visible(session.name)}\n\n${times.join(', ')}\n`;
}

export function markdownMessage(message: SessionMessage): string {
  const role = message.kind === 'message' ? message.role : message.kind;
  const state = message.status === 'complete' ? '' : ` · ${message.status}`;
  const text = visible(message.text).replace(/\n+$/, '');
  const parts = [
    `## ${role} · ${message.created_at}${state}`,
    ...(message.thinking === null || message.thinking.trim() === '' ? [] : [quoted(visible(message.thinking))]),
    // What a tool gave back is data, whatever it looks like.
    ...(text === '' ? [] : [message.role === 'tool' ? fenced(text, 'text') : closed(unheaded(text))]),
    ...(message.images ?? []).map((image) => escapeText(imageWords(image), { mode: 'line' })),
    ...message.tool_calls.map((call) => fenced(callJson(call), 'json')),
  ];
  return `\n${parts.join('\n\n')}\n`;
}

const visible = (text: string): string => escapeText(text, { mode: 'prose' });

function callJson(call: SessionMessage['tool_calls'][number]): string {
  return visible(JSON.stringify({ id: call.id, name: call.name, arguments: parsed(call.arguments) }, null, 2));
}

/** Arguments are text as the model wrote it, which need not be JSON. */
const parsed = (text: string): unknown => readJson<unknown>(text, text);

/** A fence longer than any in the text, so that nothing in it can end the block. */
function fenced(text: string, language: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

const quoted = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');

/** No line of a message passes for the heading of another one. */
const unheaded = (text: string): string =>
  text.replaceAll(/^( {0,3})(#{1,2}[ \t]+(?:system|user|assistant|tool|note|summary) · )/gm, '$1\\$2');

/** A code block that is still open would swallow every message behind it. */
function closed(text: string): string {
  let open: string | null = null;
  for (const line of text.split('\n')) {
    const [, fence, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === undefined) continue;
    if (open === null) open = fence[0] === '`' && rest.includes('`') ? null : fence;
    else if (fence[0] === open[0] && fence.length >= open.length && rest.trim() === '') open = null;
  }
  return open === null ? text : `${text}\n${open}`;
}
