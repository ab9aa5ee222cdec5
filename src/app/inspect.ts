import { join } from 'node:path';
import type { AppOptions } from '../app-options.ts';
import type { Binaries } from '../gate/binaries.ts';
import { agentsMayAnswer } from '../policy/attention.ts';
import { vetPolicy } from '../policy/vet.ts';
import type { Inspection } from '../registry/inspection.ts';
import { viewsOf } from '../runs/instructions.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { asksFor } from '../runs/prepare.ts';
import { RuntimeError } from '../schema/errors.ts';
import { type InstructionsView, instructionsVariable } from '../schema/instructions.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import { hasPassword } from '../store/logins.ts';
import { leftOver } from '../tools/files/left-over.ts';
import type { Chains } from '../workspace/chains.ts';
import { declaredStates } from '../workspace/declared-binaries.ts';
import { defaultFiles } from '../workspace/find-chain.ts';
import type { Workspace } from '../workspace/paths.ts';
import { planChainFiles } from '../workspace/plan-chains.ts';
import { parseUrl } from '../text/parse-url.ts';
import { failureLines, type Policies } from '../workspace/policies.ts';
import { changedPreset } from '../workspace/presets/copies.ts';
import type { DatabaseProblem } from './database-problem.ts';
import {
  homeFault,
  isWritable,
  mayWrite,
  nearest,
  openPermissions,
  permissionlessMount,
  sizeOf,
} from './file-access.ts';
import { isListening } from './is-listening.ts';
import { freeBytes, type Machine } from './machine.ts';
import type { StoreRooms } from './store-rooms.ts';

export type InspectDeps = {
  readonly options: Pick<AppOptions, 'policy' | 'serving'>;
  readonly machine: Machine;
  readonly workspace: Workspace;
  readonly store: StoreRooms;
  readonly problem: DatabaseProblem | null;
  readonly chains: Chains;
  readonly policies: Policies;
  readonly binaries: Pick<Binaries, 'read'>;
  readonly prepare: () => Pick<PrepareDeps, 'instructions' | 'hosts' | 'environment'>;
  readonly now: () => number;
};

/** The first break of the audit chain, or null. */
async function auditFault(store: InspectDeps['store']): Promise<string | null> {
  try {
    const found = (await store.auditRooms()).verifyAudit({ head: null }).break;
    return found === null ? null : `seq ${found.seq}: ${found.reason}`;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'config_invalid') return error.message.replace(/\.$/, '');
    throw error;
  }
}

/** What is found by reading whole tables, and the tree of the workspace. */
type Whole = {
  readonly at: number;
  readonly broken: string | null;
  readonly damaged: Inspection['database']['damagedSessions'];
  readonly leftOver: Inspection['leftOver'];
};

