import { RuntimeError, usage } from '../../schema/errors.ts';
import { capabilityNames, type ModelRow } from '../../schema/registry.ts';
import { quote } from '../../text/quote.ts';
import { formatBytes, plural } from '../../view/format.ts';
import type { Context, Handler } from '../context.ts';
import { confirmed } from '../confirm.ts';
import { said } from '../said.ts';

const name = (context: Context) => context.invocation.words[0] ?? '';
const backend = (context: Context) => context.invocation.flags.text('backend');

const list: Handler = async (context) => {
  const refresh = context.invocation.flags.bool('refresh') ?? false;
  const found = await (await context.client()).listModels({ backend: backend(context), refresh });
  const failed = found.backends > 0 && found.answered === 0;
  if (context.globals.format !== 'text') {
    await context.printJson(found.rows);
    return failed ? 7 : 0;
  }
  if (found.rows.length > 0) {
    await context.printTable(
      [
        { title: 'BACKEND' },
        { title: 'MODEL', flexible: true },
        ...capabilityNames.map((title) => ({ title: title.toUpperCase() })),
        { title: 'CTX', align: 'right' },
      ],
      found.rows.map(cells),
    );
  } else if (found.notes.length === 0) context.hint('no models');
  for (const note of found.notes) context.hint(note);
  return failed ? 7 : 0;
};

function cells(row: ModelRow): readonly string[] {
  if (row.state === 'unreachable') return [row.backend, `(unreachable: ${row.reason ?? 'no answer'})`];
  const state = row.state === 'declared' ? ' (declared, not available)' : '';
  return [
    row.backend,
    `${row.model}${row.is_default ? ' *' : ''}${state}`,
    ...capabilityNames.map((capability) => (row.capabilities[capability] === true ? '✓' : '-')),
    row.context === null ? '' : String(row.context),
  ];
}

const add: Handler = async (context) => {
  const { flags } = context.invocation;
  const capabilities = flags.list('capability');
  const known: readonly string[] = capabilityNames;
  for (const word of capabilities) {
    if (!known.includes(word.replace(/^no-/, ''))) {
      throw usage(`--capability: "${word}" is not one of ${capabilityNames.join(', ')}, each also with no-`);
    }
  }
  const client = await context.client();
  await client.addModel({
    name: name(context),
    backend: backend(context),
    context: flags.number('context'),
    max_output: flags.number('max-output'),
    capabilities: [...capabilities],
    url: flags.text('url'),
    sha256: flags.text('sha256'),
  });
  await said(context, `Declared model "${name(context)}".`, { declared: name(context) });
  return flags.bool('pull') === true ? pull(context) : 0;
};

const remove: Handler = async (context) => {
  const { flags } = context.invocation;
  const deleteFile = flags.bool('delete') ?? false;
  if (deleteFile && flags.bool('yes') !== true) {
    if (!context.terminal.interactive()) {
      const at = backend(context) === null ? '' : ` --backend ${backend(context)}`;
      throw usage('--delete deletes a downloaded model: without a terminal it needs --yes', [
        `reins model remove ${quote(name(context))}${at} --delete --yes`,
      ]);
    }
    if (!(await confirmed(context, `Delete the downloaded model "${name(context)}"? [y] yes, any other key no`))) {
      throw usage('nothing was deleted');
    }
  }
  const removed = await (await context.client()).removeModel({
    name: name(context),
    backend: backend(context),
    delete_file: deleteFile,
  });
  const where = removed.deleted_from.length === 0 ? '' : ` Deleted from ${removed.deleted_from.join(', ')}.`;
  await said(context, `Removed model "${name(context)}".${where}`, { removed: name(context), ...removed });
  return 0;
};

