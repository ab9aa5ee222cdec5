/** A literal word of a line for the shell, as far as it can be read without a grammar. */
export type ShellWord = { readonly text: string; readonly program: boolean };

/** Behind these words a program follows, not an operand. */
const openers: ReadonlySet<string> = new Set('! { ( if then elif else while until do time'.split(' '));

/**
 * The literal words of a line (05 §3.4.2), those behind redirections among them. A word with an expansion is left out:
 * what it becomes is not known, and such a line is never allowed without an ask. Pure, linear, never throws.
 */
export function literalWords(line: string): readonly ShellWord[] {
  const words: ShellWord[] = [];
  let program = true;
  let text = '';
  let inWord = false;
  let literal = true;

  const finish = (): void => {
    if (inWord && literal) words.push({ text, program });
    const assignment = program && /^[A-Za-z_][A-Za-z0-9_]*=/.test(text);
    if (inWord) program = program && (openers.has(text) || assignment);
    text = '';
    inWord = false;
    literal = true;
  };

  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === "'") {
      const end = line.indexOf("'", at + 1);
      text += line.slice(at + 1, end < 0 ? line.length : end);
      inWord = true;
      at = end < 0 ? line.length : end;
    } else if (character === '"') {
      const quoted = doubleQuoted(line, at + 1);
      text += quoted.text;
      literal &&= quoted.literal;
      inWord = true;
      at = quoted.end;
    } else if (character === '\\') {
      at += 1;
      text += line.charAt(at);
      inWord = true;
    } else if (character === ' ' || character === '\t') {
      finish();
    } else if (';|&()\n'.includes(character)) {
      finish();
      program = true;
    } else if (character === '<' || character === '>') {
      // The number before a redirection is no operand.
      if (/^[0-9]+$/.test(text)) inWord = false;
      const before: boolean = program;
      finish();
      program = before;
      at = redirected(line, at, words);
    } else {
      if (character === '$' || character === '`') literal = false;
      text += character;
      inWord = true;
    }
  }
  finish();
  return words;
}

/** Reads past the operator and its target, which becomes an operand. @returns the index of the last character read. */
function redirected(line: string, from: number, words: ShellWord[]): number {
  let at = from;
  while ('<>&|-'.includes(line.charAt(at)) && at < line.length) at += 1;
  while (line.charAt(at) === ' ' || line.charAt(at) === '\t') at += 1;
  const match = /^(?:'[^']*'|"[^"$`\\]*"|[^\s;|&()<>'"$`\\])+/.exec(line.slice(at, at + 8192));
  if (match === null) return at - 1;
  const target = match[0].replace(/['"]/g, '');
  // A number behind `>&` is a descriptor.
  if (!/^[0-9]+$/.test(target)) words.push({ text: target, program: false });
  return at + match[0].length - 1;
}

function doubleQuoted(line: string, from: number): { text: string; literal: boolean; end: number } {
  let text = '';
  let literal = true;
  for (let at = from; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === '"') return { text, literal, end: at };
    if (character === '\\') at += 1;
    else if (character === '$' || character === '`') literal = false;
    text += line.charAt(at);
  }
  return { text, literal, end: line.length };
}
