import type { Notice } from '../schema/event.ts';
import type { RunSources, SourceTools } from '../tools/source.ts';

/** As many are told one by one, each with its reason. */
const mostTold = 3;
const mostNamed = 3;

const isMissing = ({ code }: Notice): boolean => code === 'provider_unavailable';

/**
 * Tells of many sources that cannot be used in one notice that counts them: who has that many knows it, and looks where
 * each one is told with its reason.
 */
export function countedSources(sources: RunSources): RunSources {
  const missing = sources.opened.filter(({ notices }) => notices.some(isMissing)).map(({ name }) => name);
  if (missing.length <= mostTold) return sources;
  const [first] = missing;
  /** Of which nothing is told until they are there. */
  const counted = new Set(missing);
  const quiet = (tools: SourceTools): SourceTools =>
    counted.has(tools.name) ? { ...tools, notices: tools.notices.filter((notice) => !isMissing(notice)) } : tools;
  return {
    ...sources,
    opened: sources.opened.map((one) => {
      const { notices } = quiet(one);
      return { ...one, notices: one.name === first ? [countOf(missing), ...notices] : notices };
    }),
    onChange: (listener) =>
      sources.onChange((tools) => {
        const told = quiet(tools);
        if (tools.notices.some(({ code }) => code === 'provider_ready')) counted.delete(tools.name);
        listener(told);
      }),
  };
}

function countOf(names: readonly string[]): Notice {
  const named = `${names.slice(0, mostNamed).join(', ')} and ${names.length - mostNamed} more`;
  return {
    kind: 'notice',
    level: 'warn',
    code: 'provider_unavailable',
    message: `${names.length} hooks and tool servers cannot be used: ${named}; reins doctor says why of each`,
    data: { tools: names.slice(0, 50) },
  };
}
