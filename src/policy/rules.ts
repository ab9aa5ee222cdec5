import type { Action, Condition, Rule } from '../schema/policy.ts';
import { isCommandOperator, parseOperator } from './compile.ts';
import type { Findings } from './findings.ts';
import { type Members, readMembers } from './members.ts';

const ruleMembers = new Set(['tools', 'tool', 'when', 'action', 'timeout_s', 'on_timeout']);
const conditionMembers = new Set(['key', 'op', 'value']);
const maxConditions = 32;
const maxSelectorLength = 256;
const maxTimeout = 604_800;
const actions: readonly Action[] = ['allow', 'deny', 'approve'];

/** Reads one rule; what is broken is a finding and gets its default. */
export function readRule(value: unknown, path: string, findings: Findings): Rule {
  const members = readMembers(value, path, ruleMembers, findings);
  if (members === null) return { ...emptyRule };
  const action = readAction(members, 'action', findings);
  if (members.get('action') === undefined)
    findings.add(members.pathOf('action'), 'missing_member', 'a rule needs an action');
  const when = members.get('when') === null ? undefined : members.list('when', maxConditions);
  const note = members.get('//');
  return {
    tools: readSelector(members, 'tools', findings),
    tool: readSelector(members, 'tool', findings),
    when: (when ?? []).map((condition, index) =>
      readCondition(condition, `${path}.when[${index}]`, action ?? 'deny', findings),
    ),
    action: action ?? 'deny',
    ...readWait(members, action, findings),
    note: typeof note === 'string' ? note : null,
  };
}

const emptyRule: Rule = {
  tools: '',
  tool: '',
  when: [],
  action: 'deny',
  timeout_s: 0,
  on_timeout: null,
  note: null,
};

function readSelector(members: Members, name: string, findings: Findings): string {
  const text = members.text(name) ?? '';
  if (text === '' || text === '*') return text;
  const problem = selectorProblem(text);
  if (problem !== null) findings.add(members.pathOf(name), 'bad_selector', problem);
  return text;
}

function selectorProblem(text: string): string | null {
  if (/[*?[\]]/.test(text)) return 'is neither "*" nor an exact name: patterns are not read here';
  if (/\p{Cc}/u.test(text)) return 'holds a control character';
  if (text !== text.trim()) return 'has blanks at its ends';
  return text.length > maxSelectorLength ? `is longer than ${maxSelectorLength} characters` : null;
}

/** `timeout_s` and `on_timeout`; each gets at most one finding. */
function readWait(
  members: Members,
  action: Action | undefined,
  findings: Findings,
): { timeout_s: number; on_timeout: string | null } {
  const timeout = members.integer('timeout_s');
  const onTimeout = members.text('on_timeout');
  const asks = action === undefined || action === 'approve';
  const notAnAsk = `stands on a rule that does not ask; its action is ${action}`;
  if (timeout !== undefined) {
    const path = members.pathOf('timeout_s');
    if (timeout < -1 || timeout > maxTimeout) findings.add(path, 'out_of_range', `must be -1 to ${maxTimeout} seconds`);
    else if (!asks) findings.add(path, 'not_an_ask', notAnAsk);
  }
  if (onTimeout !== undefined) {
    const path = members.pathOf('on_timeout');
    if (onTimeout === '') findings.add(path, 'wrong_type', 'must not be empty; write deny');
    else if (onTimeout === 'allow')
      findings.add(path, 'bad_on_timeout', 'must not be allow: that would bypass approval');
    else if (timeout === -1)
      findings.add(path, 'bad_on_timeout', 'has no meaning beside timeout_s -1, which never ends');
    else if (!asks) findings.add(path, 'not_an_ask', notAnAsk);
  }
  return { timeout_s: timeout ?? 0, on_timeout: onTimeout ?? null };
}

function readCondition(value: unknown, path: string, action: Action, findings: Findings): Condition {
  const members = readMembers(value, path, conditionMembers, findings);
  if (members === null) return { key: '', op: '', value: '' };
  const op = members.text('op');
  const key = members.text('key');
  const operand = members.text('value');
  const condition = { key: key ?? '', op: op ?? '', value: operand ?? '' };
  if (members.get('op') === undefined)
    findings.add(members.pathOf('op'), 'missing_member', 'a condition needs an operator');
  const keyIsText = key !== undefined || members.get('key') === undefined;
  if (condition.key === '' && keyIsText && !isCommandOperator(condition.op)) {
    findings.add(members.pathOf('key'), 'missing_member', 'a condition needs the name of an argument');
  }
  const pointer = pointerProblem(condition.key);
  if (pointer !== null) findings.add(members.pathOf('key'), 'bad_operand', pointer);
  if (op === undefined) return condition;
  const operator = parseOperator(condition, action);
  const valueIsText = operand !== undefined || members.get('value') === undefined;
  if (operator === null) {
    findings.add(members.pathOf('op'), 'unknown_op', `${JSON.stringify(op.slice(0, 40))} is no operator`);
  } else if (!operator.ok && valueIsText) {
    findings.add(members.pathOf('value'), 'bad_operand', operator.message);
  }
  return condition;
}

/** A JSON Pointer (RFC 6901) knows two escapes; another one would lead to no argument, and a rule would guard nothing. */
function pointerProblem(key: string): string | null {
  const wrong = key.startsWith('/') ? /~(?![01]).?/su.exec(key)?.[0] : undefined;
  if (wrong === undefined) return null;
  return `holds ${JSON.stringify(wrong)}: in a JSON Pointer ~0 stands for "~" and ~1 for "/", and nothing else follows a "~"`;
}

/** One of the three actions; undefined when absent or, with a finding, when it is another text or type. */
export function readAction(members: Members, name: string, findings: Findings): Action | undefined {
  const text = members.text(name);
  if (text === undefined) return undefined;
  const action = actions.find((one) => one === text);
  if (action === undefined) {
    findings.add(
      members.pathOf(name),
      'bad_action',
      `is ${JSON.stringify(text.slice(0, 40))}; write allow, deny or approve`,
    );
  }
  return action;
}
