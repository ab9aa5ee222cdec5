import { resolve } from 'node:path';
import { RuntimeError } from '../../schema/errors.ts';
import { explanationLines } from '../../view/explanation.ts';
import type { Context, Handler } from '../context.ts';
import { readFileBytes } from '../input-bytes.ts';
import { isDeeperThan, mostLevels } from '../../text/json-depth.ts';
import { jsonErrorPosition } from '../../text/json-position.ts';

type Call = { readonly tools: string; readonly tool: string; readonly args: Record<string, unknown> };

const usage = (message: string, hints: readonly string[] = ['reins policy explain --help']) =>
  new RuntimeError('usage', message, { hints });

/** `policy explain` (02 §14.2): what would happen to a call, without doing any of it. */
const explain: Handler = async (context) => {
  const { flags } = context.invocation;
  const ask = flags.text('ask');
  const call = ask === null ? await readCall(context) : noCall(context);
  const explanation = await (await context.client()).explainCall({
    call,
    ask,
    as_asked: false,
    cwd: flags.text('cwd'),
    policy: context.globals.policy?.value ?? null,
    trust: [...context.globals.trust],
    allowed_dir: flags.text('local-exec-allowed-dir'),
  });
  for (const note of explanation.notes) context.warn(note);
  if (explanation.refused !== null) {
    context.hint(`a call like this is refused before any rule is asked: ${explanation.refused}`);
  }
  if (context.globals.format === 'text') await context.print(explanationLines(explanation).join('\n'));
  else {
    const { call: judged, record, wait_s, would_change_with } = explanation;
    await context.printJson({ schema_version: 1, record, call: judged, wait_s, would_change_with });
  }
  return 0;
};

function noCall(context: Context): null {
  const { flags, words } = context.invocation;
  const other = ['args', 'command', 'cwd'].find((name) => flags.has(name));
  if (other !== undefined) throw usage(`--ask names the call: --${other} does not go with it`);
  if (words.length > 0) throw usage(`--ask names the call: "${words[0]}" does not go with it`);
  return null;
}

/** The call of the command line: `--command`, or toolset, tool and arguments as words. */
async function readCall(context: Context): Promise<Call> {
  const { flags, words } = context.invocation;
  const command = flags.text('command');
  if (command !== null) {
    if (flags.has('args')) throw usage('--command and --args exclude each other');
    if (words.length > 0 && !/^local_shell([ /]local_shell)?$/.test(words.join(' ')))
      throw usage(`--command is a call of local_shell: "${words[0]}" does not go with it`);
    return { tools: 'local_shell', tool: 'local_shell', args: { command } };
  }
  const [first, ...rest] = words;
  if (first === undefined) {
    throw usage('say which call: a toolset and tool, --command, or --ask', [
      'reins policy explain --command "git status"',
      `reins policy explain local_fs/read_file --args '{"path":"a"}'`,
    ]);
  }
  const slash = first.indexOf('/');
  const tools = slash < 0 ? first : first.slice(0, slash);
  const second = slash < 0 && rest[0]?.trimStart().startsWith('{') === false ? rest.shift() : undefined;
  const tool = slash < 0 ? (second ?? tools) : first.slice(slash + 1);
  if (tools === '' || tool === '') throw usage(`"${first}" is not <tools>/<tool>`);
  if (second === undefined && tools.includes('.')) {
    throw usage(`"${first}" is no toolset: write ${first.replace('.', '/')}`);
  }
  const given = flags.text('args');
  const [last, surplus] = rest;
  if (given !== null && last !== undefined) throw usage('the arguments are given twice: as --args and as a word');
  if (surplus !== undefined) throw usage(`"${surplus}" is one word too many`);
  return { tools, tool, args: await readArguments(given ?? last ?? '{}', context) };
}

async function readArguments(given: string, context: Context): Promise<Record<string, unknown>> {
  const text = given.startsWith('@') ? await readFile(given.slice(1), context) : given;
  const place = jsonErrorPosition(text);
  if (place !== null) {
    throw usage(`--args is not JSON: line ${place.line}, column ${place.column}`, [
      `reins policy explain local_fs/read_file --args '{"path":"a"}'`,
    ]);
  }
  if (isDeeperThan(text, mostLevels)) throw usage(`--args is nested deeper than ${mostLevels} levels`);
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usage('--args is not a JSON object', [`reins policy explain local_fs/read_file --args '{"path":"a"}'`]);
  }
  // True because JSON that is neither a scalar nor a list is an object.
  return value as Record<string, unknown>;
}

const readFile = async (path: string, context: Context): Promise<string> =>
  (await readFileBytes(resolve(context.process.cwd, path), path, context, '--args')).toString('utf8');

export const handlers = { explain };
