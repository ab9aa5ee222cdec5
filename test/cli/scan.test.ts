import { describe, expect, test } from 'vitest';
import { scan } from '../../src/cli/scan.ts';
import { RuntimeError } from '../../src/schema/errors.ts';

/** What a command line means, in short: command words, then text, then flags. */
const read = (...argv: readonly string[]) => {
  const found = scan(argv);
  return {
    command: found.path.map((entry) => entry.name).join(' '),
    words: found.words,
    flags: Object.fromEntries(found.flags.map((entry) => [entry.flag.name, entry.text])),
  };
};

const refusal = (...argv: readonly string[]): RuntimeError => {
  try {
    scan(argv);
  } catch (error) {
    if (error instanceof RuntimeError) return error;
    throw error;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
};

describe('implicit run', () => {
  test('text that is no command is a run', () => {
    expect(read('hey', 'what', 'can', 'you', 'do')).toEqual({
      command: 'run',
      words: ['hey', 'what', 'can', 'you', 'do'],
      flags: {},
    });
    expect(scan(['hey']).implicit).toBe(true);
  });

  test('a flag that only a run has means a run, also without a word', () => {
    expect(read('--input-type', 'int', '--input', '5')).toMatchObject({ command: 'run', words: [] });
    expect(read('--var', 'a=1')).toMatchObject({ command: 'run', words: [] });
  });

  test('boolean flags do not swallow the text', () => {
    expect(read('--shell', '--steps', 'hey')).toEqual({
      command: 'run',
      words: ['hey'],
      flags: { shell: 'true', steps: 'true' },
    });
  });

  test('a flag with a value takes the next token, whatever it is', () => {
    expect(read('--model', 'm', 'hey')).toEqual({ command: 'run', words: ['hey'], flags: { model: 'm' } });
    expect(read('run', '--input', '-5')).toEqual({ command: 'run', words: [], flags: { input: '-5' } });
    expect(read('--model', 'chat', 'hi')).toEqual({ command: 'run', words: ['hi'], flags: { model: 'chat' } });
  });

  test('--think takes a value only with an equals sign', () => {
    expect(read('--think', 'hey')).toEqual({ command: 'run', words: ['hey'], flags: { think: null } });
    expect(read('--think=high', 'hey')).toEqual({ command: 'run', words: ['hey'], flags: { think: 'high' } });
  });

  test('what follows -- is text and never a command', () => {
    expect(read('--', 'chat', 'about', '--cats')).toEqual({
      command: 'run',
      words: ['chat', 'about', '--cats'],
      flags: {},
    });
    expect(read('chat', '--', '--help').words).toEqual(['--help']);
  });

  test('a dash alone is a word', () => {
    expect(read('-')).toEqual({ command: 'run', words: ['-'], flags: {} });
  });

  test('no words and no command leave the choice to the entry point', () => {
    expect(read('--json')).toEqual({ command: '', words: [], flags: { json: 'true' } });
  });
});

describe('commands', () => {
  test('flags stand before, between and after the command words', () => {
    expect(read('--json', 'session', '--tail', '3', 'show', 'work')).toEqual({
      command: 'session show',
      words: ['work'],
      flags: { json: 'true', tail: '3' },
    });
  });

  test('aliases are the command', () => {
    expect(read('models', 'ls').command).toBe('model list');
    expect(read('backend', 'rm', 'x').command).toBe('backend remove');
  });

  test('an unknown subcommand names the valid ones and the way to send it as a prompt', () => {
    const error = refusal('policy', 'of', "france's", 'king');
    expect([error.code, error.message]).toEqual([
      'usage',
      '"of" is not a subcommand of "policy" (list, show, vet, explain, test, replay, diff, suggest, import, trust)',
    ]);
    expect(error.hints[1]).toBe("reins run policy of 'france'\\''s' king");
    const swapped = refusal('session', 'shwo', 'work');
    expect(swapped.message).toMatch(/; did you mean "show"\?$/);
    expect(swapped.hints[0]).toBe('reins session show work');
  });

  test('what an MCP server is started with is no flag of update, which says what to do instead', () => {
    const error = refusal('mcp', 'update', 'x', '--cwd', '/y');
    expect([error.message, error.hints[0]]).toEqual([
      '"reins mcp update" has no flag --cwd; remove the server and add it again with it',
      'reins mcp remove <name>',
    ]);
  });

  test('negated and explicit booleans', () => {
    expect(read('--no-delete-models', 'x').flags).toEqual({ 'delete-models': 'false' });
    expect(read('--no-delete-models=false', 'x').flags).toEqual({ 'delete-models': 'true' });
    expect(read('--steps=false', 'x').flags).toEqual({ steps: 'false' });
    expect(read('mcp', 'add', 'x', '--no-probe').flags).toEqual({ probe: 'false' });
    expect(refusal('--steps=maybe', 'x').message).toBe('--steps is true or false, not "maybe"');
  });
});

describe('refusals', () => {
  test('an undefined flag names the nearest one and where such text belongs', () => {
    expect(refusal('--modle', 'hi').message).toBe(
      '--modle is not a flag (did you mean --model?); text that begins with - goes after --',
    );
    expect(refusal('--nosuchthing', 'hi').message).toBe(
      '--nosuchthing is not a flag; text that begins with - goes after --',
    );
    // A near name of another command's is none that this one takes.
    expect(refusal('run', '--frob', 'hi').message).toBe('--frob is not a flag; text that begins with - goes after --');
    expect(refusal('plan', 'new', '--frob', 'hi').message).toContain('(did you mean --from?)');
    expect(refusal('plan', '--frob', 'new').message).toContain('(did you mean --from?)');
    expect(refusal('--=x', 'hi').message).toBe('-- is not a flag; text that begins with - goes after --');
    expect(refusal('what', 'is', '3', '-5').message).toBe('-5 is not a flag; text that begins with - goes after --');
  });

  test('a flag of another command is refused by name', () => {
    expect(refusal('session', 'list', '--tail', '3').message).toBe('"reins session list" has no flag --tail');
    expect(refusal('--tail', '3', 'session', 'list').message).toBe('"reins session list" has no flag --tail');
  });

  test('a flag of another command without any command', () => {
    expect(refusal('--tail', '3')).toMatchObject({ message: '"reins" has no flag --tail', hints: ['reins --help'] });
  });

  test('a missing value and a repeated flag', () => {
    expect(refusal('run', '--model').message).toBe('--model needs a value');
    expect(refusal('--model', 'a', '--model', 'b', 'x').message).toBe('--model is given twice');
    expect(scan(['run', '--var', 'a=1', '--var', 'b=2']).flags.map((entry) => entry.text)).toEqual(['a=1', 'b=2']);
  });

  test('a flag whose meaning depends on the command stands after it', () => {
    expect(refusal('--tools', 'session', 'show').message).toBe(
      '--tools means different things: write it after the command word',
    );
    expect(read('session', 'show', '--tools').flags).toEqual({ tools: 'true' });
    expect(read('audit', 'list', '--tools', 'local_fs').flags).toEqual({ tools: 'local_fs' });
  });
});

describe('did you mean', () => {
  test('a word that is nearly a command is named, with the command line that was meant', () => {
    expect(scan(['sesion', 'list'])).toMatchObject({
      implicit: true,
      words: ['sesion', 'list'],
      meant: { given: 'sesion', command: 'session', argv: ['session', 'list'] },
    });
    expect(scan(['--model', 'docter', 'docter']).meant).toEqual({
      given: 'docter',
      command: 'doctor',
      argv: ['--model', 'docter', 'doctor'],
    });
  });

  test('of several commands the nearest is meant, not the first of the table', () => {
    expect(scan(['Version']).meant).toMatchObject({ command: 'version' });
    expect(scan(['verison']).meant).toMatchObject({ command: 'version' });
  });

  test('a sentence is no typing mistake', () => {
    expect(scan(['pan', 'the', 'day']).meant).toBeNull();
    expect(scan(['hello']).meant).toBeNull();
    expect(scan(['plans are good']).meant).toBeNull();
  });
});
