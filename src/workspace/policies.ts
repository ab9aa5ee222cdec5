import { basename, join, resolve } from 'node:path';
import { failClosedPolicy } from '../policy/fail-closed.ts';
import { loadFailureLines } from '../policy/findings.ts';
import { parsePolicy } from '../policy/validate.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { LoadedPolicy, Policy, PolicyFinding, PolicyIdentity } from '../schema/policy.ts';
import { nearest } from '../text/nearest.ts';
import { quote } from '../text/quote.ts';
import { messageOf } from '../text/thrown.ts';
import {
  type DocumentFile,
  exists,
  identityOf,
  isDocumentPath,
  layersOf,
  listJson,
  readDocument,
  sha256Of,
} from './files.ts';
import type { Workspace } from './paths.ts';
import { shippedPolicy } from './presets/copies.ts';
import { isPresetName, type PresetName, presetNames, strictBounds } from './presets/policies.ts';
import type { Trust } from './trust.ts';
import { notTrusted } from './untrusted.ts';
import { isDocumentName } from '../schema/document-name.ts';

export type PolicyDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'home' | 'root' | 'cwd'>;
  readonly uid: number | null;
  readonly trust: Trust;
  /** Config key `hitl-policy-name`; null or empty when it is not set. */
  readonly configured: () => string | null;
};

export type PolicyWanted = {
  /** Name or path of `--policy` or `REINS_POLICY`; null = the configured one, else the default document. */
  readonly name: string | null;
  /** Hashes accepted for this invocation (`--trust`). */
  readonly trust: readonly string[];
  /** The operator chose the next layer of the overlay for this run (06 §6.5 `u`). */
  readonly skipProject?: boolean;
};

/** The policy that governs a run. */
type GoverningPolicy = {
  /**
   * The policy as its file says now (02 §4): two stat calls when nothing changed. A file that became unreadable, invalid
   * or untrusted gives the fail-closed policy with the compute bounds of the last good one. Never rejects.
   */
  refresh(): Promise<LoadedPolicy>;
  /** The policy as it was last read; a decision is made after `refresh`. */
  current(): LoadedPolicy;
  readonly warnings: readonly string[];
};

export type Candidate = { readonly place: 'project' | 'user' | 'file'; readonly path: string };
/** Where a policy is looked for: files in order, then a preset. */
type Lookup = {
  /** The name came from the config. */
  readonly configured: boolean;
  readonly name: string;
  readonly candidates: readonly Candidate[];
  readonly preset: PresetName | null;
};
/** A policy as it was read once. `source` null = the preset. */
export type Reading = {
  readonly source: Candidate | null;
  /** Of the file, to see whether it is another one now. */
  readonly identity: string;
  /** The document, when only trust keeps it from being used. */
  readonly awaitsTrust: (DocumentFile & { readonly ok: true }) | null;
  readonly loaded: LoadedPolicy;
  readonly warnings: readonly string[];
};

