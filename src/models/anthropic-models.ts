import { isObject } from '../text/json-object.ts';
import { discoverWith, listOf, maxModels, maxPages, noList, tokensOr } from './discover.ts';
import { knownModel } from './known-models.ts';
import type { DiscoveredModel, DiscoverTarget, Discovery } from './model.ts';

/** Lists the models of the Anthropic API: `GET /v1/models?limit=1000`, all pages (08 §4). */
export function discoverAnthropic(target: DiscoverTarget, signal: AbortSignal): Promise<Discovery> {
  const versioned = { ...target, headers: { 'anthropic-version': '2023-06-01', ...target.headers } };
  return discoverWith(
    versioned,
    (key) => ({ name: 'x-api-key', value: key }),
    async (reader) => {
      const models: DiscoveredModel[] = [];
      let after = '';
      for (let pages = 0; pages < maxPages && models.length < maxModels; pages += 1) {
        const answer = await reader.json(
          `/v1/models?limit=1000${after === '' ? '' : `&after_id=${encodeURIComponent(after)}`}`,
        );
        if (answer.kind === 'failure') return answer;
        const list = listOf(answer.value, 'data');
        if (list === null) return noList(reader.origin, answer.value);
        for (const entry of list) {
          const { id } = entry;
          if (typeof id === 'string' && id !== '') models.push(describe(id, entry));
        }
        const last = answer.value['last_id'];
        if (answer.value['has_more'] !== true || typeof last !== 'string' || last === '' || last === after) break;
        after = last;
      }
      return { kind: 'models', models: models.slice(0, maxModels) };
    },
    signal,
  );
}

/** What the service says of a model, which it did not always do; else what is known by its name. */
function describe(name: string, entry: Readonly<Record<string, unknown>>): DiscoveredModel {
  const known = knownModel('anthropic', name);
  const { capabilities } = entry;
  const supports = (word: string): boolean => {
    const stated = isObject(capabilities) ? capabilities[word] : null;
    return !isObject(stated) || stated['supported'] !== false;
  };
  return {
    name,
    context: tokensOr(entry['max_input_tokens']) ?? known.context,
    max_output: tokensOr(entry['max_tokens']) ?? known.max_output,
    capabilities: {
      chat: true,
      tools: true,
      think: supports('thinking'),
      vision: supports('image_input'),
      embed: false,
    },
  };
}
