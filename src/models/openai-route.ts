import type { Route } from '../schema/protocol.ts';
import type { ModelFailure, ModelRequest } from './model.ts';
import { isReasoningName } from './think.ts';
import type { Repair } from './wire-model.ts';

/** The two interfaces of OpenAI. */
export type Interface = 'chat' | 'responses';

/**
 * Over which interface a request goes. Reasoning models of type `openai` go over the Responses API: elsewhere their
 * reasoning is lost from one call to the next, or they are refused. Where a server says that it is the other one, it is,
 * for every type. What a server was found to lack is not tried again.
 */
export function interfaceOf(route: Route, request: ModelRequest, refused: (field: string) => boolean): Interface {
  if (refused('responses') || refused('responses_model')) return 'chat';
  if (refused('chat')) return 'responses';
  if (route.type !== 'openai' || !reasonsByName(request.model)) return 'chat';
  // Only the older interface ends a text at a word.
  const stops = (request.stop?.length ?? 0) > 0 && !refused('stop') && !isOnlyThere(request.model);
  return stops ? 'chat' : 'responses';
}

/** A name with an owner in front is one of a router, whose older interface is the one that is known to be whole. */
const reasonsByName = (model: string): boolean =>
  !model.includes('/') && isReasoningName(model) && !/-chat|search|^o1-(mini|preview)/.test(model);

/** Models that the older interface does not have. */
export const isOnlyThere = (model: string): boolean => /-pro\b|codex|deep-research/.test(model);

/** The server says that the model is to be asked over the other interface. */
export const toResponses: Repair = {
  field: 'chat',
  statuses: [400, 404, 422],
  named: /\bv1\/responses\b|responses api\b|not a chat model|not accessible via the \/chat/i,
};

/** The same of a server that is not known to be OpenAI's: it has to say that there is no other way. */
export const toResponsesAlone: Repair = {
  ...toResponses,
  named: /only (supported|available|accessible).{0,40}(\/responses\b|responses api\b)|not accessible via the \/chat/i,
};

/** Nothing stands at the path, so that no model of this backend is asked there again. */
export const toChat: Repair = { field: 'responses', statuses: [404, 405, 501], named: isMissing };

/** The server has the path, but not for this model, this key, or anybody who comes through what stands before it. */
export const toChatOfModel: Repair = {
  field: 'responses_model',
  statuses: [400, 401, 403, 404, 405, 422, 500, 501],
  named: isClosed,
};

function isMissing(failed: ModelFailure): boolean {
  return failed.status !== 404 || failed.class === 'invalid_request';
}

function isClosed({ status, class: errorClass, message }: ModelFailure): boolean {
  if (noRoute.test(message)) return true;
  if (status === 403 && errorClass === 'permission' && !/model/i.test(message)) return true;
  return /\/responses\b|responses api\b|api\.responses\b/i.test(message) && denied.test(message);
}

const denied =
  /\bnot (available|supported|enabled|allowed|found|exist|support)|n't (exist|support)|cannot|unsupported|unknown|invalid|\bonly\b|missing scopes/i;

/** Said of a path by what stands before a server, whatever its status. */
const noRoute =
  /\bnot implemented\b|\bno route\b|invalid url\b|\b(unknown|unsupported|invalid) (request )?(url|path|route|endpoint)|\b(url|path|route|endpoint) (is )?not (found|supported|allowed|available)/i;
