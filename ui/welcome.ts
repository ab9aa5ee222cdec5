import type { DoctorReport } from '../src/schema/registry.ts';
import { plural } from '../src/view/format.ts';
import { type Line, foreign, say } from '../src/view/line.ts';
import { cutLine } from '../src/view/wrap.ts';

/** What a new user can begin with. */
export type WelcomeRow = { readonly label: string; readonly text: string };

/** For somebody without a session whose set-up is not ready: what there is on this machine, and what needs nothing (10 §1.4). */
export function welcomeOf({ status, keysSet }: Pick<DoctorReport, 'status' | 'keysSet'>): readonly WelcomeRow[] {
  const servers = status.backendChecks.filter(({ reachable, baseUrl }) => reachable && isLocal(baseUrl));
  const listed = (label: string, texts: readonly string[]): readonly WelcomeRow[] =>
    (texts.length === 0 ? ['none'] : texts).map((text, index) => ({ label: index === 0 ? label : '', text }));
  const needsProject = status.issues.some(({ code }) => code === 'no_project');
  return [
    // Everything else belongs to a project.
    ...(needsProject ? [{ label: 'this directory', text: 'reins init   makes it a project, with its chains' }] : []),
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
    { label: 'without any', text: 'reins demo   shows the program at work with a scripted model' },
  ];
}

const isLocal = (url: string): boolean => /^https?:\/\/(?:127\.|localhost\b|\[::1\])/.test(url);

const labelColumns = 16;

/** In the place of a transcript that has no message yet. */
export const welcomeLines = (rows: readonly WelcomeRow[], columns: number): readonly Line[] => [
  [],
  [say('  No model answers yet. What there is to begin with:', undefined, ['bold'])],
  [],
  ...rows.map(({ label, text }) => cutLine([say(`  ${label.padEnd(labelColumns)}`, 'dim'), ...foreign(text)], columns)),
];