/** Gathers for `doctor` what other rooms know (06 §15). What cannot be looked at is reported, never thrown. */
export function inspectWith(deps: InspectDeps): (named: string | null, chainAgeMs: number) => Promise<Inspection> {
  /** The audit log is gone through from its first row: what a page asks for at every change takes what was found lately. */
  let chain: Whole | null = null;
  const lookThrough = async (ageMs: number): Promise<Whole> => {
    const at = deps.now();
    if (chain === null || at < chain.at || at - chain.at >= ageMs) {
      const { dataDirExists, root } = deps.workspace;
      chain = {
        at,
        broken: await auditFault(deps.store),
        damaged: await deps.store.damagedSessions(),
        // Elsewhere it may be a whole home directory.
        leftOver: dataDirExists ? await leftOver(root, at) : [],
      };
    }
    return chain;
  };

  return async (named, chainAgeMs) => {
    const { workspace, machine, store } = deps;
    const chains = await inspectChains(deps);
    // Unless another is asked about, the one of a run that names none.
    const policy = await inspectPolicy(deps, named ?? deps.options.policy?.value ?? null);
    const { asks } = store.asks.list({
      state: 'pending',
      kind: null,
      session_id: null,
      mission_id: null,
      by: null,
      limit: 1000,
    });
    store.lostRuns.mark();
    const { interrupted, suspended, unknown } = store.runs.resting(deps.now());
    const whole = deps.problem === null ? await lookThrough(chainAgeMs) : null;
    const dataDir = workspace.dataDirExists ? workspace.dataDir : null;
    const defaultChain = store.settings.value('default-chain') ?? '';
    return {
      dataDir,
      root: workspace.root,
      hasRunChain: dataDir !== null && sizeOf(join(dataDir, 'default-run-chain.json')) !== null,
      invalidChains: chains.invalid,
      cautiousChains: chains.cautious,
      trustFault: chains.trustFault,
      untrusted: [...chains.untrusted, ...policy.untrusted],
      instructions: await inspectInstructions(deps, chains.texts, policy.loaded),
      policy: policy.policy,
      database: {
        path: workspace.dbPath,
        bytes: databaseBytes(deps),
        schema: deps.problem === null && sizeOf(workspace.dbPath) !== null ? store.store.schema : null,
        problem: deps.problem,
        auditBreak: whole?.broken ?? null,
        damagedSessions: whole?.damaged ?? [],
        freeBytes: freeBytes(nearest(workspace.dbPath)),
      },
      openPermissions: openPermissions([
        workspace.dbPath,
        join(machine.reinsHome, 'machine.key'),
        join(machine.reinsHome, 'trust.json'),
      ]),
      leftOver: whole?.leftOver ?? [],
      defaultPassword: defaultPassword(deps),
      unwritable: {
        dataDir: dataDir !== null && !isWritable(dataDir) ? dataDir : null,
        home: homeFault(machine.reinsHome),
        database: sizeOf(workspace.dbPath) !== null && !mayWrite(workspace.dbPath) ? workspace.dbPath : null,
      },
      refused: workspace.passedOver.map(({ path, fault }) => ({
        path,
        reason: fault,
        mount: permissionlessMount(path),
      })),
      asks: { pending: asks.length, oldest: asks.map((ask) => ask.created_at).sort()[0] ?? null },
      runs: { interrupted, suspended, unknownOutcome: unknown, stuck: store.runs.stuck() },
      chainMaxTokens: chains.maxTokens,
      beamPortTaken: await takenPort(deps),
      webProxy: parseUrl(store.settings.value('web-proxy') ?? '')?.host ?? null,
      defaultChain,
      servesNoChats: dataDir === null && defaultChain === '' && deps.options.serving?.chain === null,
    };
  };
}

/** What the database holds, wherever it lies: after its making nearly all of it is still in the log beside the file. */
function databaseBytes({ workspace, store, problem }: InspectDeps): number | null {
  const bytes = sizeOf(workspace.dbPath);
  if (bytes === null || problem !== null) return bytes;
  const sizes = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';
  return store.sql.column<number>(sizes)[0] ?? bytes;
}

/** The token file is made when a server of this user is first started (09 §4.11). */
function defaultPassword({ machine, store }: InspectDeps): Inspection['defaultPassword'] {
  if (sizeOf(join(machine.reinsHome, 'beam-token')) === null) return 'no';
  if (hasPassword(store.sql)) return 'no';
  const host = store.settings.value('beam-host') ?? '';
  return host === '' || host === 'localhost' || host === '::1' || host.startsWith('127.') ? 'loopback' : 'open';
}

async function inspectChains({ chains, workspace }: InspectDeps) {
  const invalid: { path: string; defect: string }[] = [];
  const untrusted: { kind: 'chain'; path: string }[] = [];
  const cautious: { path: string; caution: string }[] = [];
  /** Of runs and chats. */
  const texts: string[] = [];
  let maxTokens: Inspection['chainMaxTokens'] = null;
  let trustFault: Inspection['trustFault'] = null;
  if (!workspace.dataDirExists) return { invalid, cautious, untrusted, trustFault, texts, maxTokens };
  const files = { ...defaultFiles, ...planChainFiles };
  for (const use of ['run', 'chat', 'planner', 'explorer', 'executor', 'summarizer'] as const) {
    try {
      const { id, path, text, caution, max_tokens } = await chains.loadChain({ use, path: null, trust: [] });
      if (path !== null && caution !== null && !cautious.some((other) => other.path === path)) {
        cautious.push({ path, caution });
      }
      if (use !== 'run' && use !== 'chat') continue;
      texts.push(text);
      if (max_tokens !== null && max_tokens > (maxTokens?.tokens ?? 0))
        maxTokens = { path: path ?? id, tokens: max_tokens };
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      const path = pathIn(error.data) ?? join(workspace.dataDir ?? '', files[use]);
      if (error.code === 'config_invalid') trustFault = { message: error.message, mend: error.hints[0] ?? null };
      else if (error.code === 'chain_untrusted') untrusted.push({ kind: 'chain', path });
      else if (error.code !== 'chain_not_found') invalid.push({ path, defect: error.message });
    }
  }
  return { invalid, cautious, untrusted, trustFault, texts, maxTokens };
}

