import type { Ask } from '../schema/ask.ts';
import type { FeedEntry, FeedKind } from '../schema/feed.ts';
import { formatSpan, plural } from './format.ts';

/** How the surface shows an id, a deadline that is still to come, and what an ask is about. */
export type FeedShown = {
  id(id: string): string;
  until(at: string): string;
  what(ask: { readonly summary: string }): string;
};
type Members = FeedEntry['data'];

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const member = (value: unknown, name: string): string =>
  typeof value === 'object' && value !== null ? text(Reflect.get(value, name)) : '';
const nameOf = ({ tools, tool }: Members): string => (text(tools) === '' ? text(tool) : `${text(tools)}.${text(tool)}`);
const span = (value: unknown): string => (typeof value === 'number' ? `, ${formatSpan(value)}` : '');

/** The time of day, as a terminal shows an entry. */
export const feedTime = (at: string): string => at.slice(11, 19);

/** Ids that the line of an entry holds. */
export const idsOfEntry = ({ ask_id, run_id, data }: FeedEntry): readonly string[] => [
  ...[ask_id, run_id].filter((id) => id !== undefined),
  ...(Array.isArray(data['ask_ids']) ? data['ask_ids'].map(String) : []),
];

/** One entry of the feed as a line of text, without its cursor, time and kind. Not escaped. */
export function feedLine(entry: FeedEntry, shown: FeedShown): string {
  const about = lines[entry.kind](entry.data, shown);
  const which = [entry.ask_id, entry.run_id].filter((id) => id !== undefined).map(shown.id);
  return [...which, about].join(' ').trimEnd();
}

export const pendingLine = (ask: Ask, shown: FeedShown): string =>
  [
    shown.id(ask.id),
    ...(ask.run_id === null ? [] : [shown.id(ask.run_id)]),
    `${ask.tools}.${ask.tool}`,
    shown.what(ask),
    expiry(ask.expires_at, shown),
  ].join(' ');

const expiry = (at: unknown, shown: FeedShown): string =>
  at === null || at === undefined ? '' : `(${shown.until(text(at))})`;

const lines: Readonly<Record<FeedKind, (data: Members, shown: FeedShown) => string>> = {
  ask: (data, shown) =>
    `${nameOf(data)} ${shown.what({ summary: text(data['summary']) })} ${expiry(data['expires_at'], shown)}`,
  ask_updated: (data) =>
    [
      ...(data['adjudicator'] === undefined ? [] : [`agent: ${text(data['adjudicator'])}`]),
      ...(data['policy'] === undefined ? [] : [`policy: ${member(data['policy'], 'name')}`]),
      ...(data['binding'] === undefined ? [] : [`binding: ${text(data['binding']).slice(0, 12)}`]),
    ].join(', '),
  verdict: (data) =>
    `${text(data['verdict'])}${data['treat_as'] === undefined ? '' : ` (${text(data['treat_as'])})`} by ${text(data['by'])}${data['feedback'] === undefined ? '' : `: ${text(data['feedback'])}`}`,
  policy_decision: (data) =>
    `${nameOf(data)} ${text(data['action'])} (${
      typeof data['rule'] === 'number' ? `rule ${data['rule'] + 1}` : text(data['reason']).replaceAll('_', ' ')
    })`,
  tool_call_started: nameOf,
  tool_call: (data) =>
    `${nameOf(data)} ${data['ok'] === true ? 'done' : text(data['error'] ?? 'failed')}, ${plural(Number(data['result_bytes'] ?? 0), 'byte')}${span(data['duration_ms'])}`,
  compute_exhausted: (data) =>
    `${text(data['bound'])} ${text(data['used'])}/${text(data['limit'])}: ${text(data['action'])}`,
  chain_started: (data) =>
    `${text(data['run_kind'])} with ${text(data['model'])}, policy ${member(data['policy'], 'name')}`,
  chain_suspended: (data, shown) =>
    [
      text(data['reason']),
      ...(Array.isArray(data['ask_ids']) ? data['ask_ids'].map((id) => shown.id(String(id))) : []),
    ].join(' '),
  chain_resumed: (data) => `by ${text(data['by'])}`,
  chain_completed: (data) => `${text(data['status'])}, exit ${text(data['exit_code'])}${span(data['duration_ms'])}`,
  chain_failed: (data) =>
    `${member(data['error'], 'class')}: ${member(data['error'], 'message')}, exit ${text(data['exit_code'])}`,
  chain_cancelled: (data) => `by ${text(data['by'])}: ${text(data['reason'])}`,
  plan_changed: (data) =>
    `${text(data['plan'])} ${data['ordinal'] === undefined ? '' : `step ${text(data['ordinal'])} `}${text(data['status'])}`,
  setup_changed: (data) => (data['ready'] === true ? 'ready' : 'not ready'),
  document_changed: (data) => `${text(data['document'])} ${text(data['name'])}`,
};