/** Policies by name or path: found, read, trusted, validated (02 §4). */
export function createPolicies(deps: PolicyDeps) {
  const { workspace } = deps;

  const lookUp = (wanted: PolicyWanted): Lookup => {
    if (wanted.name !== null && isDocumentPath(wanted.name)) {
      const path = resolve(workspace.cwd, wanted.name);
      return { name: nameOfFile(path), candidates: [{ place: 'file', path }], preset: null, configured: false };
    }
    const name = wanted.name ?? (deps.configured() || null);
    if (name !== null && !isDocumentName(name)) {
      throw new RuntimeError(
        'usage',
        `"${name}" is no policy name: small letters, digits, "_" and "-", at most 64; a path has a slash or ends in .json: ./${name}`,
      );
    }
    const file = name === null ? 'hitl-policy.json' : `hitl-policy-${name}.json`;
    const layers = layersOf(workspace).filter(({ place }) => place !== 'project' || wanted.skipProject !== true);
    const candidates = layers.map(({ place, directory }) => ({ place, path: join(directory, file) }));
    const preset = name ?? 'default';
    const configured = wanted.name === null && name !== null;
    return { name: preset, candidates, preset: isPresetName(preset) ? preset : null, configured };
  };

  /** The first that is there, whatever it is: a file that exists and fails does not fall through. */
  const locate = (lookup: Lookup): Candidate | PresetName => {
    const where = lookup.candidates.find(({ path }) => exists(path)) ?? lookup.preset;
    if (where === null) throw notFound(lookup, available(workspace));
    return where;
  };

  /** Why a file of the project does not count; null when it does. */
  const distrustOf = (source: Candidate, sha256: string, accepted: readonly string[]): string | null => {
    if (source.place !== 'project') return null;
    const subject = { kind: 'policy', root: workspace.root, path: source.path, sha256 } as const;
    try {
      return deps.trust.isTrusted(subject, accepted)
        ? null
        : `it is not trusted (reins trust add ${quote(source.path)})`;
    } catch (error) {
      // A list of decisions that may not be believed trusts nothing; `openPolicy` says what is wrong with it.
      return messageOf(error);
    }
  };

  const shipped = (name: PresetName): Reading => ({
    source: null,
    identity: '',
    awaitsTrust: null,
    loaded: shippedPolicy(name),
    warnings: [],
  });

  /** Reads a file; whatever is wrong with it gives the fail-closed policy, with the bounds of the last good one. */
  const read = async (
    name: string,
    source: Candidate,
    accepted: readonly string[],
    lastGood: Policy | null,
  ): Promise<Reading> => {
    const file = readDocument(source.path, source.place, deps.uid);
    const identity = { name, source: source.place, path: source.path };
    const base = { source, identity: file.identity, awaitsTrust: null, warnings: file.ok ? file.warnings : [] };
    const text = file.ok ? new TextDecoder().decode(file.bytes) : '';
    const closed = (findings: readonly PolicyFinding[]): LoadedPolicy => ({
      identity: { ...identity, sha256: null, state: 'invalid' },
      policy: failClosedPolicy(lastGood?.compute ?? strictBounds()),
      text,
      findings,
    });
    const closedBy = (code: string, message: string) => closed([{ severity: 'load', path: '$', code, message }]);
    if (!file.ok) {
      return { ...base, loaded: closedBy(file.fault === 'missing' ? 'unreadable' : file.fault, file.message) };
    }
    const distrust = distrustOf(source, file.sha256, accepted);
    if (distrust !== null) return { ...base, awaitsTrust: file, loaded: closedBy('not_trusted', distrust) };
    const { policy, findings } = await parsePolicy(file.bytes);
    if (policy === null) return { ...base, loaded: closed(findings) };
    const groupWritable = file.warnings.map(
      (message): PolicyFinding => ({ severity: 'warn', path: '$', code: 'group_writable', message }),
    );
    const loaded: LoadedPolicy = {
      identity: { ...identity, sha256: file.sha256, state: 'ok' },
      policy,
      text,
      findings: [...groupWritable, ...findings],
    };
    return { ...base, loaded };
  };

  const first = async (lookup: Lookup, accepted: readonly string[]): Promise<Reading> => {
    const where = locate(lookup);
    return typeof where === 'string' ? shipped(where) : read(lookup.name, where, accepted, null);
  };

  /** The candidate to read now, or null when the reading still holds. */
  const changed = (lookup: Lookup, reading: Reading): Candidate | null => {
    const { source } = reading;
    const stronger =
      source === null ? lookup.candidates : lookup.candidates.slice(0, lookup.candidates.indexOf(source));
    // A file that came to be in a stronger layer governs from now on. One that governed and is gone is not replaced by a
    // weaker layer, but fails closed: removing a policy must not widen what a run may do.
    const appeared = stronger.find(({ path }) => exists(path));
    if (appeared !== undefined || source === null) return appeared ?? null;
    return reading.awaitsTrust !== null || identityOf(source.path) !== reading.identity ? source : null;
  };

  /**
   * Where the configured name leads now, if the run was told no name and the operator has set another: a rule that was
   * written to a copy of the governing policy counts for the run that asked (03 §9). A name that leads nowhere changes
   * nothing.
   */
  const elsewhere = (wanted: PolicyWanted, lookup: Lookup): { lookup: Lookup; at: Candidate | PresetName } | null => {
    if (wanted.name !== null) return null;
    try {
      const now = lookUp(wanted);
      if (now.configured === lookup.configured && now.name === lookup.name) return null;
      return { lookup: now, at: locate(now) };
    } catch {
      return null;
    }
  };

  return {
    /**
     * Finds and loads the policy of a run. @throws RuntimeError usage (no name), policy_not_found, config_invalid
     * (`trust.json`), not_trusted with `{kind, path, sha256, bytes}`
     */
    async openPolicy(wanted: PolicyWanted): Promise<GoverningPolicy> {
      let lookup = lookUp(wanted);
      let reading = await first(lookup, wanted.trust);
      if (reading.awaitsTrust !== null) {
        deps.trust.list();
        throw notTrusted('policy', reading.awaitsTrust);
      }
      let lastGood = reading.loaded.identity.state === 'ok' ? reading.loaded.policy : null;
      return {
        warnings: [...reading.warnings, ...failureLines(reading.loaded)],
        async refresh() {
          const other = elsewhere(wanted, lookup);
          if (other !== null) {
            lookup = other.lookup;
            reading =
              typeof other.at === 'string'
                ? shipped(other.at)
                : await read(lookup.name, other.at, wanted.trust, lastGood);
            if (reading.loaded.identity.state === 'ok') lastGood = reading.loaded.policy;
            return reading.loaded;
          }
          const source = changed(lookup, reading);
          if (source === null) return reading.loaded;
          reading = await read(lookup.name, source, wanted.trust, lastGood);
          if (reading.loaded.identity.state === 'ok') lastGood = reading.loaded.policy;
          return reading.loaded;
        },
        current: () => reading.loaded,
      };
    },

    /**
     * The policy that something was judged by, as it is now: the same file, or what took the place of a preset. Content
     * that was accepted then needs no trust now. Never rejects; where it is not known what took its place, the preset.
     */
    async policyNow({ name, source, path, sha256 }: PolicyIdentity): Promise<LoadedPolicy> {
      const accepted = sha256 === null ? [] : [sha256];
      if (path !== null && source !== 'builtin')
        return (await read(name, { place: source, path }, accepted, null)).loaded;
      const unnamed = name === 'default' && (deps.configured() || null) === null;
      return (await first(lookUp({ name: unnamed ? null : name, trust: accepted }), accepted)).loaded;
    },

    /** Where a name, a path or nothing leads. @throws RuntimeError usage (no name), policy_not_found */
    locate(name: string | null): { readonly name: string; readonly at: Candidate | PresetName } {
      const lookup = lookUp({ name, trust: [] });
      return { name: lookup.name, at: locate(lookup) };
    },

    /** What one place holds, whatever is wrong with it. Never rejects. */
    readAt: (name: string, at: Candidate | PresetName, accepted: readonly string[] = []): Promise<Reading> =>
      typeof at === 'string' ? Promise.resolve(shipped(at)) : read(name, at, accepted, null),

    /** The project document that `openPolicy` would refuse as untrusted; null when there is none. Rejects as that does. */
    async untrustedPolicy(wanted: PolicyWanted): Promise<(DocumentFile & { readonly ok: true }) | null> {
      return (await first(lookUp(wanted), wanted.trust)).awaitsTrust;
    },
  };
}

