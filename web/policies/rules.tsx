import { moveElement } from '../editor/json-places.ts';
import { announce } from '../frame/announce.tsx';
import { Button } from '../parts/button.tsx';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';
import { Empty } from '../parts/states.tsx';
import { decisionClass } from './explain.tsx';

type Rule = Readonly<Record<string, unknown>>;

/** The rules of a text in their order; null while it is no JSON. */
function rulesOf(text: string): readonly Rule[] | null {
  try {
    const rules: unknown = Reflect.get(Object(JSON.parse(text)), 'rules');
    return Array.isArray(rules) ? rules.map((rule) => ({ ...Object(rule) })) : [];
  } catch {
    return null;
  }
}

/** The rules in the order in which they are tried; the first that fits decides, so they can be moved. */
export function RuleList({
  text,
  readOnly,
  onChange,
  onGo,
}: {
  readonly text: string;
  readonly readOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onGo: (path: string) => void;
}) {
  const rules = rulesOf(text);
  if (rules === null) return <Empty>The text is no JSON yet.</Empty>;
  if (rules.length === 0) return <Empty>There is no rule: the default decides every call.</Empty>;
  const move = (from: number, to: number) => {
    onChange(moveElement(text, ['rules'], from, to));
    announce(`Rule ${from + 1} is now rule ${to + 1}.`);
  };
  return (
    <ol className="rules" aria-label="Rules in their order">
      {numbered(rules).map(({ key, part: rule }, index) => (
        <li key={key} className="rule">
          <span className="muted">{index + 1}</span>
          <button type="button" className="finding grow" onClick={() => onGo(`rules[${index}]`)}>
            <span className={`tag ${classOf(rule)}`}>{String(rule['action'] ?? '?')}</span>
            <span className="mono wrap">
              <Safe text={`${String(rule['tools'] ?? '*')}.${String(rule['tool'] ?? '*')}`} />
            </span>
            <span className="muted small wrap">
              <Safe text={wordsOf(rule)} />
            </span>
          </button>
          {readOnly ? null : (
            <span className="row">
              <Button
                size="small"
                disabled={index === 0}
                aria-label={`Move rule ${index + 1} up`}
                onClick={() => move(index, index - 1)}
              >
                ↑
              </Button>
              <Button
                size="small"
                disabled={index === rules.length - 1}
                aria-label={`Move rule ${index + 1} down`}
                onClick={() => move(index, index + 1)}
              >
                ↓
              </Button>
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

const classOf = (rule: Rule): string => {
  const action = rule['action'];
  return action === 'allow' || action === 'approve' || action === 'deny' ? decisionClass[action] : '';
};

function wordsOf(rule: Rule): string {
  const when = rule['when'];
  const note = typeof rule['//'] === 'string' ? rule['//'] : '';
  const conditions = Array.isArray(when)
    ? when.map((one) => ['key', 'op', 'value'].map((name) => String(Reflect.get(Object(one), name) ?? '')).join(' '))
    : [];
  return [note, conditions.join(' and ')].filter((part) => part !== '').join(' · ');
}
