import { describe, expect, it } from 'vitest';
import { insertRule } from '../../src/policy/insert-rule.ts';

const document = `{
  "//": "rules: [1]",
  "rules": [
    { "tools": "echo", "action": "allow" },

    { "tools": "print", "action": "allow" }
  ],
  "default_action": "deny"
}
`;

describe('a rule put into the text of a document', () => {
  it('stands where it was wanted, and every other byte stays', () => {
    const rule = '{"action":"deny"}';
    expect(insertRule(document, 0, rule)).toBe(
      document.replace('    { "tools": "echo"', `    ${rule},\n    { "tools": "echo"`),
    );
    expect(insertRule(document, 1, rule)).toBe(
      document.replace('    { "tools": "print"', `    ${rule},\n    { "tools": "print"`),
    );
    expect(insertRule(document, 2, rule)).toBe(
      document.replace('"print", "action": "allow" }', `"print", "action": "allow" },\n    ${rule}`),
    );
  });

  it('finds the list of the document and no other', () => {
    const text = '{"a":{"rules":[1]},"x":"\\"rules\\":[","rules":[{"when":[{"a":"]},"}]}],"b":[2]}';
    expect(insertRule(text, 1, '{}')).toBe(
      '{"a":{"rules":[1]},"x":"\\"rules\\":[","rules":[{"when":[{"a":"]},"}]}, {}],"b":[2]}',
    );
  });

  it('takes an empty list, makes one where there is none, and refuses a place that is not there', () => {
    expect(insertRule('{"rules": [ ]}', 0, '{}')).toBe('{"rules": [{}]}');
    expect(insertRule('{"default_action":"deny"}', 0, '{}')).toBe('{ "rules": [{}], "default_action":"deny"}');
    expect(insertRule('{ }', 0, '{}')).toBe('{ "rules": [{}] }');
    expect(insertRule('{"rules":null}', 0, '{}')).toBeNull();
    expect(insertRule('{"rules":[]}', 1, '{}')).toBeNull();
  });
});
