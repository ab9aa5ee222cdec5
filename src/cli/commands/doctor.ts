import { join } from 'node:path';
import { RuntimeError } from '../../schema/errors.ts';
import type { InstructionsView } from '../../schema/instructions.ts';
import type { BackendCheck, DoctorReport, SetupIssue } from '../../schema/registry.ts';
import type { SourceCheck } from '../../schema/tool-sources.ts';
import { formatBytes, plural, tellTimes } from '../../view/format.ts';
import { instructionsLine } from '../../view/instructions-line.ts';
import { gravestFirst } from '../../view/issue-order.ts';
import { knowsModels, modelsNotAsked } from '../../view/known-models.ts';
import type { Context, Handler } from '../context.ts';
import { writeWhole } from '../write-file.ts';

/** `doctor` (06 §15): the same evaluation as every other surface; the exit code says whether something is wrong. */
const doctor: Handler = async (context) => {
  const { flags } = context.invocation;
  if (flags.bool('bundle') === true) return bundle(context);
  if (flags.has('out')) {
    throw new RuntimeError('usage', '--out belongs to --bundle', { hints: ['reins doctor --bundle --out <file.zip>'] });
  }
  const report = await (await context.client()).doctor({
    probe: flags.bool('skip-probe') !== true,
    ...(context.globals.model === null ? {} : { model: context.globals.model.value }),
    ...policyOf(context),
  });
  const { issues } = report.status;
  const strict = flags.bool('strict') ?? false;
  const bad = issues.some((issue) => issue.severity === 'error' || (strict && issue.severity === 'warning'));
  if (context.globals.format !== 'text') {
    await context.printJson({
      ...report.status,
      policy: report.policy,
      dataDir: report.dataDir,
      database: report.database,
      toolSources: report.toolSources,
      instructions: report.instructions,
    });
  } else for (const line of lines(report, told(context), context.placed)) await context.print(line);
  return bad ? 1 : 0;
};

const policyOf = ({ globals: { policy } }: Context) => (policy === null ? {} : { policy: policy.value });

/** `doctor --bundle`: a new file that only its owner can read, without anything that could not be shown. */
async function bundle(context: Context): Promise<number> {
  const { process, invocation } = context;
  const now = process.now();
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
  const path = invocation.flags.text('out') ?? join(process.cwd, `reins-doctor-${stamp}.zip`);
  const { files } = await (await context.client()).doctorBundle({
    probe: invocation.flags.bool('skip-probe') !== true,
    ...policyOf(context),
  });
  const { zip } = await import('../zip.ts');
  const bytes = zip(
    files.map(({ name, text }) => ({ name, bytes: Buffer.from(text, 'utf8') })),
    now,
  );
  const taken = new RuntimeError('already_exists', `--out: ${path} exists already`, {
    hints: ['reins doctor --bundle'],
  });
  await writeWhole(path, false, [bytes], taken);
  if (context.globals.format === 'text') await context.print(path);
  else await context.printJson({ path, files: files.map(({ name }) => name) });
  return 0;
}

/** A command as it reaches what this invocation looked at. JSON has it bare: it is the object of the server, too. */
type Placed = Context['placed'];

/** Sentences with times in them as a listing has them (06 §2.4.3). */
const told =
  ({ terminal, process }: Context) =>
  (sentence: string): string =>
    terminal.stdoutIsTerminal ? tellTimes(sentence, process.now()) : sentence;

