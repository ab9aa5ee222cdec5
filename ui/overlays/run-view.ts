import { formatClock, runSpan } from '../../src/view/format.ts';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { runParts } from '../../src/view/run-lines.ts';
import { cutLine, wrapLine } from '../../src/view/wrap.ts';
import type { State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import { canGoOn } from '../../src/schema/run.ts';
import type { BoundUse, RunDetails } from '../../src/schema/run-record.ts';
import type { Overlay } from './overlay.ts';
import { footKeys, type OverlayView, plainView } from './overlay-view.ts';
import { shortId } from '../approvals/approvals-state.ts';

/** A run: what it did first, then what it was; its bounds stay at the bottom (10 §2.8). */
export function runView(overlay: Extract<Overlay, { kind: 'run' }>, state: State, columns: number): OverlayView {
  const { run } = overlay;
  if (run === null)
    return {
      ...plainView,
      title: 'Run',
      body: [[say('loading…', 'dim')]],
      at: 0,
      foot: footKeys(state.keys, [['overlay.close', 'close']]),
    };
  const shown = { id: (id: string) => state.approvals.ids[id] ?? shortId(id), when: formatClock };
  const { header, steps, outcome } = runParts(run, shown);
  const lines = [...steps.map((line) => line.replace(/^ {2}/, '')), ...outcome, '', ...header];
  const right = `${run.status} · ${runSpan(run)}`;
  return {
    ...plainView,
    title: `Run ${run.id.slice(-6)}`,
    right: foreign(right, state.glyphs, 'dim'),
    body: lines.flatMap((line): readonly Line[] => wrapLine(foreign(line, state.glyphs), columns, [], [say('      ')])),
    at: overlay.at,
    below: [cutLine(foreign(boundsText(run), state.glyphs, 'dim'), columns)],
    foot: footKeys(state.keys, [
      ['overlay.accept', 'inputs and outputs'],
      ...(run.ended_at === null ? ([['run.cancel', 'cancel run']] as const) : []),
      ...(canGoOn(run) ? ([['run.resume', 'resume']] as const) : []),
      ['run.export', 'export'],
      ['overlay.close', 'close'],
    ]),
  };
}

const boundsText = ({ bounds: { turns, tool_calls, tokens } }: RunDetails): string =>
  [used('turns', turns), used('calls', tool_calls), used('tokens', tokens)].join(' · ');

const used = (name: string, bound: BoundUse): string =>
  `${name} ${shortCount(bound.used)} of ${bound.max === null ? 'none' : shortCount(bound.max)}`;
