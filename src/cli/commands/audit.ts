import { RuntimeError } from '../../schema/errors.ts';
import { auditLine, lossText } from '../../view/audit-line.ts';
import { auditHints } from '../../view/audit-check.ts';
import { stamp } from '../../text/stamp.ts';
import { plural } from '../../view/format.ts';
import { confirmed } from '../confirm.ts';
import type { Handler } from '../context.ts';
import { shownIds } from '../ids.ts';
import { when } from '../times.ts';
import { outFile, writeWhole } from '../write-file.ts';

/** Rows of one page of an export. */
const page = 1000;

const list: Handler = async (context) => {
  const { flags } = context.invocation;
  const client = await context.client();
  const { rows, total } = await client.listAudit({
    since: flags.number('since'),
    run: flags.text('run'),
    type: flags.text('type'),
    tools: flags.text('tools'),
    limit: flags.number('limit') ?? 100,
  });
  if (context.globals.format !== 'text') {
    // Read by people and scripts; what the hashes are over is in an export.
    await context.printJson({ rows: rows.map((row) => ({ ...row, at: stamp(row.at) })), total });
    return 0;
  }
  if (rows.length === 0) {
    context.hint('no such entries');
    return 0;
  }
  const asks = rows.flatMap(({ body }) => (typeof body['ask_id'] === 'string' ? [body['ask_id']] : []));
  const shown = await shownIds(context, client, 'out', asks);
  await context.printTable(
    [
      { title: 'TIME' },
      { title: 'TYPE' },
      { title: 'TOOL' },
      { title: 'SUMMARY', flexible: true },
      { title: 'ACTOR' },
      { title: 'RULE' },
    ],
    rows.map((row) => {
      const { tool, summary, actor, rule } = auditLine(row, shown);
      return [when(context, new Date(row.at).toISOString()), row.type, tool, summary, actor, rule];
    }),
  );
  if (total > rows.length) context.hint(`${total - rows.length} more; --limit shows them`);
  return 0;
};

const headFlag = '; --head takes one that you have noted';

const verify: Handler = async (context) => {
  const found = await (await context.client()).verifyAudit({ head: notedHead(context.invocation.flags.text('head')) });
  if (context.globals.format !== 'text') {
    await context.printJson(found);
    return found.ok ? 0 : 1;
  }
  if (!found.ok) await context.print(`seq ${found.break?.seq}: ${found.break?.reason}`);
  else {
    await context.print(`ok: ${found.entries} ${found.entries === 1 ? 'entry' : 'entries'}, head ${found.head}`);
    for (const { seq, at, ...loss } of found.restored) {
      await context.print(`seq ${seq}: a backup was put back by ${new Date(at).toISOString()}: ${lossText(loss)}`);
    }
  }
  for (const hint of auditHints(found, headFlag)) context.hint(hint);
  return found.ok ? 0 : 1;
};

/** A word that no entry can have is a slip, and not the trace of a forger. @throws RuntimeError usage */
function notedHead(given: string | null): string | null {
  if (given === null || /^[0-9a-f]{64}$/.test(given)) return given;
  throw new RuntimeError('usage', `--head: "${given}" is not the hash of an entry: it has 64 digits from 0 to f`, {
    hints: ['reins audit verify'],
  });
}

/** To stdout page by page; a file is made whole or not at all. */
const exportAudit: Handler = async (context) => {
  const { flags } = context.invocation;
  const out = outFile(flags);
  const client = await context.client();
  let lines = 0;
  const text = (line: unknown): string => {
    lines += 1;
    return `${JSON.stringify(line)}\n`;
  };
  const document = async function* (): AsyncGenerator<string> {
    for (let after = 0; ; ) {
      const { rows, head } = await client.exportAudit({
        after,
        since: flags.number('since'),
        limit: page,
        with_text: flags.bool('with-text') === true,
      });
      yield rows.map(text).join('');
      after = rows.at(-1)?.seq ?? after;
      if (rows.length === page) continue;
      yield text({ type: 'head', ...head, exported_at: new Date(context.process.now()).toISOString() });
      return;
    }
  };
  if (out === null) {
    for await (const piece of document()) await context.terminal.out(piece);
    return 0;
  }
  const taken = new RuntimeError('usage', `--out: ${out} cannot be written: it exists already`);
  await writeWhole(out, false, document(), taken);
  if (context.globals.format !== 'text') await context.printJson({ path: out, lines });
  else {
    await context.print(`Wrote ${out}`);
    context.hint(plural(lines, 'line'));
  }
  return 0;
};

const prune: Handler = async (context) => {
  const { flags } = context.invocation;
  const before = flags.number('before');
  if (before === null) {
    throw new RuntimeError('usage', '--before is missing: it says which entries go', {
      hints: ['reins audit prune --before 365d'],
    });
  }
  const until = new Date(before).toISOString();
  if (flags.bool('yes') !== true) {
    if (!context.terminal.interactive()) {
      throw new RuntimeError('usage', 'prune removes entries for ever: without a terminal it needs --yes', {
        hints: ['reins audit export --out <file>', 'reins audit prune --before <date> --yes'],
      });
    }
    if (!(await confirmed(context, `Remove every audit entry before ${until}? [y] yes, any other key no`))) {
      throw new RuntimeError('usage', 'nothing was removed');
    }
  }
  const { removed } = await (await context.client()).pruneAudit({ before });
  if (context.globals.format !== 'text') await context.printJson({ removed });
  else await context.print(`Removed ${removed} ${removed === 1 ? 'entry' : 'entries'} before ${until}.`);
  return 0;
};

const restored: Handler = async (context) => {
  const client = await context.client();
  const { lost, follows } = await client.verifyAudit({ head: null });
  if (follows && lost !== null && context.invocation.flags.bool('yes') !== true) {
    const question = `This is so after a backup was put in the place of the database; otherwise entries were cut off or written anew: ${lossText(lost)}.`;
    if (!context.terminal.interactive()) {
      throw new RuntimeError(
        'usage',
        'what is missing counts as explained from then on: without a terminal it needs --yes',
        {
          hints: ['reins audit verify', 'reins audit restored --yes'],
        },
      );
    }
    if (!(await confirmed(context, `${question} Record that it is a backup? [y] yes, any other key no`))) {
      throw new RuntimeError('usage', 'nothing was recorded');
    }
  }
  // Where nothing is missing nothing is written, and nothing need be writable.
  const { recorded } = follows && lost === null ? { recorded: null } : await client.recordRestored({});
  if (context.globals.format !== 'text') await context.printJson({ recorded });
  else if (recorded === null) await context.print('Nothing to record: every head that was noted is in the audit log.');
  else await context.print(`Recorded that a backup was put back: ${lossText(recorded)}.`);
  return 0;
};

export const handlers = { list, verify, export: exportAudit, prune, restored };