/** The port on which a server would listen, where a program listens that serves another database, or is none of ours. */
async function takenPort({ options, store }: InspectDeps): Promise<number | null> {
  const port = Number(store.settings.value('beam-port'));
  if (options.serving !== undefined || port === 0 || store.serving.ports().includes(port)) return null;
  return (await isListening(store.settings.value('beam-host') ?? '', port)) ? port : null;
}

async function inspectPolicy({ chains, policies, binaries, workspace }: InspectDeps, named: string | null) {
  const nothing = {
    given: named !== null,
    presetChanged: null,
    attentionChainMissing: false,
    warnings: 0,
    defect: null,
    binaries: [],
  };
  try {
    const governing = await policies.openPolicy({ name: named, trust: [] });
    const loaded = await governing.refresh();
    const { name, source, sha256, path, state } = loaded.identity;
    const vetted = state === 'ok' ? vetPolicy(loaded.policy).filter(({ severity }) => severity !== 'load').length : 0;
    const defect = failureLines(loaded)[0] ?? null;
    const states = await declaredStates(loaded.policy.trusted_binaries, { read: binaries.read, root: workspace.root });
    const attentionChainMissing = agentsMayAnswer(loaded.policy.attention) && !(await hasAttentionChain(chains));
    const presetChanged = path === null ? null : changedPreset(loaded.text);
    const found = { defect, warnings: vetted, binaries: states, attentionChainMissing, presetChanged };
    return { loaded, untrusted: [], policy: { ...nothing, name, source, sha256, path, state, ...found } };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const path = pathIn(error.data);
    const missing = { ...nothing, name: named ?? 'default', source: 'project', sha256: null, path };
    if (error.code === 'not_trusted' && path !== null) {
      const untrusted = [{ kind: 'policy' as const, path }];
      return { loaded: null, untrusted, policy: { ...missing, state: 'ok' as const } };
    }
    const state = error.code === 'policy_not_found' ? ('missing' as const) : ('invalid' as const);
    const name = named ?? textIn(error.data, 'name') ?? 'default';
    return { loaded: null, untrusted: [], policy: { ...missing, name, state, defect: error.message } };
  }
}

/** What a run of one of these chains would give to the model, under the policy that is looked at. */
async function inspectInstructions(
  { prepare, workspace }: InspectDeps,
  chains: readonly string[],
  loaded: LoadedPolicy | null,
): Promise<readonly InstructionsView[]> {
  if (loaded === null || chains.length === 0) return [];
  const { instructions, hosts, environment } = prepare();
  const path = environment('', [])['PATH'] ?? '';
  const found = await instructions({
    asksFor: () => true,
    loaded,
    host: hosts({ root: workspace.root, confined: false, named: [], path, tables: undefined }),
    confinedTo: null,
    accepted: [],
    used: [],
  });
  return viewsOf(found).map((view) => {
    if (view.withheld !== null || chains.some((text) => asksFor(text, view.source))) return view;
    const withheld = `no chain of runs and chats here asks for it with {{var:${instructionsVariable[view.source]}|}}`;
    return { ...view, withheld };
  });
}

async function hasAttentionChain(chains: Chains): Promise<boolean> {
  try {
    await chains.loadChain({ use: 'attention', path: null, trust: [] });
    return true;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return false;
  }
}

const pathIn = (data: unknown): string | null => textIn(data, 'path');

function textIn(data: unknown, member: string): string | null {
  const value: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, member) : null;
  return typeof value === 'string' ? value : null;
}
