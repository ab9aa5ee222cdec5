import type { ServerResponse } from 'node:http';
import type { Principal } from '../schema/login.ts';
import type { CallEnd } from './route.ts';

type Open = {
  readonly principal: Principal | null;
  readonly streams: boolean;
  ended: CallEnd | null;
  /** Made when somebody asks for its signal: most requests are answered before they could end. */
  abort: AbortController | null;
};

/** Requests that are being answered, event streams among them: they end with their client, credential or server. */
export function createLiveCalls() {
  const calls = new Set<Open>();
  let stopping = false;
  const end = (call: Open, reason: CallEnd): void => {
    calls.delete(call);
    call.ended ??= reason;
    call.abort?.abort(reason);
  };

  return {
    /** @returns why the call has ended, its signal, and what forgets it when its reply has been made */
    open(response: ServerResponse, principal: Principal | null, streams: boolean) {
      const call: Open = { principal, streams, ended: null, abort: null };
      calls.add(call);
      response.once('close', () => end(call, 'client'));
      if (stopping && streams) end(call, 'stop');
      return {
        ended: () => call.ended,
        signal: (): AbortSignal => {
          call.abort ??= new AbortController();
          if (call.ended !== null) call.abort.abort(call.ended);
          return call.abort.signal;
        },
        close: () => void calls.delete(call),
      };
    },

    /** Ends those whose credential is no longer valid. One that cannot be checked counts as invalid. */
    recheck(isValid: (principal: Principal) => boolean): void {
      const holds = (principal: Principal): boolean => {
        try {
          return isValid(principal);
        } catch {
          return false;
        }
      };
      for (const call of [...calls]) if (call.principal !== null && !holds(call.principal)) end(call, 'credential');
    },

    /** The server stops: streams say so and close; other requests are answered. */
    stop(): void {
      stopping = true;
      for (const call of [...calls]) if (call.streams) end(call, 'stop');
    },
  };
}

export type LiveCalls = ReturnType<typeof createLiveCalls>;
export type LiveCall = ReturnType<LiveCalls['open']>;
