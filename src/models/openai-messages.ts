import type { Message } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { createListWriter, type WrittenList } from './encode.ts';
import { argumentsObject, conversation, ownMeta, resultText, systemText } from './history.ts';
import type { ModelRequest } from './model.ts';
import type { WireNames } from './names.ts';

/** What a server was found to want of a history (08 §5.3); all false for most. */
export type HistoryForm = {
  /** Nobody speaks twice in a row, a person first and last. */
  readonly alternate: boolean;
  /** No system message: its text goes into the first message. */
  readonly withoutSystem: boolean;
  /** Call ids of nine letters and digits. */
  readonly shortIds: boolean;
  /** The reasoning of tool loops goes back. */
  readonly reasoning: boolean;
  /** No content is null, where the form has null beside calls alone. */
  readonly noNull: boolean;
};

/** Writes the messages of a request; what earlier requests have written is not written again. */
export function createHistoryWriter(
  route: Route,
): (request: ModelRequest, names: WireNames, form: HistoryForm) => Promise<WrittenList> {
  const lists = new Map<string, ReturnType<typeof createListWriter<WireNames, object>>>();

  return async (request, names, form) => {
    const { alternate, withoutSystem, shortIds, reasoning, noNull } = form;
    const key = JSON.stringify([shortIds, reasoning, noNull]);
    const recalled: ReadonlySet<Message> = new Set(reasoning ? toolLoops(request.messages) : []);
    const id = shortIds ? await shortener() : asItIs;
    const make = (message: Message, known: WireNames): object => {
      const written = wireMessage(message, known, id, route);
      const made = noNull && isSilent(message) ? { ...written, content: '' } : written;
      return reasoning && message.role === 'assistant' ? { ...made, ...reasoningOf(message, recalled) } : made;
    };
    // A call makes a loop of what was written before it, so a history that carries reasoning is written anew.
    const write = (reasoning ? undefined : lists.get(key)) ?? createListWriter(make);
    lists.set(key, write);
    const system = systemText(request);
    const spoken = conversation(request.messages);
    const messages = alternate ? alternating(spoken) : spoken;
    if (system === '') return write([], messages, names);
    if (withoutSystem) return write([], instructed(system, messages), names);
    return write([{ role: 'system', content: system }], messages, names);
  };
}

/** Whether a message holds calls alone. */
export const isSilent = ({ role, content, tool_calls }: Message): boolean =>
  role === 'assistant' && content === '' && (tool_calls?.length ?? 0) > 0;

type IdForm = (id: string) => string;

const asItIs: IdForm = (id) => id;

async function shortener(): Promise<IdForm> {
  const { createHash } = await import('node:crypto');
  return (id) => (/^[A-Za-z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9));
}

/** A history may have ten thousand messages, so rare members are added only where they are needed. */
function wireMessage(message: Message, names: WireNames, id: IdForm, route: Route): object {
  switch (message.role) {
    case 'assistant': {
      const made = spokenMessage(message, names, id, route);
      const details = ownOf(message, route)?.['reasoning_details'];
      return details === undefined ? made : { ...made, reasoning_details: details };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: id(message.tool_call_id ?? ''), content: resultText(message) };
    default: {
      if (message.images === undefined || message.images.length === 0) {
        return { role: message.role, content: message.content };
      }
      const images = message.images.map((image) => ({
        type: 'image_url',
        image_url: { url: `data:${image.mime_type};base64,${image.data}` },
      }));
      const text = message.content === '' ? [] : [{ type: 'text', text: message.content }];
      return { role: message.role, content: [...text, ...images] };
    }
  }
}

function spokenMessage(message: Message, names: WireNames, id: IdForm, route: Route): object {
  if (message.tool_calls === undefined || message.tool_calls.length === 0) {
    return { role: 'assistant', content: message.content };
  }
  return {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: message.tool_calls.map((call) => {
      const named = { name: names.toWire(call.function.name), arguments: argumentsText(call.function.arguments) };
      const made = { id: id(call.id), type: 'function', function: named };
      const extra = ownOf(call, route)?.['extra_content'];
      return extra === undefined ? made : { ...made, extra_content: extra };
    }),
  };
}

/** What this very backend wrote: another of the same type may refuse fields that it does not know. */
export function ownOf(
  holder: { readonly provider_meta?: Readonly<Record<string, unknown>> | undefined },
  route: Route,
): Readonly<Record<string, unknown>> | null {
  const own = ownMeta(holder, route.type);
  return own?.['backend'] === route.backend ? own : null;
}

/** As the model wrote it; text that is no object would be refused by servers that parse the history. */
export const argumentsText = (text: string): string => (Object.keys(argumentsObject(text)).length > 0 ? text : '{}');

/** A blank stands for reasoning that is of no use any more: the field must not be empty. */
const reasoningOf = (message: Message, recalled: ReadonlySet<Message>): object => ({
  reasoning_content: (recalled.has(message) ? message.thinking : undefined) ?? ' ',
});

/** What was said between two words of a person, wherever a call was among it: DeepSeek wants that back for good. */
function toolLoops(messages: readonly Message[]): readonly Message[] {
  const loops: Message[][] = [[]];
  for (const message of messages) {
    if (message.role === 'user') loops.push([]);
    else loops.at(-1)?.push(message);
  }
  return loops.filter((loop) => loop.some(({ tool_calls }) => (tool_calls?.length ?? 0) > 0)).flat();
}

/** Stands where a history lacks a speaker that the server waits for. */
const filler = (role: 'user' | 'assistant'): Message => ({ id: '', role, content: '(continued)', timestamp: '' });

/** Neighbours of one role become one message; a person speaks first, not directly behind a result, and last. */
function alternating(messages: readonly Message[]): readonly Message[] {
  const made: Message[] = [];
  for (const message of messages) {
    const last = made.at(-1);
    if (last === undefined && message.role !== 'user') made.push(filler('user'));
    if (last?.role === 'tool' && message.role === 'user') made.push(filler('assistant'));
    if (last === undefined || last.role !== message.role || !joins(last)) made.push(message);
    else made[made.length - 1] = joined(last, message);
  }
  if (made.at(-1)?.role === 'assistant') made.push(filler('user'));
  return made;
}

const joins = ({ role, tool_calls }: Message): boolean =>
  role === 'user' || (role === 'assistant' && (tool_calls?.length ?? 0) === 0);

function joined(first: Message, second: Message): Message {
  const images = [...(first.images ?? []), ...(second.images ?? [])];
  return {
    ...second,
    content: [first.content, second.content].filter((text) => text !== '').join('\n\n'),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** The history with the instruction in front of what the person says first. */
function instructed(system: string, messages: readonly Message[]): readonly Message[] {
  const instruction: Message = { id: '', role: 'user', content: system, timestamp: '' };
  const [first, ...rest] = messages;
  return first?.role === 'user' ? [joined(instruction, first), ...rest] : [instruction, ...messages];
}
