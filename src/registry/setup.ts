import { namingPassedBy } from './passed-by.ts';
import { providerTable } from '../models/providers.ts';
import { defaultBackend, hasCapability, standsIn } from '../models/resolve.ts';
import {
  type BackendCheck,
  type DoctorReport,
  type ProviderType,
  providerTypes,
  type SetupIssue,
  type SetupStatus,
} from '../schema/registry.ts';
import type { SourceCheck } from '../schema/tool-sources.ts';
import type { CheckRow, Registry } from '../store/registry.ts';
import { type Backend, type Backends, demoId, keySource } from './backends.ts';
import { doctorIssues } from './doctor.ts';
import type { Inspection } from './inspection.ts';
import type { Defaults, Models } from './models.ts';
import { hintFor, shortReason } from './backend-hints.ts';
import type { Observation } from './observation.ts';
import type { TellSetup } from './ports.ts';
import type { Observer } from './observe.ts';
import { createPreRun } from './pre-run.ts';
import { type Probed, readinessIssues } from './readiness.ts';
import type { Secrets } from './secrets.ts';
import { seenBackend } from './seen.ts';
import type { Settings } from './settings.ts';
import { sourceIssues } from './source-checks.ts';

export type SetupDeps = {
  readonly store: Pick<Registry, 'checks' | 'declarations'>;
  readonly backends: Backends;
  readonly observer: Observer;
  readonly models: Pick<Models, 'routes' | 'shownDefaults'>;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly ollama: { readonly url: string; readonly explicit: boolean };
  /** Real path of the workspace root. */
  readonly workspace: string;
  readonly now: () => number;
  /** Another text once anything was written that has an entry in the audit log, or other runs rest. */
  written(): string;
  /**
   * What other rooms know; called once per evaluation. `policy`: in the place of the one that the settings name.
   * `chainAgeMs`: how long ago the audit log may have been gone through last.
   */
  inspect(policy: string | null, chainAgeMs: number): Promise<Inspection>;
  /** Hooks and tool servers; `ask`: each is contacted, for at most so many milliseconds. Never rejects. */
  sources(ask: { readonly timeoutMs: number } | null): Promise<readonly SourceCheck[]>;
  readonly tell: TellSetup;
};

const probeMs = 5000;
const localProbeMs = 2000;
/** A probe of this age is good enough for a page that looks again and again (08 §12.4). */
const keptMs = 10_000;
const maxListedModels = 50;
const standardOllama = 'http://127.0.0.1:11434';

/** What an invocation uses in the place of what the settings name. */
type Wanted = { readonly model?: string | undefined; readonly policy?: string | undefined };

/** Whether backends are asked: always, unless they were just asked, or not at all. */
type Asking = 'now' | 'again' | 'never';

