import type { Ask } from '../schema/ask.ts';
import type { AskCardData } from '../schema/ask-views.ts';
import { choices, headline } from './ask-card.ts';
import { askedAgain, askFlags, followsOf } from './card-warnings.ts';

/**
 * The card of an ask as data (03 §8), for a surface that draws it elsewhere. Texts are as stored.
 * @param now milliseconds since the epoch
 * @param segments the commands of a shell call, as `explain` tells them; null for another call
 */
export function cardData(ask: Ask, now: number, segments: unknown): AskCardData {
  const { record, preview } = ask;
  const { exec } = record;
  return {
    id: ask.id,
    kind: ask.kind,
    created_at: ask.created_at,
    expires_at: ask.expires_at,
    expires_in: ask.expires_at === null ? null : Math.max(0, Math.ceil((Date.parse(ask.expires_at) - now) / 1000)),
    on_timeout: ask.on_timeout,
    binding: ask.binding.slice(0, 12),
    headline: headline(ask),
    who: whoOf(ask),
    what: { tools: ask.tools, tool: ask.tool, summary: ask.summary },
    args: argumentsOf(ask.args),
    segments,
    program: exec === null ? null : { form: exec.form, argv: exec.argv, file: exec.file },
    paths: preview.paths ?? [],
    diff:
      preview.diff === undefined
        ? null
        : {
            text: preview.diff,
            new_file: preview.new_file === true,
            note: preview.diff_note ?? null,
            made: followsOf(ask),
          },
    url: preview.url ?? null,
    tool_says: preview.tool_says ?? null,
    why: {
      rule: record.matched_rule,
      reason: record.reason,
      note: record.note,
      detail: record.detail,
      policy: { name: ask.policy.name, source: ask.policy.source, sha256: ask.policy.sha256 },
      changed: preview.policy_changed === true,
      reserved: preview.reserved ?? null,
    },
    again: askedAgain(ask),
    flags: askFlags(ask),
    choices: choices(ask),
  };
}

const whoOf = ({ preview: { by_model: by }, ...ask }: Ask): AskCardData['who'] => ({
  session: ask.session_name,
  plan: ask.plan_name,
  step: ask.step_no,
  run: ask.run_id,
  chain: ask.chain_id,
  task: ask.task_id,
  model: by?.model ?? null,
  backend: by?.backend ?? null,
});

function argumentsOf(args: unknown): AskCardData['args'] {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return [{ name: '', value: args }];
  return Object.entries(args)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => ({ name, value }));
}
