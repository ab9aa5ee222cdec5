import { RuntimeError } from '../../schema/errors.ts';
import type { ImportFormat, ImportLine } from '../../schema/policy-views.ts';
import { quote } from '../../text/quote.ts';
import type { Handler } from '../context.ts';

const formats: readonly ImportFormat[] = ['claude', 'codex', 'opencode', 'gemini'];

/** `policy import` (02 §15): the document on stdout or in a new file, the report on stderr. */
const importPolicy: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const from = formats.find((format) => format === flags.text('from'));
  if (from === undefined) {
    throw new RuntimeError('usage', `--from says whose settings they are: ${formats.join(', ')}`, {
      hints: ['reins policy import --from claude'],
    });
  }
  const imported = await (await context.client()).importPolicy({
    from,
    path: words[0] ?? null,
    out: flags.text('out'),
  });
  const { text, out, tests, report, unread, notes, vet, findings } = imported;
  const count = (outcome: ImportLine['outcome']): number => report.filter((line) => line.outcome === outcome).length;
  const counts = {
    exact: count('exact'),
    narrowed: count('narrowed'),
    dropped: count('dropped'),
    inert: count('inert'),
  };
  const failed = text === null || vet === 'error';
  if (context.globals.format !== 'text') {
    const document: unknown = text === null ? null : JSON.parse(text);
    await context.printJson({
      schema_version: 1,
      document,
      out,
      tests,
      report,
      ...counts,
      unread,
      notes,
      vet,
      findings,
    });
    return failed ? 3 : 0;
  }
  for (const { path, message } of unread) context.terminal.err(`reins: ${context.safe(`${path}: ${message}`)}\n`);
  if (text === null) {
    if (unread.length === 0) context.terminal.err(`reins: there are no settings of ${from} in their usual places\n`);
    context.hint(`  reins policy import --from ${from} <path>`);
    return 3;
  }
  for (const line of report) context.hint(reportLine(line));
  for (const one of findings) context.hint(`vet: ${one.severity} ${one.path}: ${one.message} [${one.code}]`);
  for (const note of notes) context.hint(note);
  context.hint(`${counts.exact} exact, ${counts.narrowed} narrowed, ${counts.dropped} dropped`);
  if (vet === 'error') {
    context.terminal.err('reins: the result does not pass vet and is not written\n');
    return 3;
  }
  if (out === null) await context.print(text.replace(/\n$/, ''));
  else {
    await context.print(`Wrote ${out}`);
    if (tests !== null) await context.print(`Wrote ${tests}`);
    context.hint(`reins policy diff default ${quote(out)}`);
  }
  return 0;
};

function reportLine({ source, level, text, outcome, rules, why }: ImportLine): string {
  const at =
    rules.length === 0 ? '' : ` (rule${rules.length === 1 ? '' : 's'} ${rules.map((rule) => rule + 1).join(', ')})`;
  const whose = level === 'project' ? ' [project]' : '';
  return `${outcome.padEnd(8)} ${source}${whose}  ${text}${at}${why === '' ? '' : `: ${why}`}`;
}

export const handlers = { import: importPolicy };
