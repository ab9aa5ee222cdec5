import { maxStepBytes, mostNewSteps } from '../schema/plan.ts';

/** Steps of an answer or a file, or one sentence that says why there are none. */
export type ReadSteps =
  | { readonly ok: true; readonly steps: readonly FoundStep[]; readonly goal: string | null }
  | { readonly ok: false; readonly reason: string };

export type FoundStep = { readonly description: string; readonly done: boolean };

/**
 * Reads a planner's answer (07 §4.4): an array of strings, or an object whose `steps` are strings or objects with a
 * `description`; a code fence or prose around the outermost brackets is tolerated, everything else is strict.
 */
export function readSteps(answer: string): ReadSteps {
  const found = outermostJson(answer);
  if (found === null) return refused('it holds no JSON array of strings');
  const listed = Array.isArray(found) ? found : member(found, 'steps');
  if (!Array.isArray(listed)) return refused('the JSON in it is neither an array nor an object with an array "steps"');
  const steps: string[] = [];
  for (const [index, entry] of listed.entries()) {
    const text = typeof entry === 'string' ? entry : member(entry, 'description');
    if (typeof text !== 'string') return refused(`step ${index + 1} is not a text`);
    steps.push(text);
  }
  return checkedSteps(steps.map((description) => ({ description, done: false })));
}

/**
 * The steps of a file (07 §4.4): the JSON of an answer, its `goal` the goal, or the list items of a Markdown text, its
 * first heading the goal. A text that begins with a link or a box begins with a bracket too, and is no JSON.
 */
export function readStepFile(text: string): ReadSteps {
  const { steps, goal } = readList(text.replace(frontMatter, ''));
  if (/^\s*[[{]/.test(text)) {
    const read = readSteps(text);
    const named = member(outermostJson(text), 'goal');
    if (read.ok) return typeof named === 'string' ? { ...read, goal: named } : read;
    if (steps.length === 0) return read;
  }
  if (steps.length === 0) return refused('it holds no list item');
  const read = checkedSteps(steps);
  return read.ok ? { ...read, goal } : read;
}

/** The mark of a finished step, as people write it and as `plan show --markdown` does. */
const doneMarks = new Set(['x', 'X', '~', '-']);
const itemLine = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX~>?!-])\]\s+(?:\d+[.)]\s+)?)?(.+)$/;
/** Properties that an editor keeps ahead of a text; their lists are tags and the like. */
const frontMatter = /^---\r?\n[\w-]+:.*?\n---[ \t]*(?=\r?\n)/s;
const emptyItem = /^\s*(?:[-*+]|\d+[.)])(?:\s+\[[ xX]\])?\s*$/;
const fenceLine = /^\s*(```|~~~)/;
const breakLine = /^\s*([-*])(?:\s*\1){2,}\s*$/;

/**
 * Every list item is a step, with the lines that go on with it; a block of code is part of its item or of none, a
 * quotation is what became of a step, and a comment and an item without words are nothing.
 */
function readList(text: string): { readonly steps: readonly FoundStep[]; readonly goal: string | null } {
  const steps: { lines: string[]; done: boolean }[] = [];
  let goal: string | null = null;
  let item: string[] | null = null;
  let fence: string | null = null;
  let blank = false;
  let comment = false;
  let former = '';
  for (const line of text.split(/\r?\n/)) {
    if (comment || (fence === null && /^\s*<!--/.test(line))) {
      comment = !line.includes('-->');
      continue;
    }
    const mark = fenceLine.exec(line)?.[1] ?? null;
    const inside: boolean = fence !== null;
    if (inside ? mark === fence : mark !== null) fence = inside ? null : mark;
    const indented = /^(?: {2}|\t)/.test(line);
    if (!inside && mark === null) {
      const underlined = item === null && /^=+\s*$/.test(line) && former !== '' ? former : undefined;
      const heading = /^#+\s+(.+?)\s*#*$/.exec(line)?.[1] ?? underlined;
      former = line.trim();
      if (emptyItem.test(line)) {
        item = null;
        continue;
      }
      const found = breakLine.test(line) ? null : itemLine.exec(line);
      if (heading !== undefined) goal ??= heading;
      if (found !== null) {
        item = [found[2] ?? ''];
        steps.push({ lines: item, done: doneMarks.has(found[1] ?? '') });
        continue;
      }
      if (heading !== undefined || (blank && line !== '' && !indented) || breakLine.test(line)) item = null;
    } else if (!inside && !indented) item = null;
    blank = !inside && line.trim() === '';
    if (item !== null && (inside || !/^\s*>/.test(line))) item.push(line.replace(/^(?: {2}|\t)/, '').trimEnd());
  }
  return { steps: steps.map(({ lines, done }) => ({ description: lines.join('\n'), done })), goal };
}

/** Holds steps against the limits of 07 §4.4. */
function checkedSteps(steps: readonly FoundStep[]): ReadSteps {
  if (steps.length === 0) return refused('the list is empty');
  if (steps.length > mostNewSteps) {
    return refused(`it has ${steps.length} steps, and ${mostNewSteps} is the most`);
  }
  const clean = steps.map(({ description, done }) => ({ description: description.trim().toWellFormed(), done }));
  for (const [index, { description }] of clean.entries()) {
    const bytes = Buffer.byteLength(description);
    if (bytes === 0) return refused(`step ${index + 1} is empty`);
    if (bytes > maxStepBytes) return refused(`step ${index + 1} has ${bytes} bytes, and ${maxStepBytes} is the most`);
    if (description.includes('\0')) return refused(`step ${index + 1} holds a NUL character`);
  }
  return { ok: true, steps: clean, goal: null };
}

/**
 * The value between the first opening bracket and the last closing one of its kind, or the first fenced block that holds
 * one, where the words around it have brackets of their own; null when there is no JSON.
 */
export function outermostJson(text: string): unknown {
  const fenced = [...text.matchAll(/^[ \t]*```[^\n`]*\n(.*?)\n[ \t]*```/gms)].slice(0, mostFences);
  return [text, ...fenced.map(([, inside = '']) => inside)].reduce<unknown>(
    (found, part) => found ?? bracketed(part),
    null,
  );
}

/** Blocks that are looked into; a planner writes one. */
const mostFences = 10;

function bracketed(text: string): unknown {
  const starts = ['[', '{'].map((open) => text.indexOf(open)).filter((at) => at >= 0);
  for (const from of starts.sort((a, b) => a - b)) {
    const to = text.lastIndexOf(text.charAt(from) === '[' ? ']' : '}');
    if (to <= from) continue;
    try {
      return JSON.parse(text.slice(from, to + 1)) as unknown;
    } catch {
      // The other kind of bracket may be the outer one.
    }
  }
  return null;
}

const refused = (reason: string): ReadSteps => ({ ok: false, reason });

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
    return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
