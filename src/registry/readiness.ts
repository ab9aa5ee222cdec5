import {
  type Candidate,
  hasCapability,
  resolveRoutes,
  sameName,
  type SeenBackend,
  type SeenModel,
} from '../models/resolve.ts';
import { providerTable } from '../models/providers.ts';
import type { BackendCheck, SetupIssue } from '../schema/registry.ts';
import { addCommand } from './add-command.ts';
import { issue } from './issue.ts';
import type { Defaults } from './models.ts';
import { quote } from '../text/quote.ts';

/** A backend with its probe, as readiness judges it. */
export type Probed = {
  readonly check: BackendCheck;
  readonly seen: SeenBackend;
  /** False for the local server and the demo that nobody registered. */
  readonly registered: boolean;
  /** The key's variable is named and unset. */
  readonly lacksKey: string | null;
};

export type ReadinessInput = {
  readonly defaults: Defaults;
  readonly probed: readonly Probed[];
  /** URL of the local model server, and whether it is not the built-in one. */
  readonly ollama: { readonly url: string; readonly standard: boolean };
  readonly chainMaxTokens: { readonly path: string; readonly tokens: number } | null;
};

const fallbackModel = 'qwen2.5:7b';
const smallContext = 8192;

/** Issues 0 to 14 of 08 §12.2, in that order. Pure. */
export function readinessIssues(input: ReadinessInput): readonly SetupIssue[] {
  const { defaults, probed } = input;
  const { provider, model } = defaults;
  const registered = probed.filter((one) => one.registered);
  const candidate = firstCandidate(input);
  const usable = candidate !== null;
  const issues: SetupIssue[] = [];

  if (defaults.modelSource === 'builtin') {
    const served = usable ? model : firstChatModel(input);
    const advised = served === null ? unseenModel(provider) : quote(served);
    issues.push(
      issue({
        code: 'missing_default_model',
        severity: usable ? 'warning' : 'error',
        category: 'defaults',
        message: usable
          ? `No default model is set; the built-in "${model}" is used.`
          : `No default model is set, and the built-in "${model}" is not served.`,
        fixPath: '/settings',
        cliCommand: `reins config set default-model ${advised}`,
      }),
    );
  }
  if (provider === '') {
    issues.push(
      issue({
        code: 'missing_default_provider',
        severity: usable ? 'info' : 'warning',
        category: 'defaults',
        message: 'No default provider is set; any backend may serve.',
        fixPath: '/settings',
        cliCommand: `reins config set default-provider ${serving(input)[0]?.check.type ?? 'ollama'}`,
      }),
    );
  }
  const implicitReady = probed.some((one) => !one.registered && one.check.status === 'ready');
  // Without a default provider scripts are passed by: what is registered serves where it is named.
  const scriptsAlone = provider === '' && registered.every(({ check }) => check.type === 'scripted');
  if (registered.length === 0 || scriptsAlone) {
    issues.push(registered.length === 0 ? noBackends(input, usable) : onlyScripts(usable));
    if (!implicitReady) return issues;
  }
  const ofProvider = probed.filter(({ check }) =>
    provider === '' ? check.type !== 'scripted' : check.type === provider,
  );
  const own = ofProvider.filter((one) => one.registered || one.check.status === 'ready');
  if (provider !== '' && own.length === 0) {
    issues.push(
      issue({
        code: 'default_provider_backend_missing',
        severity: 'error',
        category: 'registration',
        message: `The default provider is ${provider}, and no backend of that type is registered.${startHint(input)}`,
        fixPath: '/backends',
        cliCommand: addCommand(provider, provider),
        subject: provider,
      }),
    );
    return issues;
  }
  const health = reachability(input, registered, own);
  if (health !== null) issues.push(health);
  return [...issues, ...modelIssues(input, own, candidate)];
}

/** What to name where no model is served yet: the one that Ollama can pull is none of another provider's. */
const unseenModel = (provider: string): string =>
  provider === '' || provider === 'ollama' ? fallbackModel : '<model>';

/** What a run with the defaults would use now; null when they are not usable (08 §12.2). */
function firstCandidate(input: Pick<ReadinessInput, 'defaults' | 'probed'>): Candidate | null {
  const { provider, model } = input.defaults;
  const resolution = resolveRoutes(
    {
      types: provider === '' ? [] : [provider],
      defaultType: provider,
      models: [model],
      needs: ['chat'],
      tokens: 0,
      allow: { models: [], backends: [] },
    },
    input.probed.map(({ seen }) => seen),
  );
  return resolution.kind === 'candidates' ? (resolution.candidates[0] ?? null) : null;
}

