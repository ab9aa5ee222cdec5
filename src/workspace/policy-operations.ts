import { join } from 'node:path';
import { agentsMayAnswer } from '../policy/attention.ts';
import { vetPolicy } from '../policy/vet.ts';
import type { CommandTables } from '../schema/command-tables.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { LoadedPolicy, PolicyFinding } from '../schema/policy.ts';
import type { PolicyRow, PolicyText, PolicyVetFile } from '../schema/policy-views.ts';
import { quote } from '../text/quote.ts';
import { type DeclaredDeps, declaredStates } from './declared-binaries.ts';
import { exists, layersOf, listJson } from './files.ts';
import { realPlaceOf, type Workspace } from './paths.ts';
import { type Candidate, nameOfFile, type Policies, type Reading } from './policies.ts';
import { changedPreset } from './presets/copies.ts';
import { isPresetName, type PresetName, presetDocument, presetNames } from './presets/policies.ts';

export type PolicyOperationDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'home'>;
  readonly policies: Pick<Policies, 'locate' | 'readAt'>;
  /** Names of registered hooks and tool servers. */
  readonly registered: () => readonly string[];
  /** Files that `trusted_binaries` declares, as they are now. */
  readonly binaries: DeclaredDeps;
  /** The operator's own option tables, as they are now; undefined = none. */
  readonly commandTables: () => Promise<CommandTables | undefined>;
  /** The operator's ceiling; null = never. */
  readonly ceilingSeconds: () => number | null;
};

type Place = { readonly name: string; readonly at: Candidate | PresetName };