/** Readiness for doctor, the setup page, the banner and the check before a run (08 §12). */
export function createSetup(deps: SetupDeps) {
  const { backends, observer, models, settings, secrets } = deps;
  const ollama = { url: deps.ollama.url, standard: deps.ollama.url === standardOllama };
  let kept: { readonly at: number; readonly written: string; readonly report: DoctorReport } | null = null;
  /** When the backends were asked last, and which they were. */
  let asked: { readonly at: number; readonly of: string } | null = null;
  const isRecent = (at: number): boolean => deps.now() >= at && deps.now() - at < keptMs;

  const probe = async (defaults: Defaults, asking: Asking): Promise<readonly Probed[]> => {
    const checks = deps.store.checks();
    const declarations = deps.store.declarations();
    // The demo counts only where it is asked for by name (08 §2.4).
    const meant = backends.inUse().filter(({ id }) => id !== demoId || defaults.provider === 'scripted');
    const of = meant.map(({ id, updated_at }) => `${id} ${updated_at}`).join();
    const ask = asking === 'now' || (asking === 'again' && !(asked?.of === of && isRecent(asked.at)));
    const probed = await Promise.all(
      meant.map(async (backend): Promise<Probed> => {
        const registered = !backend.implicit;
        const observation = ask
          ? await observer.observe(backend, { timeoutMs: registered ? probeMs : localProbeMs, force: true })
          : lastKnown(backend, observer, checks);
        const credentials = observer.credentials(backend);
        return {
          registered,
          lacksKey: credentials.kind === 'missing' ? credentials.variable : null,
          seen: seenBackend(backend, { observation, stale: false }, declarations),
          check: checkOf(backend, observation, defaults.provider),
        };
      }),
    );
    if (ask) asked = { at: deps.now(), of };
    const seen = probed.map((one) => one.seen);
    return inOrder(probed.filter((one) => !standsIn(one.seen, seen)));
  };

  /** One backend as 08 §12.1 shows it; no key, header value or user-info is in it. */
  const checkOf = (backend: Backend, seen: Observation | null, provider: string): BackendCheck => {
    const good = seen !== null && seen.state !== 'failed' ? seen : null;
    const failure = seen?.state === 'failed' ? seen.failure : null;
    const chat = (good?.models ?? []).filter((model) => hasCapability(model, 'chat')).map(({ name }) => name);
    return {
      id: backend.id,
      name: backend.name,
      type: typeOf(backend.type),
      baseUrl: secrets.mask(backend.base_url),
      status: seen === null ? 'pending' : failure === null ? 'ready' : 'error',
      reachable: good !== null,
      defaultProvider: backend.type === provider,
      modelCount: good?.models.length ?? 0,
      chatModelCount: chat.length,
      chatModels: chat.slice(0, maxListedModels),
      latencyMs: good?.latencyMs ?? null,
      keySource: keySource(backend),
      errorClass: failure?.class ?? null,
      error: failure === null ? null : secrets.mask(shortReason(failure.message)),
      hint: failure === null ? null : hintFor(backend, failure),
    };
  };

  /** @param contact hooks and tool servers are asked too, for which the programs of some are started */
  const evaluate = async (asking: Asking, contact: boolean, wanted: Wanted): Promise<DoctorReport> => {
    const [found, defaults] = [
      await deps.inspect(wanted.policy ?? null, asking === 'again' ? keptMs : 0),
      await models.shownDefaults(wanted.model ?? null),
    ];
    const [probed, toolSources] = await Promise.all([
      probe(defaults, asking),
      deps.sources(contact ? { timeoutMs: probeMs } : null),
    ]);
    const registered = probed.filter((one) => one.registered);
    // What is set and registered stands in the database: of one that is not used, nothing of it can be said.
    const unread = found.database.problem !== null;
    const input = { defaults, probed, ollama, chainMaxTokens: found.chainMaxTokens };
    const readiness = unread ? [] : namingPassedBy(readinessIssues(input), input);
    const told = readiness.filter(({ code }) => code === 'default_provider_api_key_missing');
    const issues: SetupIssue[] = [
      ...readiness,
      ...doctorIssues(found, {
        backends: backends.registered(),
        defaultType: defaults.provider,
        told: new Set(told.map(({ subject }) => subject ?? '')),
        isSet: secrets.isSet,
        unreadableKeys: settings.unreadable(),
        settingsFault: settings.userFault(),
      }),
      ...sourceIssues(toolSources),
    ];
    const status: SetupStatus = {
      defaultModel: defaults.model,
      defaultModelSource: defaults.modelSource,
      defaultProvider: defaults.provider,
      defaultChain: found.defaultChain,
      hitlPolicyName: found.policy.name,
      backendCount: registered.length,
      reachableBackendCount: registered.filter(({ check }) => check.reachable).length,
      ready: !unread && !issues.some(keepsRunsFromStarting),
      checkedAt: new Date(deps.now()).toISOString(),
      issues,
      // What nobody registered is listed only when it would serve.
      backendChecks: probed.filter((one) => one.registered || one.check.reachable).map(({ check }) => check),
    };
    const { policy, database, dataDir, root } = found;
    return {
      status,
      policy: { name: policy.name, source: policy.source, sha256: policy.sha256 },
      dataDir,
      root,
      database: { path: database.path, bytes: database.bytes, schema: database.schema },
      toolSources: [...toolSources],
      instructions: [...found.instructions],
      defaultBackend: defaultBackend(
        defaults.model,
        defaults.provider,
        probed.map(({ seen }) => seen),
      ),
      keysSet: providerTypes.flatMap((provider) => {
        const { keyVariable: variable } = providerTable[provider];
        return variable !== null && secrets.isSet(variable) ? [{ variable, provider }] : [];
      }),
    };
  };

  const keep = async (asking: Asking, contact: boolean): Promise<DoctorReport> => {
    // What is written meanwhile may not be in it.
    const written = deps.written();
    const report = await evaluate(asking, contact, {});
    if (kept !== null && stateOf(kept.report.status) !== stateOf(report.status)) {
      const { ready, issues } = report.status;
      deps.tell({ ready, issues: countsOf(issues) });
    }
    kept = { at: deps.now(), written, report };
    return report;
  };

  return {
    /** Evaluates anew; without `probe` nothing is asked and the last known state is told. Never rejects. */
    async doctor(
      input: Wanted & { readonly probe: boolean; readonly sources?: boolean | undefined },
    ): Promise<DoctorReport> {
      const contact = input.probe && input.sources !== false;
      const asking = input.probe ? 'now' : 'never';
      const usual = input.probe && input.model === undefined && input.policy === undefined;
      return usual ? keep(asking, contact) : evaluate(asking, contact, input);
    },

    /**
     * The evaluation of at most 10 s ago if nothing was written down since, else a new one, for which backends that were
     * asked in that time are not asked again (08 §12.4). Nothing of the operator's is started for somebody who only looks
     * (09 §8.13). Never rejects.
     */
    async status(): Promise<SetupStatus> {
      const holds = kept !== null && kept.written === deps.written() && isRecent(kept.at);
      return (kept !== null && holds ? kept.report : await keep('again', false)).status;
    },

    /** Asks the backends now, and nothing else. Never rejects. */
    probe: async (): Promise<SetupStatus> => (await keep('now', false)).status,

    preRun: createPreRun({ ...deps, ollama, known: (defaults) => probe(defaults, 'never') }),
  };
}

