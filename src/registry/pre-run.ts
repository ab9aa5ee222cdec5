import { leaveProvider, passedBy } from './passed-by.ts';
import { RuntimeError, type WireError } from '../schema/errors.ts';
import type { RouteName } from '../schema/protocol.ts';
import { providerTypes, type SetupIssue } from '../schema/registry.ts';
import { addCommand } from './add-command.ts';
import type { Backends } from './backends.ts';
import type { Defaults, Models } from './models.ts';
import type { RouteBounds } from './ports.ts';
import { type Probed, readinessIssues, startHint } from './readiness.ts';
import type { Settings } from './settings.ts';
import { isLoopback } from './urls.ts';

/** What a run needs before it starts: the names that its chain's tasks fall back to. */
type PreRunWanted = {
  readonly model: string;
  readonly provider: string;
  /** Where the model comes from; absent = found out by comparison with the configuration. */
  readonly modelSource?: Defaults['modelSource'];
  /** Names and types that the chain's tasks name themselves, when none of them uses the default. */
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
};

type PreRunResult =
  /** `first`: what would serve the first turn. */
  | { readonly kind: 'ready'; readonly first: RouteName | null }
  | { readonly kind: 'obstacle'; readonly error: RuntimeError };

export type PreRunDeps = {
  readonly backends: Pick<Backends, 'inUse'>;
  readonly models: Pick<Models, 'routes'>;
  readonly settings: Pick<Settings, 'isSet' | 'value'>;
  /** URL of the local model server, and whether it is not the built-in one. */
  readonly ollama: { readonly url: string; readonly standard: boolean };
  /** Real path of the workspace root. */
  readonly workspace: string;
  /** What is known of the backends without asking them. */
  known(defaults: Defaults): Promise<readonly Probed[]>;
};

type Diagnosis = {
  readonly issues: readonly SetupIssue[];
  /** A sentence with a blank before it, or nothing. */
  readonly start: string;
  /** Why the Ollama server does not serve; null when it was not asked. */
  readonly localFault: string | null;
  readonly startCommands: readonly string[];
  /** A sentence about a backend that only the default provider keeps from serving, with a blank behind it; or nothing. */
  readonly passed: string;
};

