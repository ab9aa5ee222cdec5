import { discoverWith, listOf, maxModels, noList } from './discover.ts';
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
      for (let after = ''; models.length < maxModels; ) {
        const answer = await reader.json(
          `/v1/models?limit=1000${after === '' ? '' : `&after_id=${encodeURIComponent(after)}`}`,
        );
        if (answer.kind === 'failure') return answer;
        const list = listOf(answer.value, 'data');
        if (list === null) return noList(reader.origin);
        for (const { id } of list) if (typeof id === 'string' && id !== '') models.push(describe(id));
        const last = answer.value['last_id'];
        if (answer.value['has_more'] !== true || typeof last !== 'string' || last === '' || last === after) break;
        after = last;
      }
      return { kind: 'models', models };
    },
    signal,
  );
}

const describe = (name: string): DiscoveredModel => ({
  name,
  ...knownModel('anthropic', name),
  capabilities: { chat: true, tools: true, think: true, vision: true, embed: false },
});
