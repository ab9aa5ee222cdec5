import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assemble } from '../policy/import/assemble.ts';
import { importClaude } from '../policy/import/claude.ts';
import { importCodex } from '../policy/import/codex.ts';
import type { Imported, SourceFile, SourcePlace } from '../policy/import/draft.ts';
import { importGemini } from '../policy/import/gemini.ts';
import { importOpencode } from '../policy/import/opencode.ts';
import { parsePolicy } from '../policy/validate.ts';
import { vetPolicy } from '../policy/vet.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ImportFormat, PolicyImport } from '../schema/policy-views.ts';
import { readDocument } from './files.ts';
import { presetDocument } from './presets/policies.ts';

export type ImportDeps = {
  readonly home: string;
  readonly workspace: { readonly root: string; readonly cwd: string };
};

type Place = Pick<SourceFile, 'path' | 'level'>;

const importers: Readonly<Record<ImportFormat, (files: readonly SourceFile[], place: SourcePlace) => Imported>> = {
  claude: importClaude,
  codex: importCodex,
  opencode: importOpencode,
  gemini: importGemini,
};

/** Turns the permission settings of another program into a policy that permits no more (02 §15). */
export function createImportPolicy(deps: ImportDeps) {
  const { home, workspace } = deps;

  const usual = (format: ImportFormat): readonly Place[] => {
    const user = (path: string): Place => ({ path: join(home, path), level: 'user' });
    const project = (path: string): Place => ({ path: join(workspace.root, path), level: 'project' });
    const each = (place: Place, suffix: string): readonly Place[] =>
      filesIn(place.path, suffix).map((path) => ({ path, level: place.level }));
    switch (format) {
      case 'claude':
        return [
          { path: '/etc/claude-code/managed-settings.json', level: 'managed' },
          user('.claude/settings.json'),
          project('.claude/settings.json'),
          project('.claude/settings.local.json'),
        ];
      case 'codex':
        return [
          ...each(user('.codex/rules'), '.rules'),
          user('.codex/config.toml'),
          ...each(project('.codex/rules'), '.rules'),
          project('.codex/config.toml'),
        ];
      case 'opencode':
        return [
          user('.config/opencode/opencode.json'),
          user('.config/opencode/opencode.jsonc'),
          project('opencode.json'),
          project('opencode.jsonc'),
        ];
      case 'gemini':
        return [...each(user('.gemini/policies'), '.toml'), ...each(project('.gemini/policies'), '.toml')];
    }
  };

  return {
    /** Writes nothing. What cannot be read or understood is in `unread`. */
    async importPolicy(input: { readonly from: ImportFormat; readonly path: string | null }): Promise<PolicyImport> {
      const named = input.path === null ? null : [{ path: resolve(workspace.cwd, input.path), level: 'path' } as const];
      const unread: { path: string; message: string }[] = [];
      const files = (named ?? usual(input.from)).flatMap((place): SourceFile[] => {
        // Settings of another program have the owner and the mode that it gave them.
        const read = readDocument(place.path, 'file', null);
        if (read.ok) return [{ ...place, text: new TextDecoder().decode(read.bytes) }];
        if (named !== null || read.fault !== 'missing') unread.push({ path: place.path, message: read.message });
        return [];
      });
      const imported = importers[input.from](files, { home, workspace: workspace.root });
      const failed = [...unread, ...imported.unread];
      // What could not be read may have held a refusal: without it the rest would be wider than the source.
      if (files.length === 0 || failed.length > 0) {
        return { text: null, cases: [], report: [], unread: failed, notes: [], vet: 'error', findings: [] };
      }
      const { text, report, vetted, vet } = await translated(imported);
      const notes = imported.dirs.map((dir) => `pin the programs of ${dir}: reins policy trust <name> --policy <file>`);
      return { text, cases: imported.cases.map(testCase), report, unread: failed, notes, vet, findings: vetted };
    },
  };
}

/** The document that was read from another program's settings, and what vet says of it. */
async function translated(imported: Imported) {
  const { document, report } = await assemble(imported, presetDocument('ask-always').rules);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const { policy, findings } = await parsePolicy(text);
  const vetted = [...findings, ...(policy === null ? [] : vetPolicy(policy))].map((finding) => ({
    ...finding,
    severity: finding.severity === 'warn' ? ('warn' as const) : ('error' as const),
  }));
  const vet: PolicyImport['vet'] = vetted.some(({ severity }) => severity === 'error')
    ? 'error'
    : vetted.length > 0
      ? 'warn'
      : 'ok';
  return { text, report, vetted, vet };
}

/** How a text that came without a file would have been called. */
const pastedName: Readonly<Record<ImportFormat, (text: string) => string>> = {
  claude: () => 'settings.json',
  codex: (text) => (/^\s*\w+\s*\(/m.test(text) ? 'pasted.rules' : 'config.toml'),
  opencode: () => 'opencode.json',
  gemini: () => 'pasted.toml',
};

/**
 * Settings of another program as a policy (09 §6.7); nothing is read or written.
 * @throws RuntimeError unprocessable when the text cannot be understood
 */
export async function importText(
  place: SourcePlace,
  from: ImportFormat,
  source: string,
): Promise<Pick<PolicyImport, 'text' | 'report'>> {
  const imported = importers[from]([{ path: pastedName[from](source), level: 'path', text: source }], place);
  const [bad] = imported.unread;
  if (bad !== undefined) {
    throw new RuntimeError('unprocessable', `The text is no ${from} configuration: ${bad.message}`, {
      data: { param: 'text' },
    });
  }
  const { text, report } = await translated(imported);
  return { text, report };
}

/** A call that the source gives as an example, for `policy test`. */
const testCase = ({ command, action }: Imported['cases'][number]): PolicyImport['cases'][number] => ({
  name: command,
  call: { tools: 'local_shell', tool: 'local_shell', args: { command } },
  expect: { action },
});

function filesIn(directory: string, suffix: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(suffix))
      .sort()
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}
