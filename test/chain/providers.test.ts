import { expect, test } from 'vitest';
import { mayUse } from '../../src/chain/providers.ts';
import type { Task } from '../../src/schema/chain.ts';

const chain = (...tasks: readonly Partial<Task>[]) => ({
  id: 'c',
  tasks: tasks.map((task, at): Task => ({ id: `t${at}`, handler: 'noop', ...task })),
});
const allowing = (...tools: readonly string[]) => chain({ execute_config: { tools } });

test.each([
  [[], false],
  [['*'], true],
  [['svc'], true],
  [['other'], false],
  [['svc.read'], true],
  [['*', '!svc'], false],
  [['*', '!svc', 'svc.read'], true],
  [['*', '!svc.read'], true],
  [['!*', 'svc'], false],
  [['!other'], false],
  [['{{var:tools}}'], true],
] as const)('an allowlist %j may use the provider: %s', (tools, expected) => {
  expect(mayUse(allowing(...tools), 'svc')).toBe(expected);
});

test('one tool of a provider may be used where its own entry, or that of its provider, says so', () => {
  expect(mayUse(allowing('svc.read'), 'svc', 'read')).toBe(true);
  expect(mayUse(allowing('svc.read'), 'svc', 'write')).toBe(false);
  expect(mayUse(allowing('*', '!svc.write'), 'svc', 'write')).toBe(false);
});

test('a task that names a provider uses it, and one whose names are only known later may use any', () => {
  expect(mayUse(chain({}, { handler: 'tools', tools: { name: 'svc' } }), 'svc')).toBe(true);
  expect(mayUse(chain({ handler: 'tools', tools: { name: 'svc', tool_name: 'read' } }), 'svc', 'write')).toBe(false);
  expect(mayUse(chain({ handler: 'tools', tools: { name: '{{var:where}}' } }), 'svc')).toBe(true);
  expect(mayUse(chain({ execute_config: { tools: null } }), 'svc')).toBe(false);
});
