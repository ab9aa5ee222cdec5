import type { AuditLoss, AuditRow } from '../schema/audit.ts';
import { callSummary } from './call-summary.ts';
import { plural } from './format.ts';

/** What a listing shows of a row of the audit log (06 §23); empty where a row has none. Not escaped. */
export type AuditLine = {
  readonly tool: string;
  readonly summary: string;
  readonly actor: string;
  readonly rule: string;
};

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** @param shown an id as this surface shows it */
export function auditLine({ type, body }: AuditRow, shown: (id: string) => string): AuditLine {
  // An entry about a server counts its tools under the same name.
  const tool = typeof body['tools'] === 'string' ? `${body['tools']}.${text(body['tool'])}` : '';
  const plain = { tool, actor: text(body['by']), rule: '' };
  switch (type) {
    case 'decision': {
      const record = body['record'];
      const rule = member(record, 'matched_rule');
      return {
        ...plain,
        summary: `${text(member(record, 'action'))}: ${callSummary(body['args'])}`,
        actor: `policy ${text(member(member(record, 'policy'), 'name'))}`,
        // Counted from 1 for people.
        rule:
          typeof rule === 'number' && member(record, 'reason') !== 'remembered'
            ? String(rule + 1)
            : text(member(record, 'reason')).replaceAll('_', ' '),
      };
    }
    case 'effect':
      return { ...plain, summary: effectText(body) };
    case 'ask':
      return { ...plain, summary: `asked ${shown(text(body['ask_id']))}` };
    case 'verdict':
      return { ...plain, summary: `${text(body['state'])} ${shown(text(body['ask_id']))}` };
    case 'compute':
      return {
        ...plain,
        summary: `${text(body['bound'])} ${text(body['used'])}/${text(body['limit'])}: ${text(body['action'])}`,
      };
    case 'remember':
      return { ...plain, summary: rememberedText(body, shown) };
    case 'rule_added':
      return { ...plain, summary: `rule ${Number(body['index']) + 1} of ${text(body['path'])}` };
    case 'trust':
      return {
        ...plain,
        summary: `${body['removed'] === true ? 'no longer trusted' : 'trusted'}: ${text(body['kind'])} ${text(body['path'])}`,
      };
    case 'files_undone':
      return { ...plain, summary: undoneText(body['files']) };
    case 'restored':
      return { ...plain, summary: `a backup was put back: ${lossText(body)}` };
    default:
      return { ...plain, summary: membersText(body) };
  }
}

/** What is missing since a backup was put back. */
export function lossText({ from_seq, to_seq, old_head }: AuditRow['body'] | AuditLoss): string {
  const numbers = from_seq === to_seq ? `at ${text(from_seq)}` : `from ${text(from_seq)} to ${text(to_seq)}`;
  return `heads that were noted ${numbers} are not in this log, the last one ${text(old_head)}`;
}

function effectText(body: AuditRow['body']): string {
  const bytes = body['result_bytes'];
  return bytes === undefined ? text(body['state']) : `${text(body['state'])}, ${text(bytes)} bytes`;
}

function undoneText(files: unknown): string {
  const names = Array.isArray(files) ? files.map((file: unknown) => text(member(file, 'path'))) : [];
  return `undoing ${plural(names.length, 'file')}: ${names.join(', ')}`;
}

function rememberedText(body: AuditRow['body'], shown: (id: string) => string): string {
  const choice = text(body['choice']);
  if (choice === 'forgotten') return `forgot ${text(body['removed'])} of the session`;
  return `${shown(text(body['ask_id']))} ${choice === 'rule' ? 'became a rule' : 'holds for the session'}`;
}

/** A row of a kind that has no sentence of its own: its plain members. */
const membersText = (body: AuditRow['body']): string =>
  Object.entries(body)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `${name} ${text(value)}`)
    .join(', ');
