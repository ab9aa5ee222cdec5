import { type Handler, isModelHandler, thinkLevel } from '../schema/chain.ts';
import { ownMember } from '../text/own-member.ts';
import { placeOf, placeOfMember, type Findings } from './findings.ts';
import type { JsonMember, JsonNode, JsonObject } from './json.ts';
import { members } from './members.ts';
import { checkRange, readShape, type Shape } from './shape.ts';
import { durationMs } from './values.ts';
import { hasMacro, vetAllowlist, vetHidden } from './vet-tools.ts';

const modelMembers = [
  'model',
  'models',
  'provider',
  'providers',
  'temperature',
  'max_tokens',
  'think',
  'shift',
  'retry_policy',
];

/** What a handler reads of `execute_config`. */
function readBy(handler: Handler): readonly string[] {
  if (handler === 'chat_completion') return Object.keys(members.execute_config);
  if (handler === 'execute_tool_calls') return ['tools', 'hide_tools', 'tools_policies', 'pass_clients_tools'];
  if (handler === 'tools') return ['tools_policies'];
  return isModelHandler(handler) ? modelMembers : [];
}

/** Values that say nothing, so that a member which holds one is not worth a warning. */
export function saysNothing(node: JsonNode): boolean {
  switch (node.kind) {
    case 'string':
      return node.value === '';
    case 'array':
      return node.items.length === 0;
    case 'object':
      return node.members.length === 0;
    case 'boolean':
      return !node.value;
    case 'null':
      return true;
    case 'number':
      return false;
  }
}

export function warnUnused(member: JsonMember, handler: Handler, findings: Findings): void {
  if (saysNothing(member.value)) return;
  findings.warning('member_unused', placeOfMember(member), `the handler ${handler} does not read ${member.name}`);
}

/** Checks `execute_config` (04 §5). `handler` is null when it is not known; `providers` when nothing is known of them. */
export function vetConfig(
  node: JsonObject,
  handler: Handler | null,
  providers: readonly string[] | null,
  findings: Findings,
): void {
  const config = readShape(node, 'execute_config', findings);
  if (handler !== null) {
    const read = readBy(handler);
    for (const member of node.members) {
      const known = Object.hasOwn(members.execute_config, member.name);
      if (known && !read.includes(member.name)) warnUnused(member, handler, findings);
    }
  }
  checkRange(config.number('temperature'), 'temperature', 0, 2, findings);
  vetMaxTokens(config, findings);
  const think = config.string('think');
  if (think !== null && !hasMacro(think.value) && thinkLevel(think.value) === null) {
    findings.error('out_of_range', placeOf(think), `think knows no level ${JSON.stringify(think.value)}`);
  }
  vetAllowlist(config.value('tools'), providers, findings);
  vetHidden(config.value('hide_tools'), providers, findings);
  const limits = config.object('tools_policies');
  if (limits !== null) vetLimits(limits, findings);
  const retry = config.object('retry_policy');
  if (retry !== null) vetRetry(readShape(retry, 'retry_policy', findings), findings);
  const compact = config.object('compact_policy');
  if (compact !== null) vetCompact(readShape(compact, 'compact_policy', findings), findings);
}

function vetMaxTokens(config: Shape, findings: Findings): void {
  checkRange(config.number('max_tokens'), 'max_tokens', 0, Number.MAX_SAFE_INTEGER, findings);
  const text = config.string('max_tokens');
  if (text === null || hasMacro(text.value) || /^\s*\d{0,15}\s*$/.test(text.value)) return;
  findings.error('out_of_range', placeOf(text), 'max_tokens must be a whole number that is not negative, or empty');
}

type LimitKey = 'text' | readonly [least: number, most: number];
const mebibyte = 1024 * 1024;
const webLimits: Readonly<Record<string, LimitKey>> = {
  _allowed_schemes: 'text',
  _allowed_hosts: 'text',
  _denied_hosts: 'text',
  _max_response_bytes: [1, 16 * mebibyte],
  _max_request_body_bytes: [1, 4 * mebibyte],
};