function lines(report: DoctorReport, tell: (sentence: string) => string, placed: Placed): readonly string[] {
  const { status, policy, database } = report;
  const hash = policy.sha256 === null ? '' : `, ${policy.sha256.slice(0, 8)}`;
  const size = database.bytes === null ? 'not created yet' : formatBytes(database.bytes);
  const schema = database.schema === null ? '' : `, schema ${database.schema}`;
  return [
    `Default model: ${status.defaultModel === '' ? '-' : status.defaultModel} (${status.defaultModelSource})`,
    `Default provider: ${status.defaultProvider === '' ? 'any' : status.defaultProvider}`,
    `Default chain: ${status.defaultChain === '' ? '-' : status.defaultChain}`,
    `Policy: ${policy.name} (${policy.source}${hash})`,
    `Data directory: ${report.dataDir ?? '-'}`,
    `Database: ${database.path} (${size}${schema})`,
    ...report.instructions.flatMap((file) => instructionsLines(file, placed)),
    `Backends: ${status.backendCount} registered, ${status.reachableBackendCount} reachable`,
    ...status.backendChecks.flatMap((check) => checkLines(check, report, placed)),
    ...(report.toolSources.length === 0 ? [] : [`Tool sources: ${report.toolSources.length} registered`]),
    ...report.toolSources.flatMap(sourceLines),
    ...(status.issues.length === 0
      ? ['All checks passed.']
      : ['Issues', ...gravestFirst(status.issues).flatMap((issue) => issueLines(issue, tell, placed))]),
  ];
}

const instructionsLines = (file: InstructionsView, placed: Placed): readonly string[] => [
  `Instructions: ${instructionsLine(file)}`,
  ...(file.mend === null ? [] : [`    Try: ${placed(file.mend)}`]),
];

/** 08 §12.4. Of several backends of the default provider, the one that would be asked is called the default. */
function checkLines(check: BackendCheck, { status, defaultBackend }: DoctorReport, placed: Placed): readonly string[] {
  const asked = status.backendChecks.find(({ name }) => name === defaultBackend);
  const isDefault = check.defaultProvider && (asked?.defaultProvider !== true || asked === check);
  const starred = (model: string): boolean => model === status.defaultModel && (asked === undefined || asked === check);
  const key = check.keySource === 'none' ? '' : `  key ${check.keySource}`;
  const head = `${check.name}  ${check.type}  ${check.baseUrl}${key}${isDefault ? '  [default]' : ''}`;
  if (check.status === 'ready' && !knowsModels(check.modelCount, check.latencyMs)) {
    return [`● ${head}`, `    ${modelsNotAsked}`];
  }
  if (check.status === 'ready') {
    const latency = check.latencyMs === null ? '' : `, ${Math.round(check.latencyMs)} ms`;
    const models = check.chatModels.map((model) => (starred(model) ? `${model} *` : model)).join(', ');
    return [
      `● ${head}`,
      `    reachable, ${check.modelCount === 0 ? 'lists no models' : `${plural(check.chatModelCount, 'chat model')} of ${check.modelCount}`}${latency}`,
      ...(models === '' ? [] : [`    ${models}`]),
    ];
  }
  if (check.status === 'pending') return [`● ${head}`, '    not asked yet'];
  return [
    `● ${head}`,
    `    error (${check.errorClass ?? 'unknown'}): ${check.error ?? 'no answer'}`,
    ...(check.hint === null ? [] : [`    Try: ${placed(check.hint)}`]),
  ];
}

function sourceLines({ kind, name, place, state, tools, latencyMs, error }: SourceCheck): readonly string[] {
  const head = `● ${name}  ${kind}  ${place}`;
  if (state === 'pending') return [head, '    not asked yet'];
  if (state === 'error') return [head, `    error: ${error ?? 'no answer'}`];
  return [head, `    reachable, ${plural(tools, 'tool')}${latencyMs === null ? '' : `, ${Math.round(latencyMs)} ms`}`];
}

const issueLines = (issue: SetupIssue, tell: (sentence: string) => string, placed: Placed): readonly string[] => [
  `[${issue.severity}] ${issue.code}: ${tell(issue.message)}`,
  ...(issue.cliCommand === null ? [] : [`    Try: ${placed(issue.cliCommand)}`]),
  // The list says which; what is done with one of them is another command.
  ...(issue.cliCommand?.startsWith('reins state list ') ? [`    Then: ${placed('reins state resume <run>')}`] : []),
];

export const handlers = { '': doctor };
