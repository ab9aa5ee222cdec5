import type { ProviderErrorClass } from '../models/model.ts';
import type { Resolution, Wanted } from '../models/resolve.ts';
import { providerTypes } from '../schema/registry.ts';
import { type ErrorCode, toWire, type WireError } from '../schema/errors.ts';
import { addCommand } from './add-command.ts';
import type { View } from './seen.ts';
import { quote } from '../text/quote.ts';

/** Most names of one list that a message tells. */
const mostListed = 20;

/** How a run ends for which there is no route: one sentence, with what mends it (08 §3). */
export function refusal(
  resolution: Exclude<Resolution, { kind: 'candidates' | 'ask' }>,
  wanted: Wanted,
  views: readonly View[],
): WireError {
  const names = wanted.models.map((name) => `"${name}"`).join(', ');
  const failedText = (failed: readonly { readonly name: string; readonly failure?: { readonly message: string } }[]) =>
    failed.map(({ name, failure }) => failure?.message ?? `backend "${name}" did not answer`).join('; ');
  switch (resolution.kind) {
    case 'none_registered': {
      const [type] = wanted.types;
      const strange = wanted.types.find((each) => !providerTypes.some((known) => known === each));
      if (strange !== undefined) {
        const message = `There is no provider type "${strange}"; the types are ${providerTypes.join(', ')}.`;
        return { code: 'setup_incomplete', message };
      }
      const what =
        type === undefined
          ? 'No backend is registered'
          : `No backend of type ${wanted.types.join(' or ')} is registered`;
      const command = addCommand(type ?? 'local', type ?? 'ollama');
      return { code: 'setup_incomplete', message: `${what}: ${command}`, data: { issue: 'no_backends' } };
    }
    case 'not_allowed': {
      const { list } = resolution;
      const [what, listed] =
        list === 'modelAllowlist'
          ? (['model', wanted.allow.models] as const)
          : (['backend', wanted.allow.backends] as const);
      return {
        code: 'compute_exhausted',
        message: `The policy's compute.${list} leaves no ${what} for ${names}; it lists ${listed.slice(0, mostListed).join(', ')}.`,
        data: { list },
      };
    }
    case 'nothing_known': {
      const broken = brokenScript(views);
      if (broken !== null) return broken;
      return {
        code: codeOf(resolution.failed[0]?.failure?.class ?? 'connect'),
        message: `No backend can serve ${names}: ${failedText(resolution.failed)}`,
        data: { issue: issueOf(resolution.failed[0]?.failure?.class ?? 'connect') },
      };
    }
    case 'nothing_suitable': {
      const reasons = new Set(resolution.dropped.map(({ reason }) => reason));
      const [only] = reasons;
      const model = resolution.dropped[0]?.model ?? wanted.models[0] ?? '';
      if (reasons.size === 1 && only === 'no tools') {
        return {
          code: 'no_tool_support',
          message: `model "${model}" does not support tools; choose another with --model, or declare it: reins model add ${quote(model)} --capability tools`,
          data: { issue: 'model_without_tools' },
        };
      }
      if (reasons.size === 1 && only === 'no vision') {
        return {
          code: 'permanent',
          message: `model "${model}" does not take images; choose another with --model, or declare it: reins model add ${quote(model)} --capability vision`,
          data: { class: 'unsupported' },
        };
      }
      if (reasons.size === 1 && only === 'context') {
        return {
          code: 'capacity',
          message: `the request needs about ${wanted.tokens} tokens, which is more than the context of ${names}; if the model has more: reins model set-context ${quote(model)} --context ${wanted.tokens}`,
          data: { class: 'context_exceeded', issue: 'context_small' },
        };
      }
      // The script may well be the one that names the model; that it cannot be read comes first (08 §6.1).
      const broken = resolution.dropped.length === 0 ? brokenScript(views) : null;
      if (broken !== null) return broken;
      const dropped = resolution.dropped.map(({ backend, model: name, reason }) => `${backend}/${name}: ${reason}`);
      // That nobody registered a local server and none answers is no news where others answer.
      const failed = resolution.failed.filter(({ implicit }) => !implicit);
      const served = resolution.served.slice(0, mostListed);
      const more = resolution.served.length - served.length;
      const parts = [
        // Those of other types are not asked.
        `No backend${wanted.types.length === 0 ? '' : ` of type ${wanted.types.join(' or ')}`} serves ${names}`,
        ...(dropped.length > 0 ? [`left out: ${dropped.join('; ')}`] : []),
        ...(served.length > 0
          ? [`served: ${served.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
          : ['nothing is served']),
        ...(failed.length > 0 ? [failedText(failed)] : []),
      ];
      return { code: 'model_unavailable', message: parts.join('; '), data: { issue: 'default_model_not_available' } };
    }
    default:
      return resolution satisfies never;
  }
}

/** What is wrong with a script that was to be read; null when none is. */
function brokenScript(views: readonly View[]): WireError | null {
  for (const { observation } of views) {
    if (observation?.state === 'failed' && observation.error !== null) return toWire(observation.error);
  }
  return null;
}

/** Failure classes of runs (04 §12) for those of providers (08 §9.2). */
function codeOf(errorClass: ProviderErrorClass): ErrorCode {
  switch (errorClass) {
    case 'auth':
      return 'auth';
    case 'timeout':
      return 'model_timeout';
    case 'rate_limit':
    case 'overloaded':
      return 'rate_limit';
    case 'connect':
    case 'server_error':
    case 'malformed':
      return 'server_error';
    case 'permission':
    case 'model_not_found':
      return 'model_unavailable';
    default:
      return 'permanent';
  }
}

const issueOf = (errorClass: ProviderErrorClass): string =>
  errorClass === 'auth' ? 'default_provider_auth_failed' : 'all_backends_unreachable';
