import type { Route } from '../schema/protocol.ts';
import { conversation, systemText } from './history.ts';
import type { ModelRequest } from './model.ts';
import { flatTools, wireNames } from './names.ts';
import { isOnlyThere, toChat, toChatOfModel } from './openai-route.ts';
import { createInputWriter, hasReasoning } from './responses-input.ts';
import { createResponsesDecoder } from './responses-reply.ts';
import { canThink, isReasoningName, reasoningEffort, samplingNotices, thinkNotices, wantsThinking } from './think.ts';
import { levelRefused, type Prepared, type Repair, streamRepair, temperatureRepair } from './wire-model.ts';

/** The service takes no fewer. */
const leastOutput = 16;

const effortRepair: Repair = { field: 'think', named: /reasoning[._ ]effort/i, told: levelRefused };
/** Organisations that are not verified get none, and some models make none. */
const summaryRepair: Repair = {
  field: 'summary',
  named: /reasoning[._](summary|effort)|reasoning summar|'reasoning'/i,
};
const summaryMissed = { code: 'think_unsupported', what: 'a summary of the reasoning' } as const;
const sealedRepair: Repair = {
  field: 'include',
  named: /encrypted content is not supported|reasoning\.encrypted_content|\(include\)|'include/i,
};
const imagesRepair: Repair = { field: 'result_images', named: /input\[\d+\]\.output|function_call_output|\bimage/i };
const descriptionsRepair: Repair = { field: 'descriptions', named: /tools\[\d+\]\.description/ };
/** Sealed for another organisation, or by a server that is gone. */
const unreadable =
  /item with id '?rs_|encrypted[ _]content.{0,300}(verif|decrypt|pars)|of type 'reasoning'|required 'reasoning' item/is;

/** Writes requests of OpenAI's Responses API for one route, and makes the readers of their replies. */
export async function createResponses(route: Route) {
  const write = await createInputWriter(route);

  return async (request: ModelRequest, refused: (field: string) => boolean): Promise<Prepared> => {
    const names = await wireNames(request.tools);
    const { model } = request;
    const reasons = isReasoningName(model) || canThink(route);
    const fixed = isReasoningName(model);
    const thinking = reasons ? reasoningFields(request, refused) : {};
    const temperature = fixed || refused('temperature') ? undefined : request.temperature;
    const system = systemText(request);
    const messages = conversation(request.messages);
    const reasoned = messages.filter((message) => hasReasoning(message, route, model));
    const unread = reasoned.findLast(({ id }) => refused(`reasoning ${id}`)) ?? null;
    const images = route.capabilities['vision'] === true && !refused('result_images');
    const newest = reasoned.at(-1);
    const stream = !refused('stream');
    const body = {
      model,
      stream,
      // Nothing is left with the service; what it needs of its reasoning comes back sealed.
      store: false,
      ...(refused('include') ? {} : { include: ['reasoning.encrypted_content'] }),
      ...(system === '' ? {} : { instructions: system }),
      input: write(request, names, { images, unreadable: unread }),
      ...(request.tools.length === 0 ? {} : { tools: flatTools(request, names, refused('descriptions')) }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(request.top_p === undefined || fixed ? {} : { top_p: request.top_p }),
      ...(request.max_tokens === undefined ? {} : { max_output_tokens: Math.max(request.max_tokens, leastOutput) }),
      ...(Object.keys(thinking).length === 0 ? {} : { reasoning: thinking }),
    };
    const repairs: readonly (Repair | false)[] = [
      'include' in body && sealedRepair,
      newest !== undefined &&
        newest !== unread && {
          field: `reasoning ${newest.id}`,
          named: unreadable,
          statuses: [400, 404, 422],
        },
      'effort' in thinking && effortRepair,
      'summary' in thinking &&
        (wantsThinking(request.think) ? { ...summaryRepair, told: summaryMissed } : summaryRepair),
      stream && streamRepair,
      temperature !== undefined && temperatureRepair,
      images && messages.some(hasImages) && imagesRepair,
      request.tools.length > 0 && descriptionsRepair,
      !refused('chat') && toChat,
      !refused('chat') && !isOnlyThere(model) && toChatOfModel,
    ];
    return {
      path: '/responses',
      body,
      notices: [
        ...(fixed ? samplingNotices(request) : []),
        ...(reasons || refused('think') ? [] : thinkNotices(route, model, request.think)),
        ...leftOut(route, request),
      ],
      decoder: createResponsesDecoder(route, model, names),
      repairs: repairs.filter((repair) => repair !== false),
    };
  };
}

const hasImages = ({ role, images }: ModelRequest['messages'][number]): boolean =>
  role === 'tool' && (images?.length ?? 0) > 0;

function reasoningFields(
  { model, think }: ModelRequest,
  refused: (field: string) => boolean,
): Readonly<Record<string, string>> {
  const effort = refused('think') ? null : reasoningEffort(model, think);
  return {
    ...(effort === null ? {} : { effort }),
    ...(think === 'off' || refused('summary') ? {} : { summary: 'auto' }),
  };
}

/** What this interface has no place for. */
function leftOut({ backend }: Route, { model, seed, stop }: ModelRequest): Prepared['notices'] {
  const names = [...(seed === undefined ? [] : ['seed']), ...(stop === undefined || stop.length === 0 ? [] : ['stop'])];
  return names.map((name) => ({
    code: 'parameter_ignored',
    message: `model "${model}" of backend "${backend}" is asked over an interface without ${name}; it is left out`,
  }));
}
