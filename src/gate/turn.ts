import { RuntimeError, toWire } from '../schema/errors.ts';
import type { TurnAdmission, TurnRequest } from '../schema/protocol.ts';
import type { Audit } from '../store/audit.ts';
import type { Feed } from '../store/feed.ts';
import type { RouteBounds, RouteResult, WantedRoutes } from '../registry/ports.ts';
import { type Exhausted, exhaustedText, turnBound } from './bounds.ts';
import type { Budget } from './budget.ts';
import type { GateRun } from './run.ts';

export type TurnDeps = {
  readonly feed: Feed;
  readonly audit: Audit;
  readonly now: () => number;
  /** Asks about spent bounds. */
  readonly budget: Budget;
  /** Resolves names to ordered (backend, model) pairs (08 §3). */
  readonly routes: (wanted: WantedRoutes, bounds: RouteBounds, signal: AbortSignal) => Promise<RouteResult>;
};

/** What a turn uses where its task names nothing. */
export type TurnDefaults = { readonly model: string; readonly provider: string; readonly contextHint: number };

/**
 * Admits one model turn (architecture §3): bounds, allowlists, then ordered routes with the one key each needs. What
 * cannot be resolved is refused with its class. Rejects with `cancelled` when the run is aborted meanwhile, or when it was
 * only to settle its open calls.
 */
export async function admitTurn(
  deps: TurnDeps,
  run: GateRun,
  request: TurnRequest,
  defaults: TurnDefaults,
): Promise<TurnAdmission> {
  if (run.settle !== null) {
    run.settle();
    throw new RuntimeError('cancelled', 'cancelled');
  }
  const exhausted = await spentBound(deps, run, request);
  if (exhausted === 'suspended') return { kind: 'suspended' };
  if (exhausted !== null) return stopAt(deps, run, exhausted);
  try {
    return await routed(deps, run, request, defaults);
  } catch (error) {
    if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
    return { kind: 'refused', error: toWire(error) };
  }
}

/** The bound that stops this turn; null when none does, or when more was granted. */
async function spentBound(
  deps: TurnDeps,
  run: GateRun,
  { purpose, task_id }: TurnRequest,
): Promise<Exhausted | 'suspended' | null> {
  for (;;) {
    await run.refresh();
    // The last report is written after the bound.
    if (run.finishing && purpose === 'finish') return null;
    const exhausted = turnBound(run.policy().policy.compute, run.tighten, run.counters);
    if (exhausted?.action !== 'ask') return exhausted;
    const extended = await deps.budget.extend(run, { task_id, call_id: null }, exhausted);
    if (extended === 'suspended') return 'suspended';
    if (extended === 'refused') return exhausted;
  }
}

/** Writes down that a bound stops the run, or lets it write one last report. */
function stopAt(deps: TurnDeps, run: GateRun, exhausted: Exhausted): TurnAdmission {
  const { bound, used, limit, action } = exhausted;
  const { tenant_id, run_id, session_id } = run.ref;
  run.ahead.flush();
  deps.feed.commit('normal', (record) => {
    record(run.ref, { kind: 'compute_exhausted', ...exhausted });
    deps.audit.append({ type: 'compute', tenant_id, run_id, session_id, body: { ...exhausted } }, deps.now());
  });
  if (action === 'finish' && !run.finishing) {
    run.finishing = true;
    return { kind: 'finish', bound, used, limit };
  }
  return { kind: 'refused', error: { code: 'compute_exhausted', message: exhaustedText(exhausted) } };
}

async function routed(
  deps: TurnDeps,
  run: GateRun,
  request: TurnRequest,
  defaults: TurnDefaults,
): Promise<TurnAdmission> {
  const { compute } = run.policy().policy;
  const found = await deps.routes(
    {
      providers: request.providers,
      models: request.models,
      defaultModel: defaults.model,
      defaultProvider: defaults.provider,
      needs: { tools: request.needs_tools, vision: request.needs_vision },
      tokenNeed: request.token_need,
      contextHint: defaults.contextHint,
      workspace: run.root,
    },
    { models: compute.modelAllowlist, backends: compute.backendAllowlist },
    run.signal,
  );
  if (found.kind === 'refused') return { kind: 'refused', error: found.error };
  if (found.notices.length > 0) {
    run.ahead.flush();
    deps.feed.commit('normal', (record) => {
      for (const notice of found.notices) record(run.ref, notice);
    });
  }
  const left = run.clock.left();
  return {
    kind: 'go',
    routes: found.routes,
    ...(Number.isFinite(left) ? { time_left_ms: left } : {}),
    ...changedTools(run),
  };
}

/** The tools of the run, when they are others than the thread knows: a server came late, or its list has changed. */
function changedTools(run: GateRun): Pick<Extract<TurnAdmission, { kind: 'go' }>, 'tools'> {
  const version = run.catalog.version();
  if (version === run.toldTools) return {};
  run.toldTools = version;
  return { tools: run.catalog.list(undefined, { root: run.root, limits: {} }) };
}
