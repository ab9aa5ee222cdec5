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

/**
 * Admits one model turn (architecture §3): bounds, allowlists, then ordered routes with the one key each needs. What
 * cannot be resolved is refused with its class; rejects with `cancelled` when the run is aborted meanwhile, or was to settle its
 * open calls and nothing else.
 */
export async function admitTurn(
  deps: TurnDeps,
  run: GateRun,
  request: TurnRequest,
  context: { readonly model: string; readonly provider: string; readonly contextHint: number },
): Promise<TurnAdmission> {
  if (run.settle !== null) {
    run.settle();
    throw new RuntimeError('cancelled', 'cancelled');
  }
  await run.refresh();
  const spent = (): Exhausted | null =>
    run.finishing && request.purpose === 'finish'
      ? null
      : turnBound(run.policy().policy.compute, run.tighten, run.counters);
  let exhausted = spent();
  while (exhausted?.action === 'ask') {
    const extended = await deps.budget.extend(run, { task_id: request.task_id, call_id: null }, exhausted);
    if (extended === 'suspended') return { kind: 'suspended' };
    if (extended === 'refused') break;
    await run.refresh();
    exhausted = spent();
  }
  const { policy } = run.policy();
  if (exhausted !== null) {
    run.ahead.flush();
    deps.feed.commit('normal', (record) => {
      record(run.ref, { kind: 'compute_exhausted', ...exhausted });
      deps.audit.append(
        {
          type: 'compute',
          tenant_id: run.ref.tenant_id,
          run_id: run.ref.run_id,
          session_id: run.ref.session_id,
          body: { ...exhausted },
        },
        deps.now(),
      );
    });
    if (exhausted.action === 'finish' && !run.finishing) {
      run.finishing = true;
      return { kind: 'finish', bound: exhausted.bound, used: exhausted.used, limit: exhausted.limit };
    }
    return { kind: 'refused', error: { code: 'compute_exhausted', message: exhaustedText(exhausted) } };
  }
  try {
    const found = await deps.routes(
      {
        providers: request.providers,
        models: request.models,
        defaultModel: context.model,
        defaultProvider: context.provider,
        needs: { tools: request.needs_tools, vision: request.needs_vision },
        tokenNeed: request.token_need,
        contextHint: context.contextHint,
        workspace: run.root,
      },
      { models: policy.compute.modelAllowlist, backends: policy.compute.backendAllowlist },
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
  } catch (error) {
    if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
    return { kind: 'refused', error: toWire(error) };
  }
}

/** The tools of the run, when they are others than the thread knows: a server came late, or its list has changed. */
function changedTools(run: GateRun): Pick<Extract<TurnAdmission, { kind: 'go' }>, 'tools'> {
  const version = run.catalog.version();
  if (version === run.toldTools) return {};
  run.toldTools = version;
  return { tools: run.catalog.list(undefined, { root: run.root, limits: {} }) };
}