/** The check before a run (08 §12.3). */
export function createPreRun(deps: PreRunDeps) {
  const { backends, models, settings } = deps;

  const isBuiltinModel = (wanted: PreRunWanted): boolean => {
    // The tasks name others, so no default would mend what is missing.
    if (wanted.models !== undefined && !wanted.models.includes(wanted.model)) return false;
    if (wanted.modelSource !== undefined) return wanted.modelSource === 'builtin';
    return !settings.isSet('default-model') && wanted.model === settings.value('default-model');
  };

  /** What doctor would tell of these names now, and how to start what is missing; nothing more is asked. */
  const diagnose = async (wanted: PreRunWanted): Promise<Diagnosis> => {
    const defaults: Defaults = {
      model: wanted.models?.[0] ?? wanted.model,
      provider: wanted.providers?.[0] ?? wanted.provider,
      modelSource: isBuiltinModel(wanted) ? 'builtin' : 'config',
    };
    const probed = await deps.known(defaults);
    const start = startHint({ defaults, probed });
    const local = probed.find(({ check }) => check.type === 'ollama');
    // What was given with the run, or by its chain, is changed there.
    const isConfigured = wanted.providers === undefined && settings.value('default-provider') === wanted.provider;
    const passed = isConfigured ? passedBy({ defaults, probed }) : null;
    return {
      passed: passed === null ? '' : `${passed} `,
      issues: readinessIssues({ defaults, probed, ollama: deps.ollama, chainMaxTokens: null }),
      start,
      localFault: local?.check.error ?? null,
      startCommands: start !== '' && local !== undefined && isLoopback(local.check.baseUrl) ? ['ollama serve'] : [],
    };
  };

  /**
   * What stands in the way of a run, or that nothing does. Asks only backends that the run could use, and none where the cache or a
   * whole declaration settles it; what it finds out serves the run's first turn.
   * @param bounds allowlists of the policy: what they exclude is not asked
   */
  return async function preRun(
    wanted: PreRunWanted,
    bounds: RouteBounds = { models: [], backends: [] },
  ): Promise<PreRunResult> {
    const result = await models.routes(
      {
        providers: wanted.providers ?? (wanted.provider === '' ? [] : [wanted.provider]),
        models: wanted.models ?? [wanted.model],
        defaultModel: wanted.model,
        defaultProvider: wanted.provider,
        needs: { tools: false, vision: false },
        tokenNeed: 0,
        contextHint: 0,
        workspace: deps.workspace,
      },
      bounds,
      new AbortController().signal,
    );
    if (result.kind === 'routes') return { kind: 'ready', first: result.routes[0] ?? null };
    const { error } = result;
    // The policy, or a script of the operator's, has its own code and exit.
    if (error.code === 'compute_exhausted' || error.code === 'config_invalid') {
      return { kind: 'obstacle', error: new RuntimeError(error.code, error.message, { data: error.data }) };
    }
    const inUse = backends.inUse().filter(({ implicit }) => !implicit);
    const { provider } = wanted;
    const types = wanted.providers ?? (provider === '' ? [] : [provider]);
    const none = `No backend${types.length === 0 ? '' : ` of type ${types.join(' or ')}`} is registered.`;
    const { issues, start, startCommands, localFault, passed } = await diagnose(wanted);
    const command = (code: string): string | null => issues.find((issue) => issue.code === code)?.cliCommand ?? null;
    if (inUse.length === 0 && provider !== 'scripted') {
      const { url } = deps.ollama;
      const message =
        start === '' || localFault === null
          ? because(none, error)
          : `No backend is registered, and no Ollama server answers at ${url} (${localFault}).${start}`;
      return obstacle('setup_incomplete', 'no_backends', message, [
        ...startCommands,
        command('no_backends') ?? addCommand('local', 'ollama'),
        'reins doctor',
      ]);
    }
    const [first] = types;
    if (first !== undefined && !inUse.some(({ type }) => types.includes(type)) && !types.includes('scripted')) {
      return obstacle('setup_incomplete', 'default_provider_backend_missing', `${passed}${because(none, error)}`, [
        ...(passed === '' ? [] : [leaveProvider]),
        providerTypes.some((known) => known === first) ? addCommand(first, first) : 'reins backend list',
      ]);
    }
    if (isBuiltinModel(wanted) && error.code === 'model_unavailable') {
      return obstacle(
        'setup_incomplete',
        'missing_default_model',
        `No default model is set, and the built-in "${wanted.model}" is not usable. ${error.message}`,
        [command('missing_default_model') ?? 'reins doctor', 'reins model list'],
      );
    }
    const found = issues.find(({ severity, category }) => severity === 'error' && category === 'health') ?? null;
    const message = start === '' ? error.message : `${error.message}.${start}`;
    return obstacle('setup_unhealthy', found?.code ?? 'health', `${passed}${message}`, [
      ...(passed === '' ? [] : [leaveProvider]),
      ...startCommands,
      commandOf(found, wanted, error),
    ]);
  };
}

const obstacle = (
  code: 'setup_incomplete' | 'setup_unhealthy',
  issueCode: string,
  message: string,
  hints: readonly string[],
): PreRunResult => ({
  kind: 'obstacle',
  error: new RuntimeError(code, message, { data: { issue: issueCode }, hints }),
});

/** A sentence of our own, and the reason where it says more than that nothing is registered. */
const because = (sentence: string, { message, data }: WireError): string =>
  (data as { readonly issue?: string } | undefined)?.issue === 'no_backends' ? sentence : `${sentence} ${message}`;

/** What mends it. Another default does not help where the name was given with the run or by the chain. */
function commandOf(found: SetupIssue | null, { models, modelSource }: PreRunWanted, { code }: WireError): string {
  const isDefault = models === undefined && (modelSource === undefined || modelSource === 'config');
  if (found?.code === 'default_model_not_available' && !isDefault) return 'reins model list';
  return found?.cliCommand ?? (code === 'model_unavailable' ? 'reins model list' : 'reins doctor');
}
