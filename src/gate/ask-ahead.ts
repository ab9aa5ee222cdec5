import type { ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';
import type { Asker, AskerDeps, Steps } from './ask.ts';
import { actionOf } from './decide.ts';
import { foresee } from './foresee.ts';
import type { Ledger } from './ledger.ts';
import { isSameChange, preimageOf, toolPreview } from './preimage.ts';
import type { AskedCall, GateCall } from './stages.ts';

const suspended: ToolOutcome = { kind: 'suspended' };

/**
 * Asks about calls of a run that rests, ahead of their turn, so that a person can answer all of a message at once (03 §10).
 * Only questions are written down: what a call lacks now, the calls before it may bring about.
 */
export function createAskAhead(
  deps: Pick<AskerDeps, 'asks'>,
  ledger: Pick<Ledger, 'deniedBefore'>,
  { look }: Pick<Steps, 'look'>,
  { raise, unfitFor }: Pick<Asker, 'raise' | 'unfitFor'>,
) {
  /**
   * Once more about a call that was asked about, where the calls ahead of it will leave another file than that: nobody is
   * to answer a question which the next one replaces.
   */
  const again = async (call: AskedCall): Promise<void> => {
    const ask = deps.asks.show(call.planned.ask_id);
    const changesFile = ask.kind === 'permission' && ask.preview.preimage !== undefined;
    const mayRun = ask.state === 'pending' || ask.state === 'approved';
    const judged = changesFile && mayRun ? await look(call) : null;
    if (judged === null || 'kind' in judged || judged.evaluation.action === 'deny') return;
    if (unfitFor(call, judged) !== null) return;
    const now = await toolPreview(call, judged);
    const isOther = preimageOf(now) !== preimageOf(ask.preview) && !isSameChange(now, ask.preview);
    if (isOther && judged.evaluation.action === 'approve') await raise(call, judged, ask.id);
    foresee(call.run, judged);
  };

  return async (call: GateCall, known: KnownCall | undefined): Promise<ToolOutcome> => {
    if (known !== undefined) {
      const { seq, ask_id } = known;
      if (ask_id !== null) await again({ ...call, planned: { seq, ask_id } });
      return suspended;
    }
    const judged = await look(call);
    if ('kind' in judged) return suspended;
    const action = actionOf(call, judged);
    const asks = action === 'approve' && !ledger.deniedBefore(call.run, judged.hash) && unfitFor(call, judged) === null;
    if (asks) await raise(call, judged, null);
    if (asks || action === 'allow') foresee(call.run, judged);
    return suspended;
  };
}
