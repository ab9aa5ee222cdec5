import { discoverWith, listOf, maxModels, maxPages, noList, tokensOr } from './discover.ts';
import type { DiscoveredModel, DiscoverTarget, Discovery } from './model.ts';

/** Lists the models of the Gemini API: `GET /v1beta/models?pageSize=1000`, all pages (08 §4). */
export function discoverGemini(target: DiscoverTarget, signal: AbortSignal): Promise<Discovery> {
  return discoverWith(
    target,
    (key) => ({ name: 'x-goog-api-key', value: key }),
    async (reader) => {
      const models: DiscoveredModel[] = [];
      let page = '';
      for (let pages = 0; pages < maxPages && models.length < maxModels; pages += 1) {
        const answer = await reader.json(
          `/v1beta/models?pageSize=1000${page === '' ? '' : `&pageToken=${encodeURIComponent(page)}`}`,
        );
        if (answer.kind === 'failure') return answer;
        const list = listOf(answer.value, 'models');
        if (list === null) return noList(reader.origin, answer.value);
        for (const entry of list) if (typeof entry['name'] === 'string') models.push(describe(entry['name'], entry));
        const next = answer.value['nextPageToken'];
        if (typeof next !== 'string' || next === '' || next === page) break;
        page = next;
      }
      return { kind: 'models', models: models.slice(0, maxModels) };
    },
    signal,
  );
}

function describe(name: string, entry: Readonly<Record<string, unknown>>): DiscoveredModel {
  const methods: readonly unknown[] = Array.isArray(entry['supportedGenerationMethods'])
    ? entry['supportedGenerationMethods']
    : [];
  const generates = methods.includes('generateContent');
  return {
    name: name.replace(/^models\//, ''),
    context: tokensOr(entry['inputTokenLimit']),
    max_output: tokensOr(entry['outputTokenLimit']),
    capabilities: {
      chat: generates,
      tools: generates,
      vision: generates,
      think: entry['thinking'] === true,
      embed: methods.includes('embedContent'),
    },
  };
}
