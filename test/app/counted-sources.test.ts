import { expect, it } from 'vitest';
import { countedSources } from '../../src/app/counted-sources.ts';
import type { Notice } from '../../src/schema/event.ts';
import type { SourceTools } from '../../src/tools/source.ts';

const notice = (code: string, message: string): Notice => ({ kind: 'notice', level: 'warn', code, message });
const source = (name: string, ...notices: readonly Notice[]): SourceTools => ({ name, tools: [], notices });
const missing = (name: string): SourceTools => source(name, notice('provider_unavailable', `${name} is not there`));
const sources = (...opened: readonly SourceTools[]) => {
  const listeners: ((changed: SourceTools) => void)[] = [];
  const counted = countedSources({ opened, onChange: (listener) => listeners.push(listener), close: () => {} });
  const heard: string[] = [];
  const messagesOf = ({ notices }: SourceTools) => notices.map(({ message }) => message);
  counted.onChange((changed) => heard.push(...messagesOf(changed)));
  const change = (changed: SourceTools): void => {
    for (const listener of listeners) listener(changed);
  };
  return { told: counted.opened.flatMap(messagesOf), heard, change };
};

it('three sources that cannot be used are told with their reasons', () => {
  expect(sources(missing('a'), source('b'), missing('c'), missing('d')).told).toEqual([
    'a is not there',
    'c is not there',
    'd is not there',
  ]);
});

it('more of them are one line that counts, and none is told again until it was there', () => {
  const changed = notice('tool_quarantined', 'e changed');
  const five = ['a', 'b', 'c', 'd'].map(missing);
  const { told, heard, change } = sources(...five, source('e', changed, ...missing('e').notices), source('f'));
  expect(told).toEqual([
    '5 hooks and tool servers cannot be used: a, b, c and 2 more; reins doctor says why of each',
    'e changed',
  ]);
  change(missing('b'));
  expect(heard).toEqual([]);
  change(source('b', notice('provider_ready', 'b is ready')));
  change(missing('b'));
  change(missing('f'));
  expect(heard).toEqual(['b is ready', 'b is not there', 'f is not there']);
});
