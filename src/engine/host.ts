import type { EngineEvent } from '../schema/event.ts';
import type {
  BackendRequest,
  CallRequest,
  CheckpointRequest,
  ToolOutcome,
  TurnAdmission,
  TurnRequest,
} from '../schema/protocol.ts';

/**
 * The engine's only door to the world. In production it is a port to the main thread (`workers/port-host.ts`),
 * in engine tests a recording object.
 */
export type RunHost = {
  /** Reports something. Order is kept; nothing is awaited. Stored events are there before what follows them acts. */
  emit(event: EngineEvent): void;
  /** Asks to call a model once. Rejects with RuntimeError; on abort rejects with code `cancelled`. */
  openTurn(request: TurnRequest): Promise<TurnAdmission>;
  /**
   * Waits until the backend takes one more request (08 §11.2). The event `request_over` gives the place back, or the wait
   * up, which rejects; so does an abort, both with `cancelled`.
   */
  openRequest(request: BackendRequest): Promise<void>;
  /** Sends one call through the gate. A denied or failed call is an outcome, not a rejection. */
  callTool(call: CallRequest): Promise<ToolOutcome>;
  /**
   * Makes the state durable, together with everything emitted before it. Resolves when it is; ahead of a call at once,
   * because no call starts before. Rejects with `cancelled` on abort.
   */
  checkpoint(request: CheckpointRequest): Promise<void>;
};
