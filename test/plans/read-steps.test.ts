import { expect, it } from 'vitest';
import { readStepFile } from '../../src/plans/read-steps.ts';

const stepsOf = (text: string) => {
  const read = readStepFile(text);
  return read.ok ? read.steps.map(({ description, done }) => `${done ? 'done: ' : ''}${description}`) : read.reason;
};

it('keeps all lines of a list item, and takes no code and no quotation for a step', () => {
  const text = `# The goal ##
Prose of the file.

- one
  goes on
  > what became of it

  and on
* two
at the margin

Prose between.
\`\`\`sh
# no goal
- no step
\`\`\`
1. three:
   \`\`\`
   - code of three
   \`\`\`
- - -
+ four
  - five
`;
  expect(stepsOf(text)).toEqual([
    'one\ngoes on\n\nand on',
    'two\nat the margin',
    'three:\n ```\n - code of three\n ```',
    'four',
    'five',
  ]);
  expect(readStepFile(text)).toMatchObject({ goal: 'The goal' });
});

it('reads the marks that a plan is shown with', () => {
  const shown = ['- [x] 1. a', '  > It was done.', '- [~] 2. b', '- [-] 3. c', '- [!] 4. d', '- [ ] 5. e', '1. [x] f'];
  expect(stepsOf(shown.join('\r\n'))).toEqual(['done: a', 'done: b', 'done: c', 'd', 'e', 'done: f']);
});

it('takes no comment, no property of the file and no empty item for a step, and knows an underlined heading', () => {
  const text =
    'The goal\n========\n<!-- - no -->\n<!--\n- nor this\n-->\n- [ ] one\n- [ ]\n-\n- [x] two\n<!-- of two -->\n';
  expect(stepsOf(text)).toEqual(['one', 'done: two']);
  expect(readStepFile(text)).toMatchObject({ goal: 'The goal' });
});

it('reads a text that begins with a link as text, and takes the goal that JSON names', () => {
  expect(stepsOf('[the issue](http://x.example)\n\n- one\n')).toEqual(['one']);
  expect(readStepFile('{"goal":"g","steps":[{"description":"- a"}]}')).toMatchObject({
    goal: 'g',
    steps: [{ description: '- a' }],
  });
});

it('says why there are no steps', () => {
  expect(stepsOf('Only prose.')).toBe('it holds no list item');
  expect(stepsOf('[]')).toBe('the list is empty');
  expect(stepsOf(JSON.stringify(Array(101).fill('s')))).toBe('it has 101 steps, and 100 is the most');
});