function noBackends(input: ReadinessInput, usable: boolean): SetupIssue {
  const { provider } = input.defaults;
  const local = input.probed.find((one) => !one.registered && one.check.type === 'ollama');
  const isLocal = provider === '' || provider === 'ollama';
  const answers = isLocal && local?.check.status === 'ready';
  const url = input.ollama.standard ? '' : ` --url ${input.ollama.url}`;
  return issue({
    code: 'no_backends',
    severity: usable ? 'info' : 'error',
    category: 'registration',
    message: answers
      ? `No backend is registered; the model server at ${input.ollama.url} answers.`
      : `No backend is registered.${startHint(input)}`,
    fixPath: '/backends',
    cliCommand: isLocal ? `${addCommand('local', 'ollama')}${url}` : addCommand(provider, provider),
  });
}

const onlyScripts = (usable: boolean): SetupIssue =>
  issue({
    code: 'no_backends',
    severity: usable ? 'info' : 'error',
    category: 'registration',
    message: 'Only scripted backends are registered, which serve where they are named (--provider scripted).',
    fixPath: '/backends',
    cliCommand: 'reins config set default-provider scripted',
  });

/** One more sentence, with a blank before it, where an Ollama server is all there could be and none answers (08 §12.2). */
export function startHint({ defaults: { provider }, probed }: Pick<ReadinessInput, 'defaults' | 'probed'>): string {
  if (provider !== '' && provider !== 'ollama') return '';
  const meant = probed.filter(({ check }) => check.type === 'ollama' || (provider === '' && check.type !== 'scripted'));
  if (meant.some(({ check }) => check.type !== 'ollama' || answers(check))) return '';
  return ` Start Ollama with "ollama serve", or install it from https://ollama.com.`;
}

/** Whether something is there: a refusal, a redirect or a web page come from a server that runs. */
const answers = ({ status, errorClass }: Probed['check']): boolean =>
  status === 'ready' || (errorClass !== null && errorClass !== 'connect' && errorClass !== 'timeout');

/** At most one of issues 4 to 9: the most specific. */
function reachability(input: ReadinessInput, registered: readonly Probed[], own: readonly Probed[]): SetupIssue | null {
  const about = { category: 'health', fixPath: '/backends' } as const;
  // One that answered before its variable was lost does not serve now.
  if (own.some(({ check, lacksKey }) => check.status === 'ready' && lacksKey === null)) {
    const pending = own.find(({ check }) => check.status === 'pending');
    return pending === undefined ? null : notSynced(pending);
  }
  // Known without asking, so it comes before what only a probe tells.
  const keyless = own.find(({ lacksKey }) => lacksKey !== null);
  if (keyless !== undefined) {
    return issue({
      ...about,
      code: 'default_provider_api_key_missing',
      severity: 'error',
      message: `The backend "${keyless.check.name}" needs the variable ${keyless.lacksKey}, which is not set.`,
      cliCommand: `export ${keyless.lacksKey}=…`,
      subject: keyless.check.name,
    });
  }
  if (registered.length > 0 && registered.every(({ check }) => check.status === 'pending')) {
    return issue({
      ...about,
      code: 'runtime_state_empty',
      severity: 'error',
      message: 'No backend has been asked yet.',
      cliCommand: 'reins doctor',
    });
  }
  const refused = own.find(({ check }) => check.errorClass === 'auth' || check.errorClass === 'permission');
  if (refused !== undefined) {
    const { name, type, keySource } = refused.check;
    const variable = keySource.startsWith('env:') ? keySource.slice(4) : providerTable[type].keyVariable;
    return issue({
      ...about,
      code: 'default_provider_auth_failed',
      severity: 'error',
      message: `The backend "${name}" refused the key: ${refused.check.error ?? 'no reason was given'}`,
      cliCommand: `reins backend update ${name} --api-key-env ${variable ?? '<VAR>'}`,
      subject: name,
    });
  }
  const pending = own.find(({ check }) => check.status === 'pending');
  if (pending !== undefined) return notSynced(pending);
  const first = own[0] ?? registered[0];
  if (first === undefined) return null;
  const reason = first.check.error ?? 'no reason was given';
  const command = `reins backend test ${first.check.name}`;
  const unreachable = new Set(['connect', 'timeout', 'server_error']);
  const all = registered.every(({ check }) => check.status === 'error');
  if (input.defaults.provider !== '' && (unreachable.has(first.check.errorClass ?? '') || !all)) {
    return issue({
      ...about,
      code: 'default_provider_unreachable',
      severity: 'error',
      message: `The backend "${first.check.name}" of the default provider does not answer: ${reason}`,
      cliCommand: command,
      subject: first.check.name,
    });
  }
  return issue({
    ...about,
    code: 'all_backends_unreachable',
    severity: 'error',
    message: `No registered backend answers.${startHint(input)}`,
    cliCommand: command,
    subject: first.check.name,
  });
}

