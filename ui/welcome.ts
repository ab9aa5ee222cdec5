import type { Glyphs } from '../src/view/escape.ts';
import type { DoctorReport, SetupIssue } from '../src/schema/registry.ts';
import { plural } from '../src/view/format.ts';
import { type Line, foreign, say } from '../src/view/line.ts';
import { wrapLine } from '../src/view/wrap.ts';

/** What a new user reads: a line of its own, or what there is of something. */
export type WelcomeRow = { readonly label: string | null; readonly text: string };

/** What keeps a turn from being answered, in the order in which it is mended: a model is chosen of those that are served. */
export function missing(issues: readonly SetupIssue[]): readonly SetupIssue[] {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const chosen = errors.filter(({ code }) => code === 'missing_default_model');
  const others = errors.filter((issue) => !chosen.includes(issue));
  // One command may mend both.
  return [...others, ...chosen.filter(({ cliCommand }) => others.every((each) => each.cliCommand !== cliCommand))];
}

/** For somebody without a session whose set-up is not ready: what is missing, and what this machine has (10 §1.4). */
export function welcomeOf({ status, keysSet }: Pick<DoctorReport, 'status' | 'keysSet'>): readonly WelcomeRow[] {
  const { issues, backendChecks, reachableBackendCount } = status;
  const project = issues.filter(({ code }) => code === 'no_project');
  const steps = [...project, ...missing(issues)];
  const servers = backendChecks.filter(({ reachable, baseUrl }) => reachable && isLocal(baseUrl));
  const line = (text: string): WelcomeRow => ({ label: null, text });
  const listed = (label: string, texts: readonly string[]): readonly WelcomeRow[] =>
    (texts.length === 0 ? ['none'] : texts).map((text, index) => ({ label: index === 0 ? label : '', text }));
  const again = project.length > 0 ? ', and start reins again there' : '';
  return [
    ...steps.flatMap(({ message, cliCommand }, index) => [
      line(`${index + 1}. ${message}`),
      ...(cliCommand === null ? [] : [line(`     ${cliCommand}`)]),
    ]),
    line(''),
    ...listed(
      'local servers',
      servers.map(
        ({ type, baseUrl, chatModelCount }) => `${type} at ${baseUrl}, ${plural(chatModelCount, 'chat model')}`,
      ),
    ),
    ...listed(
      'keys set',
      keysSet.map(({ variable, provider }) => `${variable}   reins init ${provider}`),
    ),
    ...(reachableBackendCount === 0 ? [] : [{ label: 'models', text: 'Ctrl+X m chooses one here' }]),
    { label: 'without any', text: 'reins demo   shows the program at work with a scripted model' },
    line(''),
    line(`Type these in another terminal, or leave with Ctrl+D twice${again}.`),
  ];
}

const isLocal = (url: string): boolean => /^https?:\/\/(?:127\.|localhost\b|\[::1\])/.test(url);

const labelColumns = 16;

/** In the place of a transcript that has no message yet. */
export const welcomeLines = (rows: readonly WelcomeRow[], columns: number, glyphs: Glyphs): readonly Line[] => [
  [],
  [say('  No model answers yet. What is missing, in this order:', undefined, ['bold'])],
  [],
  ...rows.flatMap(({ label, text }) => {
    // What goes on stands behind the number, the command or the label that it belongs to.
    const [start = ''] = /^(?:\d+\. | +)/.exec(text) ?? [];
    const before = `  ${label === null ? start : label.padEnd(labelColumns)}`;
    const rest = label === null ? text.slice(start.length) : text;
    return wrapLine(foreign(rest, glyphs), columns, [say(before, 'dim')], [say(' '.repeat(before.length))]);
  }),
];
