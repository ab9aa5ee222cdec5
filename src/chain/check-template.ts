import type { Template, Token } from 'liquidjs';
import { messageOf } from '../text/thrown.ts';
import {
  clockFilter,
  createEngine,
  ForbiddenTagError,
  type LiquidLibrary,
  loadLibrary,
  originalOf,
} from './template-engine.ts';
import { macroOf, macroSites } from './macro-syntax.ts';
import { misplacedMacro, type Part, prepareTemplate } from './template-syntax.ts';

/** A defect of a template, at an index of its text. */
export type TemplateProblem = {
  readonly code: 'bad_template' | 'forbidden_tag';
  readonly at: number;
  readonly message: string;
};

export type TemplateReport = {
  readonly problem: TemplateProblem | null;
  /** Variables that it reads from outside, with the place of the first reading. */
  readonly names: readonly { readonly name: string; readonly at: number }[];
};

const analysedLength = 32 * 1024;

/** What a template reads that is too large to be analysed. */
const everything: TemplateReport['names'] = [{ name: 'vars', at: 0 }];

/** Checks the syntax of a template when a chain is loaded (04 §9.4). Never throws. */
export async function checkTemplate(text: string, kind: 'output_template' | 'other'): Promise<TemplateReport> {
  const prepared = prepareTemplate(text, kind === 'other' ? 'vars' : 'output');
  const problem = (at: number, message: string): TemplateReport => ({
    problem: { code: 'bad_template', at, message },
    names: [],
  });
  if (prepared.misplaced !== null) return problem(prepared.misplaced, misplacedMacro);
  if (prepared.parts !== null) {
    return { problem: null, names: plainNames(prepared.parts) };
  }
  const clock = /(["'])(?:now|today)\1\s*\|\s*date/.exec(prepared.text);
  if (clock !== null) return problem(prepared.sourceIndex(clock.index), clockFilter);
  const library = await loadLibrary();
  try {
    const templates = createEngine(library).parse(prepared.text);
    // The library counts lines from the beginning for each name, which takes seconds for a large template.
    const names = prepared.text.length > analysedLength ? everything : namesOf(library, templates, prepared);
    return { problem: null, names };
  } catch (error) {
    const cause = originalOf(error);
    const at = prepared.sourceIndex(tokenOf(error)?.begin ?? 0);
    const meant = noMacro(text, at);
    if (meant !== null) return problem(meant.at, meant.message);
    const message = messageOf(cause).replace(/, line:\d+, col:\d+$/, '');
    return {
      problem: { code: cause instanceof ForbiddenTagError ? 'forbidden_tag' : 'bad_template', at, message },
      names: [],
    };
  }
}

const macroNames = 'var, now, date, chain:id, tools, toolservice, host:os, host:arch and edge_count';

/** What to say where the library failed at something that was meant as a macro; null where it was not. */
function noMacro(text: string, at: number): { readonly at: number; readonly message: string } | null {
  const site = macroSites(text).find(({ start, end }) => start <= at && at < end);
  if (site === undefined || site.payload === null || macroOf(site) !== null) return null;
  const shown = text.slice(site.start, Math.min(site.end, site.start + 60));
  const message = `${shown} is neither a macro nor a template expression; the macros are ${macroNames}`;
  return { at: site.start, message };
}

function plainNames(parts: readonly Part[]): { name: string; at: number }[] {
  const first = new Map<string, number>();
  for (const part of parts) {
    const name = part.kind === 'path' ? part.path[0] : undefined;
    if (part.kind === 'path' && name !== undefined && !first.has(name)) first.set(name, part.at);
  }
  return [...first].map(([name, at]) => ({ name, at }));
}

/** The token at which the library failed, if it says so. */
function tokenOf(error: unknown): Token | null {
  if (!(error instanceof Error) || !('token' in error)) return null;
  const { token } = error;
  // The library's errors carry the token under this name; anything else has no `begin`.
  return typeof token === 'object' && token !== null && 'begin' in token ? (token as Token) : null;
}

function namesOf(
  library: LiquidLibrary,
  templates: Template[],
  { text, sourceIndex }: ReturnType<typeof prepareTemplate>,
): { name: string; at: number }[] {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  const found: { name: string; at: number }[] = [];
  for (const variables of Object.values(library.analyzeSync(templates, { partials: false }).globals)) {
    const first = variables[0];
    const name = first?.segments[0];
    if (first === undefined || typeof name !== 'string' || /^__macro_\d+__$/.test(name)) continue;
    const at = (lineStarts[first.location.row - 1] ?? 0) + first.location.col - 1;
    found.push({ name, at: sourceIndex(at) });
  }
  return found;
}