const notSynced = ({ check }: Probed): SetupIssue =>
  issue({
    code: 'default_provider_not_synced',
    severity: 'warning',
    category: 'health',
    message: `The backend "${check.name}" has not been asked yet.`,
    fixPath: '/backends',
    cliCommand: 'reins doctor',
    subject: check.name,
  });

/** Issues 10 to 14: what the answering backends serve. */
function* modelIssues(
  input: ReadinessInput,
  own: readonly Probed[],
  candidate: Candidate | null,
): Generator<SetupIssue> {
  const { model } = input.defaults;
  const ready = own.filter(({ check }) => check.status === 'ready');
  if (ready.length === 0) return;
  const about = { category: 'health', fixPath: '/models' } as const;
  const open = ready.some(({ seen }) => seen.state === 'open');
  const first = firstChatModel(input);
  const isOllama = ready.some(({ check }) => check.type === 'ollama');
  if (first === null && !open) {
    yield issue({
      ...about,
      code: 'no_chat_models',
      severity: 'error',
      message: 'The backends answer, but none of them serves a model to chat with.',
      cliCommand: isOllama ? `ollama pull ${fallbackModel}` : 'reins model list',
    });
    return;
  }
  const found = ready.flatMap(({ seen }) => seen.models.filter((one) => sameName(seen.type, one.name, model)));
  const known = found.find((one) => hasCapability(one, 'chat'));
  if (known === undefined) {
    // That the built-in one is not served is said where none is set.
    if (open || input.defaults.modelSource === 'builtin') return;
    // A run takes the model whose name is nearly the same, and warns: what works is no error (08 §3.4).
    if (candidate?.substitutedFor != null) {
      yield issue({
        ...about,
        code: 'default_model_not_available',
        severity: 'warning',
        message: `No backend serves "${model}"; "${candidate.model}" of ${candidate.backend} is used.`,
        cliCommand: `reins config set default-model ${quote(candidate.model)}`,
        subject: model,
      });
      return;
    }
    yield issue({
      ...about,
      code: 'default_model_not_available',
      severity: 'error',
      message: `The default model "${model}" ${found.length === 0 ? 'is not served' : 'is none to chat with'}.`,
      cliCommand:
        first === null ? `reins model pull ${quote(model)}` : `reins config set default-model ${quote(first)}`,
      subject: model,
    });
    return;
  }
  yield* limitIssues(known, input);
}

function* limitIssues(known: SeenModel, input: ReadinessInput): Generator<SetupIssue> {
  const { model } = input.defaults;
  const about = { category: 'health', severity: 'warning', subject: model } as const;
  if (known.capabilities.tools === false) {
    yield issue({
      ...about,
      code: 'model_without_tools',
      message: `The default model "${model}" does not support tools.`,
      fixPath: '/models',
      cliCommand: 'reins model list',
    });
  }
  if (known.context !== null && known.context < smallContext) {
    yield issue({
      ...about,
      code: 'context_small',
      message: `The default model "${model}" has a context of ${known.context} tokens, which is little for work with tools.`,
      fixPath: '/models',
      cliCommand: `reins model set-context ${quote(model)} --context 16k`,
    });
  }
  const { chainMaxTokens } = input;
  if (chainMaxTokens !== null && known.max_output !== null && chainMaxTokens.tokens > known.max_output) {
    yield issue({
      ...about,
      code: 'max_output_exceeded',
      message: `The chain ${chainMaxTokens.path} asks for ${chainMaxTokens.tokens} tokens; "${model}" gives at most ${known.max_output}.`,
      fixPath: '/chains',
      cliCommand: `reins chain show ${quote(chainMaxTokens.path)}`,
    });
  }
}

/** What answers of the default provider; without one, scripts count where nothing else is registered or answers. */
function serving({ defaults: { provider }, probed }: ReadinessInput): readonly Probed[] {
  const ready = probed.filter(({ check }) => check.status === 'ready');
  if (provider !== '') return ready.filter(({ check }) => check.type === provider);
  const others = ready.filter(({ check }) => check.type !== 'scripted');
  const registered = probed.filter((one) => one.registered);
  if (others.length > 0 || registered.some(({ check }) => check.type !== 'scripted')) return others;
  return ready.filter((one) => one.registered);
}

/** The first model to chat with that the backends of the default provider serve; without tools only where none has them. */
function firstChatModel(input: ReadinessInput): string | null {
  const models = serving(input)
    .flatMap(({ seen }) => seen.models)
    .filter((one) => one.origin === 'served' && hasCapability(one, 'chat'));
  return (models.find((one) => hasCapability(one, 'tools')) ?? models[0])?.name ?? null;
}
