import { RuntimeError } from '../../schema/errors.ts';
import type { ImportFormat, ImportLine, PolicyImport } from '../../schema/policy-views.ts';
import { quote } from '../../text/quote.ts';
import type { Handler } from '../context.ts';
import { outFile } from '../write-file.ts';

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
    out: outFile(flags),
  });
  const { text, out, tests, report, unread, notes, vet, findings } = imported;
  const count = (outcome: ImportLine['outcome']): number => report.filter((line) => line.outcome === outcome).length;
  const counts = {
    exact: count('exact'),
    narrowed: count('narrowed'),
    dropped: count('dropped'),
    inert: count('inert'),
  };
  if (text === null) throw nothingRead(from, unread);
  if (context.globals.format !== 'text') {
    const document: unknown = JSON.parse(text);
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
    return vet === 'error' ? 3 : 0;
  }
  for (const { path, message } of unread) context.terminal.err(`reins: ${context.safe(`${path}: ${message}`)}\n`);
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

function nothingRead(from: ImportFormat, unread: PolicyImport['unread']): RuntimeError {
  const [first] = unread;
  const message =
    first === undefined
      ? `there are no settings of ${from} in their usual places`
      : unread.length === 1
        ? `${first.path}: ${first.message}`
        : `${unread.length} files of ${from} cannot be used`;
  return new RuntimeError('config_invalid', message, {
    data: { findings: unread },
    hints: [`reins policy import --from ${from} <path>`],
  });
}

function reportLine({ source, level, text, outcome, rules, why }: ImportLine): string {
  const at =
    rules.length === 0 ? '' : ` (rule${rules.length === 1 ? '' : 's'} ${rules.map((rule) => rule + 1).join(', ')})`;
  const whose = level === 'project' ? ' [project]' : '';
  return `${outcome.padEnd(8)} ${source}${whose}  ${text}${at}${why === '' ? '' : `: ${why}`}`;
}

export const handlers = { import: importPolicy };
