import type { Route } from '../schema/protocol.ts';
import type { ModelRequest } from './model.ts';

const steps = [8192, 16384, 32768, 65536, 131072, 262144];
/** Room for the reply when the task sets no limit. */
const defaultReserve = 2048;

type Choice =
  | { readonly kind: 'fits'; readonly num_ctx: number }
  | { readonly kind: 'exceeded'; readonly message: string };

/**
 * The context to ask a local server for (08 §9.1). A declared or hinted one is sent as it is, at most the model's own;
 * else the need is rounded up to the next step, within the model's maximum and the cap, and never shrinks.
 * @param estimate tokens of the request
 * @param remembered what was asked for before, per backend and model; written here
 */
export function chooseContext(
  route: Pick<Route, 'backend' | 'base_url' | 'context' | 'num_ctx'>,
  request: Pick<ModelRequest, 'model' | 'max_tokens' | 'num_ctx'>,
  estimate: number,
  remembered: Map<string, number>,
): Choice {
  if (request.num_ctx !== undefined) return { kind: 'fits', num_ctx: request.num_ctx };
  const maximum = route.context ?? Number.POSITIVE_INFINITY;
  const need = estimate + (request.max_tokens ?? defaultReserve);
  const { fixed, cap } = route.num_ctx;
  const allowed =
    fixed === null ? Math.min(maximum, cap > 0 ? cap : Number.POSITIVE_INFINITY) : Math.min(fixed, maximum);
  if (need > allowed) {
    const mend = `raise it with reins model set-context ${request.model} --context ${need}`;
    return {
      kind: 'exceeded',
      message: `the request needs ${need} tokens and model "${request.model}" of backend "${route.backend}" may use ${allowed}; ${mend}`,
    };
  }
  if (fixed !== null) return { kind: 'fits', num_ctx: allowed };
  const key = `${route.backend} ${route.base_url} ${request.model}`;
  const wanted = Math.max(need, steps[0] ?? 0);
  const step = steps.find((size) => size >= wanted) ?? wanted;
  const num_ctx = Math.max(Math.min(step, allowed), Math.min(remembered.get(key) ?? 0, allowed));
  remembered.set(key, num_ctx);
  return { kind: 'fits', num_ctx };
}
