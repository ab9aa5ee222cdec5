import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelPart, ModelRequest } from '../../src/models/model.ts';
import { createScripted, listScripted } from '../../src/models/scripted.ts';
import { demoScript } from '../../src/models/scripted-demo.ts';
import { parseScript } from '../../src/models/scripted-script.ts';
import type { Message, ToolSpec } from '../../src/schema/message.ts';
import { tour } from '../../src/schema/tour.ts';
import { tempHome } from '../support/temp-home.ts';

// The same turns, told without pauses.
const home = tempHome();
const script = join(home.workspace, 'demo.json');
writeFileSync(script, JSON.stringify({ ...demoScript, defaults: { chunk: 'none' } }));
afterAll(() => home.remove());

const demo = await createScripted({
  backend: 'demo',
  type: 'scripted',
  base_url: script,
  key: null,
  headers: {},
  proxy: null,
  timeouts: { connect_ms: 1000, first_byte_ms: 1000, idle_ms: 1000 },
  model: 'demo',
  context: 8192,
  max_output: 2048,
  capabilities: {},
  num_ctx: { fixed: null, cap: 32768 },
  keep_alive: '10m',
  workspace: '/ws',
});

const specs: readonly ToolSpec[] = [
  ['local_fs', 'read_file'],
  ['local_fs', 'list_dir'],
  ['local_fs', 'write_file'],
  ['local_shell', 'local_shell'],
].map(([tools = '', tool = '']) => ({ tools, tool, description: '', input_schema: {}, read_only: false }));
const withoutShell = specs.filter(({ tools }) => tools !== 'local_shell');

type Step = { readonly text: string; readonly call: { readonly name: string; readonly args: unknown } | null };

/** Talks to the script as the engine would: every call is answered by the next result. */
async function talk(
  prompt: string,
  results: readonly string[],
  options: { readonly tools?: readonly ToolSpec[]; readonly system?: string } = {},
): Promise<Step[]> {
  const messages: Message[] = [{ id: 'm0', role: 'user', content: prompt, timestamp: '' }];
  const steps: Step[] = [];
  for (let index = 0; ; index += 1) {
    const asked: ModelRequest = {
      model: 'demo',
      system: options.system ?? '',
      messages,
      tools: options.tools ?? specs,
      think: 'auto',
      attempt: 1,
    };
    const parts: ModelPart[] = [];
    for await (const part of demo.stream(asked, new AbortController().signal)) parts.push(part);
    const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const call = parts.find((part) => part.kind === 'tool_call');
    const name = call?.name ?? '';
    steps.push({ text, call: call === undefined ? null : { name, args: JSON.parse(call.arguments_delta ?? '') } });
    if (call === undefined) return steps;
    const meta = parts.find((part) => part.kind === 'meta');
    messages.push(
      {
        id: `a${index}`,
        role: 'assistant',
        content: text,
        timestamp: '',
        tool_calls: [{ id: `c${index}`, type: 'function', function: { name, arguments: call.arguments_delta ?? '' } }],
        ...(meta === undefined ? {} : { provider_meta: meta.provider_meta }),
      },
      {
        id: `t${index}`,
        role: 'tool',
        content: results[index] ?? '',
        timestamp: '',
        tool_call_id: `c${index}`,
        tool_name: name,
      },
    );
  }
}

const last = (steps: readonly Step[]): string => steps.at(-1)?.text ?? '';
const calls = (steps: readonly Step[]) => steps.flatMap(({ call }) => (call === null ? [] : [call]));

const denial = (message: string, rest: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ ok: false, error: 'denied', message, by: 'policy', ...rest });
const note = tour.note.content;
const credentialsDenied = denial('This call was not run: policy "default", rule 1 denies it.');

const tourCalls = [
  { name: 'local_fs.read_file', args: { path: 'note.txt' } },
  { name: 'local_shell.local_shell', args: { command: 'ls' } },
  { name: 'local_fs.read_file', args: { path: '.aws/credentials' } },
  { name: 'local_fs.write_file', args: { path: 'reins-demo.txt', content: tour.written.content } },
];
const seenSoFar =
  '(scripted demo) Four calls went through one gate: the note was read and `ls` ran, because rules allow them; the ' +
  'credentials were refused, because a rule denies them whoever asks;';

describe('the built-in script', () => {
  it('passes the check of every other script, and serves the model demo', async () => {
    expect(parseScript(JSON.stringify(demoScript), 'demo').turns).toHaveLength(demoScript.turns.length);
    expect(await listScripted('builtin:demo', '/ws')).toMatchObject([
      { name: 'demo', context: 8192, max_output: 2048, capabilities: { chat: true, tools: true } },
    ]);
  });

  it('begins every reply with what it is', () => {
    for (const { name, reply } of [...demoScript.turns, { name: 'fallback', reply: demoScript.fallback }]) {
      expect(`${name}: ${String(reply?.text)}`).toMatch(/^[\w-]+: \(scripted demo\) /);
    }
  });
});