/** Keys of `tools_policies` (05 §§3.5, 4.3, 5.2). */
const limitKeys: Readonly<Record<string, Readonly<Record<string, LimitKey>>>> = {
  local_fs: {
    _allowed_dir: 'text',
    _denied_path_substrings: 'text',
    _max_read_bytes: [1, 104_857_600],
    _max_output_bytes: [1024, mebibyte],
    _max_write_bytes: [1, 104_857_600],
    _max_list_depth: [1, 32],
    _max_grep_matches: [1, 50_000],
  },
  local_shell: {
    _allowed_commands: 'text',
    _denied_commands: 'text',
    _allowed_dir: 'text',
    _max_timeout_s: [1, 3600],
    _max_output_bytes: [1024, mebibyte],
  },
  web: webLimits,
  webhook: webLimits,
};

function vetLimits(node: JsonObject, findings: Findings): void {
  for (const { name: provider, value } of node.members) {
    if (value.kind !== 'object') {
      findings.error('bad_type', placeOf(value), 'the limits of a provider must be an object');
      continue;
    }
    const keys = Object.hasOwn(limitKeys, provider) ? (limitKeys[provider] ?? {}) : {};
    for (const member of value.members) {
      const key = ownMember(keys, member.name);
      if (member.value.kind !== 'string') {
        findings.error('bad_type', placeOf(member.value), `${member.name} must be a string, a number or a boolean`);
      } else if (key === undefined) {
        findings.warning('unknown_policy_key', placeOfMember(member), `${provider} has no limit ${member.name}`);
      } else if (key !== 'text' && !hasMacro(member.value.value)) {
        vetLimit(member.name, member.value, member.value.value, key, findings);
      }
    }
  }
}

function vetLimit(
  name: string,
  node: JsonNode,
  text: string,
  [least, most]: readonly [number, number],
  findings: Findings,
): void {
  const value = /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return;
  findings.error('out_of_range', placeOf(node), `${name} must be a whole number between ${least} and ${most}`);
}

/** Reports a member that is there and is no duration above zero. Macros have no meaning where it is called. */
export function checkDuration(shape: Shape, name: string, findings: Findings): void {
  const node = shape.value(name);
  if (node === null || (node.kind !== 'string' && node.kind !== 'number')) return;
  const ms = durationMs(node.value);
  if (ms === null) {
    findings.error('bad_duration', placeOf(node), `${name} must be a duration above zero, such as "500ms" or "1m30s"`);
  } else if (node.kind === 'number' && ms < 1) {
    const meant = `a number without a unit counts nanoseconds; write "${node.value}s" for seconds`;
    findings.warning('bad_duration', placeOf(node), `${name} is less than a millisecond: ${meant}`);
  }
}

function vetRetry(retry: Shape, findings: Findings): void {
  checkRange(retry.number('max_attempts'), 'max_attempts', 0, 20, findings);
  checkRange(retry.number('jitter'), 'jitter', 0, 1, findings);
  checkRange(retry.number('fallback_after'), 'fallback_after', 0, Number.POSITIVE_INFINITY, findings);
  for (const name of ['initial_backoff', 'max_backoff', 'rate_limit_min_wait']) {
    if (!hasMacro(retry.text(name) ?? '')) checkDuration(retry, name, findings);
  }
  warnNoFallback(retry, findings);
}

/** A fallback that no failure leads to looks like a safety that is not there (04 §12). */
function warnNoFallback(retry: Shape, findings: Findings): void {
  const fallback = retry.member('fallback_model_id');
  if (fallback === null || saysNothing(fallback.value)) return;
  const after = Number(retry.number('fallback_after')?.value ?? 0);
  const attempts = Math.max(1, Number(retry.number('max_attempts')?.value ?? 1));
  if (after > 0 && after < attempts) return;
  const why =
    after > 0
      ? `fallback_after is ${after} and max_attempts is ${attempts}, so no attempt is left for it`
      : 'fallback_after says after how many failures, and 0 or nothing is never';
  findings.warning('member_unused', placeOfMember(fallback), `the model of fallback_model_id is never asked: ${why}`);
}

function vetCompact(compact: Shape, findings: Findings): void {
  checkRange(compact.number('trigger_fraction'), 'trigger_fraction', 0.1, 1, findings);
  for (const name of ['keep_recent', 'min_replaced_messages', 'max_failures']) {
    checkRange(compact.number(name), name, 0, Number.POSITIVE_INFINITY, findings);
  }
}