/** Lists before it asks, and deletes what it has listed and nothing else. */
const prune: Handler = async (context) => {
  if (!context.globals.deleteModels) {
    throw usage('model prune deletes models: it needs --delete-models', ['reins model prune --delete-models']);
  }
  const yes = context.invocation.flags.bool('yes') === true;
  const client = await context.client();
  const { models } = await client.pruneModels({ backend: backend(context), names: null });
  if (models.length === 0) {
    await said(context, 'Nothing to prune.', { deleted: [] });
    return 0;
  }
  for (const { backend: holder, model } of models) context.hint(`${holder}  ${model}`);
  if (!yes) {
    if (!context.terminal.interactive())
      throw usage('without a terminal model prune needs --yes', ['reins model prune --delete-models --yes']);
    if (!(await confirmed(context, `Delete ${plural(models.length, 'model')}? [y] yes, any other key no`))) {
      throw usage('nothing was deleted');
    }
  }
  const deleted = await client.pruneModels({ backend: backend(context), names: [...models] });
  await said(context, `Deleted ${plural(deleted.models.length, 'model')}.`, { deleted: deleted.models });
  return 0;
};

const pull: Handler = async (context) => {
  const { flags } = context.invocation;
  const client = await context.client();
  const stop = new AbortController();
  const ignore = context.process.onSignal('SIGINT', () => stop.abort());
  // The usual limit of an invocation is none for a download; one that was given is.
  const limit = context.globals.timeoutMs ?? 0;
  let expired = false;
  const expire = (): void => {
    expired = true;
    stop.abort();
  };
  const timer = limit > 0 ? setTimeout(expire, limit) : undefined;
  let lastStatus = '';
  try {
    const pulled = await client.pullModel(
      { name: name(context), backend: backend(context), url: flags.text('url'), sha256: flags.text('sha256') },
      (progress) => {
        const part =
          progress.total === null || progress.completed === null
            ? ''
            : ` ${formatBytes(progress.completed)} of ${formatBytes(progress.total)}`;
        if (context.terminal.live) context.terminal.status(context.safe(`${progress.status}${part}`));
        else if (progress.status !== lastStatus && context.terminal.stderrIsTerminal) context.hint(progress.status);
        lastStatus = progress.status;
      },
      stop.signal,
    );
    const size = pulled.bytes === null ? '' : ` (${formatBytes(pulled.bytes)})`;
    const sentence = pulled.present ? `${name(context)} is there already.` : `Pulled ${name(context)}${size}.`;
    await said(context, sentence, { model: name(context), ...pulled });
    return 0;
  } catch (error) {
    if (expired) {
      const message = `the download was not done within --timeout (${limit / 1000} s); what the server has of it stays`;
      throw new RuntimeError('timeout', message);
    }
    if (stop.signal.aborted) return 130;
    throw error;
  } finally {
    clearTimeout(timer);
    ignore();
  }
};

const show: Handler = async (context) => {
  const model = await (await context.client()).showModel({ name: name(context), backend: backend(context) });
  if (context.globals.format !== 'text') {
    await context.printJson(model);
    return 0;
  }
  const number = (value: number | null) => (value === null ? '-' : String(value));
  const can = capabilityNames.filter((capability) => model.capabilities[capability] === true);
  for (const [label, value] of [
    ['Model', model.model],
    ['Capabilities', can.length === 0 ? '-' : can.join(', ')],
    [
      'Context',
      `${number(model.context.effective)} (discovered ${number(model.context.discovered)}, declared ${number(model.context.declared)})`,
    ],
    ['Max output', number(model.max_output)],
    ['Size', model.size_bytes === null ? '-' : formatBytes(model.size_bytes)],
    ['Digest', model.digest ?? '-'],
    ['Backends', model.backends.length === 0 ? '-' : model.backends.join(', ')],
  ] as const) {
    await context.print(`${`${label}:`.padEnd(14)}${value}`);
  }
  return 0;
};

const setContext: Handler = async (context) => {
  const length = context.invocation.flags.number('context');
  if (length === null) {
    throw usage('model set-context needs --context', [`reins model set-context ${name(context)} --context 32k`]);
  }
  await (await context.client()).setModelContext({ name: name(context), backend: backend(context), context: length });
  const sentence = length === 0 ? `Context of ${name(context)} cleared.` : `Context of ${name(context)} = ${length}.`;
  await said(context, sentence, { model: name(context), context: length });
  return 0;
};

export const handlers = { list, add, remove, prune, pull, show, 'set-context': setContext };
