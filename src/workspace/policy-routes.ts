import { basename } from 'node:path';
import type { DocumentFinding, PolicyDocument, PolicyListed } from '../schema/document-views.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { PolicyFinding } from '../schema/policy.ts';
import { parsePolicy } from '../policy/validate.ts';
import { vetPolicy } from '../policy/vet.ts';
import { sha256Of } from './files.ts';
import {
  createOverlayFiles,
  type Layer,
  type OverlayDeps,
  type OverlaySource,
  type Preconditions,
} from './overlay-file.ts';
import type { createPolicyOperations } from './policy-operations.ts';
import { isPresetName, type PresetName, presetDocument, presetText } from './presets/policies.ts';
import type { Trust } from './trust.ts';
import { policyNameOf } from '../schema/document-name.ts';

export type PolicyRouteDeps = OverlayDeps & {
  readonly root: string;
  readonly trust: Pick<Trust, 'isTrusted'>;
  readonly operations: Pick<ReturnType<typeof createPolicyOperations>, 'listPolicies'>;
  /** Of the server: what decides which document is marked. */
  readonly policy: string | null;
};

type Named = { readonly file: string };

/** The preset that a file name falls back to; null when there is none. @throws RuntimeError not_found for no such name */
function presetOf(file: string): PresetName | null {
  const found = policyNameOf(file);
  if (found === undefined) throw new RuntimeError('not_found', `There is no policy ${file}.`);
  const name = found ?? 'default';
  return isPresetName(name) ? name : null;
}

/** Policies as documents (09 §6.7): list, read, write, remove, vet a text. */
export function createPolicyRoutes(deps: PolicyRouteDeps) {
  const files = createOverlayFiles(deps, 'policy', (file) => presetOf(file) !== null);

  const get = async (file: string, source?: OverlaySource): Promise<PolicyDocument> => {
    const preset = presetOf(file);
    const place = files.find(file, source);
    if (place.source === 'builtin') {
      const name = preset ?? 'default';
      const text = `${JSON.stringify(presetDocument(name), null, 2)}\n`;
      const sha256 = sha256Of(presetText(name));
      return { file, source: 'builtin', text, sha256, valid: true, findings: [], trusted: true };
    }
    const { path, file: read } = place;
    if (!read.ok) {
      const finding = { severity: 'error', code: read.fault, path: '$', message: read.message };
      return { file, source: place.source, text: '', sha256: '', valid: false, findings: [finding], trusted: false };
    }
    const text = new TextDecoder().decode(read.bytes);
    const subject = { kind: 'policy', root: deps.root, path, sha256: read.sha256 } as const;
    const trusted = place.source === 'user' || deps.trust.isTrusted(subject);
    return { file, source: place.source, text, sha256: read.sha256, ...(await vetted(read.bytes)), trusted };
  };

  return {
    async pagePolicies(): Promise<readonly PolicyListed[]> {
      const { policies } = await deps.operations.listPolicies({ policy: deps.policy });
      const listed = policies.flatMap((row) => {
        const file = row.path === null ? `hitl-policy-${row.name}.json` : basename(row.path);
        const { source } = row;
        return source === 'file' ? [] : [{ ...row, source, file }];
      });
      return listed.map(({ file, name, source, sha256, state, governs }) => ({
        file,
        name,
        source,
        sha256,
        valid: state !== 'invalid',
        trusted: state !== 'untrusted',
        in_effect: governs,
        shadowed_by: state === 'shadowed' ? (listed.find((other) => other.file === file)?.source ?? null) : null,
      }));
    },

    getPolicy: ({ file, source }: Named & { readonly source?: OverlaySource | undefined }) => get(file, source),

    /** @throws RuntimeError invalid_policy with all findings; nothing is written then */
    async putPolicy({
      file,
      text,
      source,
      ...wanted
    }: Named & Preconditions & { readonly text: string; readonly source?: Layer | undefined }) {
      presetOf(file);
      const { created } = await files.write(file, text, source, wanted, async () => {
        const { findings } = await parsePolicy(text);
        if (findings.length === 0) return;
        throw new RuntimeError('invalid_policy', `${file} is not written: ${countOf(findings.length)}.`, {
          data: { param: findings[0]?.path, findings: findings.map(shown) },
        });
      });
      return { ...(await get(file, source)), created };
    },

    async deletePolicy({ file, source, ...wanted }: Named & Preconditions & { readonly source?: Layer | undefined }) {
      presetOf(file);
      await files.remove(file, source, wanted, () => {});
      const next = files.has(file);
      return { applies: next === null ? 'none' : `${next.source} ${file}` };
    },

    vetPolicyText: ({ text }: { readonly text: string }) => vetted(text),
  };
}

const countOf = (defects: number): string => (defects === 1 ? 'it has a defect' : `it has ${defects} defects`);

const shown = ({ severity, code, path, message }: PolicyFinding): DocumentFinding => ({
  severity: severity === 'warn' ? 'warn' : 'error',
  code,
  path,
  message,
});

/** What loading and vet say of a text. Defects of vet do not keep it from being used. */
async function vetted(document: string | Uint8Array) {
  const { policy, findings } = await parsePolicy(document);
  const more = policy === null ? [] : vetPolicy(policy);
  return { valid: policy !== null, findings: [...findings, ...more].map(shown) };
}
