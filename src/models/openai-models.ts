import { bearer } from './connection.ts';
import { discoverWith, listOf, maxModels, noList, tokensOr } from './discover.ts';
import { knownModel } from './known-models.ts';
import type { Capability, DiscoveredModel, DiscoverTarget, Discovery } from './model.ts';
import { isReasoningName } from './think.ts';
import { isObject } from '../text/json-object.ts';

/** Lists the models of `openai`, `vllm` and `openai-compatible` servers: `GET /models` (08 §4). */
export function discoverOpenAiCompatible(
  type: string,
  target: DiscoverTarget,
  signal: AbortSignal,
): Promise<Discovery> {
  const describe = type === 'openai' ? describeOpenAi : describeCompatible;
  return discoverWith(
    target,
    bearer,
    async (reader) => {
      const answer = await reader.json('/models');
      if (answer.kind === 'failure') return answer;
      // A few name the list as other services do.
      const list = listOf(answer.value, 'data' in answer.value ? 'data' : 'models');
      if (list === null) return noList(reader.origin, answer.value);
      const models: DiscoveredModel[] = [];
      for (const entry of list.slice(0, maxModels)) {
        if (typeof entry['id'] === 'string' && entry['id'] !== '') models.push(describe(entry['id'], entry));
      }
      return { kind: 'models', models };
    },
    signal,
  );
}

const notChat = /image|tts|whisper|audio|realtime|transcribe|moderation|instruct|davinci|babbage/;

/** The service says nothing but names. */
function describeOpenAi(name: string): DiscoveredModel {
  const known = knownModel('openai', name);
  return { name, context: known.context, max_output: known.max_output, capabilities: openAiCapabilities(name) };
}

function openAiCapabilities(name: string): Partial<Record<Capability, boolean>> {
  if (name.startsWith('text-embedding-'))
    return { chat: false, tools: false, think: false, vision: false, embed: true };
  if (notChat.test(name)) return { chat: false, tools: false, think: false, vision: false, embed: false };
  const thinks = isReasoningName(name);
  return { chat: true, tools: true, think: thinks, vision: thinks || /^gpt-(4o|4\.1)/.test(name), embed: false };
}

/** Only what the server says is known; the rest follows the rule for unknown capabilities. */
const describeCompatible = (name: string, entry: Readonly<Record<string, unknown>>): DiscoveredModel => ({
  name,
  context:
    tokensOr(entry['max_model_len']) ??
    tokensOr(entry['context_length']) ??
    tokensOr(entry['context_window']) ??
    tokensOr(entry['max_context_length']),
  max_output: null,
  capabilities: statedCapabilities(entry),
});

/** What OpenRouter (modalities, parameters) and Mistral (capabilities) say of a model; nothing of any other server. */
function statedCapabilities(entry: Readonly<Record<string, unknown>>): Partial<Record<Capability, boolean>> {
  const { architecture, supported_parameters: parameters, capabilities: own } = entry;
  const holds = (list: unknown, ...words: readonly string[]): boolean | null =>
    Array.isArray(list) ? words.some((word) => list.includes(word)) : null;
  const says = (word: string): boolean | null => {
    const value = isObject(own) ? own[word] : null;
    return typeof value === 'boolean' ? value : null;
  };
  const modalities = isObject(architecture) ? architecture : {};
  const stated: Readonly<Record<Exclude<Capability, 'embed'>, boolean | null>> = {
    chat: holds(modalities['output_modalities'], 'text') ?? says('completion_chat'),
    tools: holds(parameters, 'tools') ?? says('function_calling'),
    think: holds(parameters, 'reasoning', 'reasoning_effort') ?? says('reasoning'),
    vision: holds(modalities['input_modalities'], 'image') ?? says('vision'),
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== null));
}