describe('the tour', () => {
  it('reads, runs, is denied, asks, and sums up what an approval made of it', async () => {
    const steps = await talk(tour.prompt, [note, '{"success":true}', credentialsDenied, '{"path":"reins-demo.txt"}']);
    expect(calls(steps)).toEqual(tourCalls);
    expect(last(steps)).toBe(`${seenSoFar} the file reins-demo.txt was written, because somebody said yes.`);
  });

  it('sums up a denied and an expired write differently', async () => {
    const until = [note, '{"success":true}', credentialsDenied];
    const denied = await talk(tour.prompt, [...until, denial('The operator declined this call.')]);
    expect(last(denied)).toBe(
      `${seenSoFar} the file was not written, because writing needs a yes and the answer was no.`,
    );
    const expired = await talk(tour.prompt, [
      ...until,
      denial('The approval was not given in time, which counts as a denial.'),
    ]);
    expect(last(expired)).toBe(`${seenSoFar} the file was not written, because nobody answered in time.`);
  });

  it('leaves the command out where no shell is offered', async () => {
    const steps = await talk(tour.prompt, [note, credentialsDenied, '{"path":"reins-demo.txt"}'], {
      tools: withoutShell,
    });
    expect(calls(steps)).toEqual([tourCalls[0], tourCalls[2], tourCalls[3]]);
  });

  it('claims no denial where the policy let the credentials through', async () => {
    const steps = await talk(tour.prompt, [note, '{"success":true}', '[default]', '{"path":"reins-demo.txt"}']);
    expect(steps[3]?.text).toBe('(scripted demo) This policy did not refuse it. Last, I want to write a file.');
    expect(last(steps)).toBe('(scripted demo) The tour ends here. The file reins-demo.txt was written.');
  });
});

describe('a conversation', () => {
  it('greets and says what it can do', async () => {
    expect(last(await talk('Hello there', []))).toMatch(/^\(scripted demo\) Hello\. You said: Hello there\n/);
    expect(last(await talk('hey what can you do', []))).toMatch(/^\(scripted demo\) I play a model/);
  });

  it('lists a directory and reads a file, and says when it could not', async () => {
    const list = await talk('please list the files', ['{"entries":["a"]}']);
    expect(calls(list)).toEqual([{ name: 'local_fs.list_dir', args: { path: '.' } }]);
    expect(last(list)).toBe('(scripted demo) This is what the workspace holds:\n{"entries":["a"]}');
    const read = await talk('read the file docs/a.md', ['text of a']);
    expect(calls(read)).toEqual([{ name: 'local_fs.read_file', args: { path: 'docs/a.md' } }]);
    expect(last(read)).toBe('(scripted demo) The file says:\ntext of a');
    expect(last(await talk('read b.txt', ['{"ok":false,"error":"not_found","message":"no such file"}']))).toBe(
      '(scripted demo) I could not read it: no such file',
    );
  });

  it('writes a note, and answers approval, denial, expiry and a file that has to be read first', async () => {
    const written = await talk('write a note', ['{"path":"reins-demo.txt"}']);
    expect(calls(written)).toEqual([tourCalls[3]]);
    expect(last(written)).toBe('(scripted demo) I wrote reins-demo.txt.');
    expect(last(await talk('write a note', [denial('no', { feedback: 'not today' })]))).toBe(
      '(scripted demo) I did not write reins-demo.txt: the call was denied. not today',
    );
    expect(last(await talk('write a note', [denial('no')]))).toBe(
      '(scripted demo) I did not write reins-demo.txt: the call was denied.',
    );
    expect(last(await talk('write a note', [denial('The approval was not given in time.')]))).toBe(
      '(scripted demo) I did not write reins-demo.txt: nobody answered in time.',
    );
    const again = await talk('write a note', [
      '{"ok":false,"error":"read_first","message":"read it first"}',
      'old content',
      '{"path":"reins-demo.txt"}',
    ]);
    expect(calls(again).map(({ name }) => name)).toEqual([
      'local_fs.write_file',
      'local_fs.read_file',
      'local_fs.write_file',
    ]);
    expect(last(again)).toBe('(scripted demo) I wrote reins-demo.txt.');
  });

  it('runs a command only where a shell is offered, else names the flag', async () => {
    const ran = await talk('run a command', ['{"stdout":"a\\n"}']);
    expect(calls(ran)).toEqual([{ name: 'local_shell.local_shell', args: { command: 'ls' } }]);
    const off = await talk('run a command', [], { tools: withoutShell });
    expect(last(off)).toMatch(/Start with --shell to enable local_shell/);
  });

  it('says that it is a script, and the two commands that add a model, where it has no answer', async () => {
    expect(last(await talk('Why is the sky blue?', []))).toBe(
      '(scripted demo) I am a script and have no answer to that. For a real model: reins init ollama (or openai, gemini, anthropic), then reins config set default-model and its name.',
    );
  });
});

describe('prompts of plans', () => {
  it('answers the planner with three steps that can be read as JSON', async () => {
    const text = last(await talk('Tidy up', [], { system: 'You turn a goal into a plan that …', tools: [] }));
    expect(JSON.parse(text.slice(text.indexOf('[')))).toHaveLength(3);
  });

  it('carries out a step with one look, then reports', async () => {
    const steps = await talk('# Your step (1 of 3)\nwrite a list', ['{"entries":[]}'], {
      system: 'You carry out exactly one step of a plan, with tools.',
    });
    expect(calls(steps)).toEqual([{ name: 'local_fs.list_dir', args: { path: '.' } }]);
    expect(last(steps)).toMatch(/^\(scripted demo\) The step is done/);
  });

  it('sums a step up as the object that is asked for', async () => {
    const text = last(
      await talk('# Goal', [], { system: 'You condense the record of an executed plan step.', tools: [] }),
    );
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ outcome: 'success', artifacts: [] });
  });

  it('answers the compaction prompt', async () => {
    const system = 'Summarise the conversation that follows, so that the work can go on from the summary alone.';
    expect(last(await talk('user: write a note', [], { system, tools: [] }))).toMatch(/^\(scripted demo\) Goal: /);
  });
});
