import { define } from 'superstruct';
import type { Notice } from '../schema/event.ts';
import type { ToolSpec } from '../schema/message.ts';
import { fail } from './failure.ts';
import { defineTool, type Tool, type ToolErrorClass } from './tool.ts';

/** What one registered source (a hook, a tool server) gives a run: all of its tools, refusing ones among them. */
export type SourceTools = {
  /** The provider name of its tools. */
  readonly name: string;
  readonly tools: readonly Tool[];
  /** What the run is told, such as `tool_quarantined` or `provider_unavailable`. */
  readonly notices: readonly Notice[];
  /** Of a tool server: whether it is there. */
  readonly server?: { readonly status: string; readonly error: string | null };
};

/** The sources of one run. */
export type RunSources = {
  /** As they stand when the run begins. */
  readonly opened: readonly SourceTools[];
  /**
   * Hears of a source whose tools are others now: a server that was late, a list that changed. There is one listener;
   * what happened before it came is told to it at once.
   */
  onChange(listener: (changed: SourceTools) => void): void;
  /** The run has ended. Never throws. */
  close(): void;
};

export const noSources: RunSources = { opened: [], onChange: () => {}, close: () => {} };

/** Any JSON object: what a tool takes whose call is refused whatever it says. */
const anything = () => define<Readonly<Record<string, unknown>>>('object', () => true);

/**
 * A tool that is known and cannot be called now: no model sees it, and a call of it fails with the reason (05 §2.6.3).
 * @param message one or two sentences, with what mends it
 */
export const refusingTool = (name: Pick<ToolSpec, 'tools' | 'tool'>, error: ToolErrorClass, message: string): Tool =>
  defineTool({
    spec: { ...name, description: '', input_schema: { type: 'object' }, read_only: false },
    offered: false,
    args: anything(),
    prepare: () => fail(error, message),
    // Never reached: the precheck has refused the call.
    execute: async () => fail(error, message),
  });
