import type { Route } from '../schema/protocol.ts';
import type { ModelRequest, ThinkLevel } from './model.ts';

/** Levels above `off`: an explicit wish to reason. */
export const wantsThinking = (level: ThinkLevel): boolean => level !== 'auto' && level !== 'off';

/** Unknown means no (08 §4.5). */
export const canThink = (route: Route): boolean => route.capabilities['think'] === true;

/** The warning of a level that a model cannot take (08 §8); none unless one above `off` was asked for. */
export const thinkNotices = (
  route: Route,
  model: string,
  level: ThinkLevel,
): readonly { readonly code: string; readonly message: string }[] =>
  wantsThinking(level)
    ? [
        {
          code: 'think_unsupported',
          message: `model "${model}" of backend "${route.backend}" takes no reasoning level; ${level} is left out`,
        },
      ]
    : [];

/** The warning of a temperature that a reasoning model of OpenAI cannot take (08 §5.2.3). */
export const samplingNotices = ({ model, temperature, top_p }: ModelRequest) =>
  temperature === undefined && top_p === undefined
    ? []
    : [
        {
          code: 'parameter_ignored',
          message: `reasoning model "${model}" takes no temperature and no top_p; they are left out`,
        },
      ];

/** The last part of a model name in lower case: routers put an owner in front (`openai/gpt-5`). */
const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase();

/** Names of reasoning models of OpenAI (08 §5.2.3), and of their successors. */
export const isReasoningName = (model: string): boolean => /^(o\d|gpt-[5-9](?!\d)|codex-mini)/.test(bareName(model));

/** Efforts that a model is known to take, by name; the first line that matches holds. */
const effortsByName: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(o\d|gpt-oss|codex-mini)/, ['low', 'medium', 'high']],
  [/^gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh']],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-5-codex/, ['low', 'medium', 'high']],
  [/^gpt-5\.1-codex-max/, ['low', 'medium', 'high', 'xhigh']],
  [/^gpt-5\.1-codex/, ['low', 'medium', 'high']],
  [/^gpt-5\.1/, ['none', 'low', 'medium', 'high']],
  [/^gpt-5\.\d/, ['none', 'low', 'medium', 'high', 'xhigh']],
  [/^gpt-5/, ['minimal', 'low', 'medium', 'high']],
  [/^gpt-6-(sol|luna)/, ['none', 'low', 'medium', 'high', 'xhigh']],
  [/^gpt-[6-9](?!\d)/, ['low', 'medium', 'high', 'xhigh']],
];

const wishes: Readonly<Record<Exclude<ThinkLevel, 'auto'>, readonly string[]>> = {
  off: ['none', 'minimal', 'low'],
  minimal: ['minimal', 'low'],
  low: ['low'],
  medium: ['medium'],
  high: ['high'],
  xhigh: ['xhigh', 'high'],
};

/** `reasoning_effort` of a level (08 §8); null when nothing is to be sent. */
export function reasoningEffort(model: string, level: ThinkLevel): string | null {
  if (level === 'auto') return null;
  // A model of another house may well not reason unless it is asked to: a low effort would be asking.
  const unknown = ['none', 'low', 'medium', 'high'];
  const allowed = effortsByName.find(([pattern]) => pattern.test(bareName(model)))?.[1] ?? unknown;
  return wishes[level].find((effort) => allowed.includes(effort)) ?? null;
}

/** `think` of Ollama: a word for architectures that take levels, else a boolean; null = not sent. */
export function ollamaThink(model: string, level: ThinkLevel): boolean | string | null {
  if (level === 'auto') return null;
  if (level === 'off') return false;
  if (!bareName(model).startsWith('gpt-oss')) return true;
  return { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' }[level];
}

/** The major version in the name of a model of Gemini; 2 where there is none. */
export const geminiVersion = (model: string): number => Number(/gemini-(\d+)/.exec(model)?.[1] ?? 2);

/** `thinkingConfig` of Gemini: a budget before version 3, a level from it; null = not sent. */
export function geminiThinking(model: string, level: ThinkLevel): Readonly<Record<string, unknown>> {
  if (level === 'auto') return { includeThoughts: true };
  const shown = level === 'off' ? {} : { includeThoughts: true };
  if (geminiVersion(model) >= 3) {
    const words = { off: 'minimal', minimal: 'minimal', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' };
    return { thinkingLevel: words[level], ...shown };
  }
  const budgets = { off: 0, minimal: 1024, low: 1024, medium: 8192, high: 24576, xhigh: -1 };
  return { thinkingBudget: budgets[level], ...shown };
}

/** `output_config.effort` of Anthropic, for models that choose their budget themselves. */
export const anthropicEffort = (level: Exclude<ThinkLevel, 'auto' | 'off'>): string =>
  level === 'minimal' ? 'low' : level;

/** Tokens that Anthropic may spend on thinking: below `maxTokens`, lowered to half of it; null = not sent. */
export function anthropicBudget(level: ThinkLevel, maxTokens: number): number | null {
  if (level === 'auto' || level === 'off') return null;
  const wanted = { minimal: 1024, low: 2048, medium: 8192, high: 16384, xhigh: 32768 }[level];
  const budget = wanted < maxTokens ? wanted : Math.floor(maxTokens / 2);
  return budget < 1024 ? null : budget;
}
