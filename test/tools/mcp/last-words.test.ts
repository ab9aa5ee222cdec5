import { expect, test } from 'vitest';
import { lastWords } from '../../../src/tools/mcp/last-words.ts';

test.each<[string, string, string | undefined]>([
  ['nothing', '\n \n', undefined],
  ['a plain last line', 'starting\nno configuration found\n', 'no configuration found'],
  [
    'a crash of Node',
    'file:///srv/index.js:3\nthrow new Error("boom");\n^\n\nError: no token is set\n    at file:///srv/index.js:3:7\n    at run (node:x:1:2) {\n  code: 1\n}\n\nNode.js v20.20.2\n',
    'Error: no token is set',
  ],
  ['a thrown text', 'node:1\nthrow "x";\n^\nx\n(Use `node --trace-uncaught ...`)\n\nNode.js v20.20.2\n', 'x'],
  [
    'npx of a package that there is not',
    'npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/@a%2fb\nnpm error 404\nnpm error 404 tarball, folder, http url, or git url.\nnpm error A complete log of this run can be found in: /x.log\n',
    'npm error 404 Not Found - GET https://registry.npmjs.org/@a%2fb',
  ],
  [
    'npx of a package without a program',
    'npm error could not determine executable to run\nnpm error A complete log of this run can be found in: /x.log\n',
    'npm error could not determine executable to run',
  ],
  [
    'an exception of Python',
    'Traceback (most recent call last):\n  File "s.py", line 1\nValueError: boom\n',
    'ValueError: boom',
  ],
])('of %s', (_name, text, line) => {
  expect(lastWords(text.split('\n'))).toBe(line);
});