const countsOf = (issues: readonly SetupIssue[]): Readonly<Record<SetupIssue['severity'], number>> => {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of issues) counts[severity] += 1;
  return counts;
};

/** What others are told of when it changes (04 §18.1). */
const stateOf = ({ ready, backendChecks }: SetupStatus): string =>
  JSON.stringify([ready, backendChecks.map(({ name, status }) => `${name} ${status}`).sort()]);

/** Errors of these categories keep a run from starting (08 §12.1). */
/** A policy of the project that is not trusted keeps every run from starting, as what is missing to reach a model does. */
const keepsRunsFromStarting = ({ code, severity, category }: SetupIssue): boolean =>
  severity === 'error' && (blocking.has(category) || code === 'content_untrusted');
const blocking: ReadonlySet<SetupIssue['category']> = new Set(['defaults', 'registration', 'health']);

const typeOf = (text: string): ProviderType => providerTypes.find((type) => type === text) ?? 'openai-compatible';

/** Without a probe: the stored verdict, and the stored list where it was good. */
function lastKnown(backend: Backend, observer: Observer, checks: readonly CheckRow[]): Observation | null {
  const check = checks.find(({ backend_id }) => backend_id === backend.id);
  const good = observer.lastGood(backend);
  // A verdict is stored of what is registered alone; of another this process knows what it heard a moment ago.
  if (check === undefined) return backend.implicit ? (observer.fresh(backend) ?? good) : good;
  if (check.status === 'ready') return good ?? { state: 'open', models: [], at: check.checked_at, latencyMs: null };
  const message = check.error ?? 'it did not answer';
  return {
    state: 'failed',
    // Only classes of 08 §9.2 are ever written there.
    failure: { class: (check.error_class ?? 'connect') as 'connect', message },
    at: check.checked_at,
    error: null,
  };
}

/** Order of 08 §12.4: the default provider's first, then failing before ready, then by name. */
const inOrder = (probed: readonly Probed[]): readonly Probed[] =>
  [...probed].sort(
    (one, other) =>
      Number(other.check.defaultProvider) - Number(one.check.defaultProvider) ||
      Number(one.check.reachable) - Number(other.check.reachable) ||
      (one.check.name < other.check.name ? -1 : 1),
  );