export type Policies = ReturnType<typeof createPolicies>;

/** A policy that stands in no file, for a trial; one that is invalid is fail-closed, with its findings. */
export async function policyOfText(text: string, name: string): Promise<LoadedPolicy> {
  const { policy, findings } = await parsePolicy(text);
  const identity = { name, source: 'file', path: null } as const;
  if (policy === null) {
    const closed = failClosedPolicy(strictBounds());
    return { identity: { ...identity, sha256: null, state: 'invalid' }, policy: closed, text, findings };
  }
  return { identity: { ...identity, sha256: sha256Of(text), state: 'ok' }, policy, text, findings };
}

/** `hitl-policy-<name>.json` and `hitl-policy.json` go by their names; any other file by its own. */
export function nameOfFile(path: string): string {
  const file = basename(path, '.json');
  if (file === 'hitl-policy') return 'default';
  return file.startsWith('hitl-policy-') ? file.slice('hitl-policy-'.length) : file;
}

/** The message of 02 §3 for a policy that is not used; empty for one that is. */
export function failureLines(loaded: LoadedPolicy): string[] {
  const { path, state } = loaded.identity;
  if (state === 'ok') return [];
  const findings = loaded.findings.filter(({ severity }) => severity === 'load');
  // A face puts its own prefix before a warning.
  return loadFailureLines(path ?? loaded.identity.name, findings).map((line) => line.replace(/^reins: /, ''));
}

/** Names that `--policy` would find here, sorted. */
function available(workspace: PolicyDeps['workspace']): string[] {
  const names = new Set<string>(presetNames);
  for (const { directory } of layersOf(workspace)) {
    for (const file of listJson(directory)) {
      if (file.startsWith('hitl-policy')) names.add(nameOfFile(file));
    }
  }
  return [...names].sort();
}

function notFound(lookup: Lookup, names: readonly string[]): RuntimeError {
  const [only] = lookup.candidates;
  const missing = only?.place === 'file' ? only.path : null;
  const what = missing === null ? `no policy named "${lookup.name}"` : `there is no policy file ${missing}`;
  return new RuntimeError('policy_not_found', `${what}; available: ${names.join(', ')}`, {
    data: { name: lookup.name, available: names },
    hints: [
      ...nearest(lookup.name, names, 2, 1).map((near) => `reins policy show ${near}`),
      lookup.configured ? 'reins config unset hitl-policy-name' : 'reins policy list',
      ...(missing === null ? [] : [`reins policy show default > ${quote(missing)}`]),
    ],
  });
}
