import { lstatSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { RuntimeError } from '../../schema/errors.ts';
import type { ImportFormat, ImportLine, PolicyImport } from '../../schema/policy-views.ts';
import { quote } from '../../text/quote.ts';
import type { Handler } from '../context.ts';
import { outFile, writeWhole } from '../write-file.ts';

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
  const wanted = outFile(flags);
  if (wanted !== null && isTaken(wanted)) throw taken(wanted);
  const imported = await (await context.client()).importPolicy({ from, path: words[0] ?? null });
  const { text, cases, report, unread, notes, vet, findings } = imported;
  const count = (outcome: ImportLine['outcome']): number => report.filter((line) => line.outcome === outcome).length;
  const counts = {
    exact: count('exact'),
    narrowed: count('narrowed'),
    dropped: count('dropped'),
    inert: count('inert'),
  };
  if (text === null) throw nothingRead(from, unread);
  const out = vet === 'error' ? null : wanted;
  const tests = out === null || cases.length === 0 ? null : testsBeside(out);
  if (out !== null) {
    if (tests !== null) await writeTests(tests, { policy: `./${basename(out)}`, cases });
    await writeWhole(out, false, [text], taken(out));
  }
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

const testsBeside = (out: string): string => `${out.replace(/\.json$/, '')}.policy-test.json`;

/** Ahead of the policy: what an import that was killed in between has left is the same, and no reason to refuse another. */
async function writeTests(path: string, document: object): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (!holds(path, text)) await writeWhole(path, false, [text], taken(path));
}

function holds(path: string, text: string): boolean {
  try {
    return lstatSync(path).isFile() && readFileSync(path, 'utf8') === text;
  } catch {
    return false;
  }
}

/** A place that cannot be looked at is no name that is taken: writing says what is the matter. */
function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const taken = (path: string): RuntimeError =>
  new RuntimeError('already_exists', `--out: ${path} exists already: name another file`);

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