/** The operations on documents of `client/operations/policies.ts`: list, show, vet (02 §14). */
export function createPolicyOperations(deps: PolicyOperationDeps) {
  const { workspace, policies } = deps;

  /** Files of the writable layers, strongest first. */
  const files = (): readonly Place[] =>
    layersOf(workspace).flatMap(({ place, directory }) =>
      listJson(directory)
        .filter((file) => /^hitl-policy(-.*)?\.json$/.test(file))
        .map((file) => ({ name: nameOfFile(file), at: { place, path: join(directory, file) } })),
    );

  /** What would govern here; a configured name that is found nowhere is a note and no reason to list nothing. */
  const governing = (policy: string | null, notes: string[]): Place | null => {
    try {
      return policies.locate(policy);
    } catch (error) {
      if (policy !== null || !(error instanceof RuntimeError) || error.code !== 'policy_not_found') throw error;
      notes.push(error.message);
      return null;
    }
  };

  const row = async ({ name, at }: Place, shadowed: boolean, governs: boolean): Promise<PolicyRow> => {
    const reading = await policies.readAt(name, at);
    const { identity, policy } = reading.loaded;
    const state = stateOf(reading);
    return {
      name,
      source: identity.source,
      // Where nothing is named, the preset governs although a document has its name (02 §4).
      state: shadowed && !governs ? 'shadowed' : state,
      rules: state === 'ok' ? policy.rules.length : null,
      default: state === 'ok' ? policy.default_action : null,
      sha256: reading.awaitsTrust?.sha256 ?? identity.sha256,
      path: identity.path,
      governs,
    };
  };

  const vetFile = async (place: Place): Promise<PolicyVetFile> => {
    const first = await policies.readAt(place.name, place.at);
    // Vet evaluates nothing: a document is checked whether or not it is trusted.
    const accepted = first.awaitsTrust === null ? null : [first.awaitsTrust.sha256];
    const { loaded } = accepted === null ? first : await policies.readAt(place.name, place.at, accepted);
    const { state, path, name } = loaded.identity;
    const binaries = await declaredStates(loaded.policy.trusted_binaries, deps.binaries);
    const commandTables = await deps.commandTables();
    const options = { registered: deps.registered(), ceilingSeconds: deps.ceilingSeconds(), binaries, commandTables };
    const findings = [
      ...loaded.findings,
      ...(state === 'ok' ? [...vetPolicy(loaded.policy, options), ...shadows(place), ...outdated(loaded)] : []),
    ].map((finding) => ({
      ...finding,
      severity: finding.severity === 'warn' ? ('warn' as const) : ('error' as const),
    }));
    const worst = findings.some(({ severity }) => severity === 'error') ? 'error' : findings.length > 0 ? 'warn' : 'ok';
    return { path: path ?? name, worst, findings };
  };

  /** Where nothing is named, the preset governs (02 §4): who has written a document of its name may believe theirs did. */
  const whereNamed = ' only where that name is given, as by: reins config set hitl-policy-name default';

  /** A named document that hides another of its name (02 §14.1). Every own `hitl-policy.json` takes the place of a preset. */
  const shadows = ({ name, at }: Place): readonly PolicyFinding[] => {
    if (typeof at === 'string' || at.place === 'file') return [];
    const file = at.path.slice(at.path.lastIndexOf('/') + 1);
    const user = join(workspace.home, file);
    const hidden =
      at.place === 'project' && exists(user)
        ? `the policy ${user}`
        : file !== 'hitl-policy.json' && isPresetName(name)
          ? `the preset ${name}${name === 'default' ? whereNamed : ''}`
          : null;
    return hidden === null ? [] : [{ severity: 'warn', path: '$', code: 'shadows', message: `hides ${hidden}` }];
  };

  /** A copied preset, of which there is another one by now (amendment 23). */
  const outdated = ({ text, identity }: LoadedPolicy): readonly PolicyFinding[] => {
    const preset = changedPreset(text);
    if (preset === null || identity.path === null) return [];
    const message = `copied from the preset ${preset}, which has changed: reins policy diff builtin:${preset} ${quote(identity.path)}`;
    return [{ severity: 'warn', path: '$', code: 'preset_changed', message }];
  };

  return {
    async listPolicies(input: { readonly policy: string | null }) {
      const notes: string[] = [];
      const govern = governing(input.policy, notes);
      const found = files();
      const names = new Set<string>();
      const rows: PolicyRow[] = [];
      const named = govern !== null && !found.some(({ at }) => isSame(at, govern.at)) ? [govern] : [];
      const places = [...named.filter(({ at }) => typeof at !== 'string'), ...found, ...presetNames.map(presetPlace)];
      for (const place of places) {
        const file = fileOf(place);
        const inOverlay = typeof place.at === 'string' || place.at.place !== 'file';
        rows.push(await row(place, inOverlay && names.has(file), govern !== null && isSame(place.at, govern.at)));
        if (inOverlay) names.add(file);
      }
      return { policies: rows, notes };
    },

    /** @throws RuntimeError usage, policy_not_found, invalid_policy (the file cannot be read) */
    async showPolicy(input: { readonly policy: string | null }): Promise<PolicyText> {
      const place = policies.locate(input.policy);
      const reading = await policies.readAt(place.name, place.at);
      const { identity, text, findings } = reading.loaded;
      const { name, source, path } = identity;
      if (reading.source !== null && text === '') {
        const why = findings[0]?.message ?? 'it is empty';
        throw new RuntimeError('invalid_policy', `The policy ${path} cannot be shown: ${why}.`, {
          hints: [`ls -ld ${quote(path ?? name)}`],
        });
      }
      const sha256 = reading.awaitsTrust?.sha256 ?? identity.sha256;
      const shown = typeof place.at === 'string' ? `${JSON.stringify(presetDocument(place.at), null, 2)}\n` : text;
      const state = stateOf(reading);
      const agent_answers = state === 'ok' && agentsMayAnswer(reading.loaded.policy.attention);
      return { name, source, path, sha256, state, agent_answers, text: shown };
    },

    /** All findings of each document at once. @throws RuntimeError usage, policy_not_found for a name or path of the input */
    async vetPolicies(input: { readonly policies: readonly string[] }): Promise<readonly PolicyVetFile[]> {
      const found = files();
      const places =
        input.policies.length === 0 ? found : input.policies.map((name) => inOverlay(policies.locate(name), found));
      const vetted: PolicyVetFile[] = [];
      for (const place of places) vetted.push(await vetFile(place));
      return vetted;
    },
  };
}

const presetPlace = (name: PresetName): Place => ({ name, at: name });

/** The file name by which layers hide each other. */
const fileOf = ({ at }: Place): string =>
  typeof at === 'string' ? `hitl-policy-${at}.json` : at.path.slice(at.path.lastIndexOf('/') + 1);

const isSame = (left: Candidate | PresetName, right: Candidate | PresetName): boolean =>
  typeof left === 'string' || typeof right === 'string' ? left === right : left.path === right.path;

/** A document of the overlay that was named by its path is vetted as a run reads it, which finds it by its name. */
const inOverlay = (place: Place, found: readonly Place[]): Place =>
  found.find(({ at }) => realPlace(at) === realPlace(place.at)) ?? place;

const realPlace = (at: Place['at']): string => (typeof at === 'string' ? at : realPlaceOf(at.path));

const stateOf = (reading: Reading): PolicyText['state'] =>
  reading.awaitsTrust !== null ? 'untrusted' : reading.loaded.identity.state;
