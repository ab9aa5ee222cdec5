/** A line with which npm says what went wrong; its code and its log file stand on lines of their own. */
const npmReason = /^npm (?:error|ERR!) (?!code |errno |syscall |path |A complete log)(.*\S.*)$/;
/** How an error that nobody caught begins, in Node and in Python. */
const uncaught = /^(?:Uncaught )?(?:[\w.]+\.)?\w*(?:Error|Exception)\b/;

/**
 * The one line that says best why a program ended, of the last lines of its stderr. The last line alone does not: Node ends
 * with its own version, npm with the name of a log file.
 */
export function lastWords(lines: readonly string[]): string | undefined {
  const said = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('(Use `node '));
  const last = said.at(-1);
  if (last === undefined) return undefined;
  if (last.startsWith('npm ')) {
    const own = said.slice(said.findLastIndex((line) => !line.startsWith('npm ')) + 1);
    return own.find((line) => npmReason.test(line)) ?? last;
  }
  if (!/^Node\.js v\d/.test(last)) return last;
  return said.findLast((line) => uncaught.test(line)) ?? said.at(-2) ?? last;
}
