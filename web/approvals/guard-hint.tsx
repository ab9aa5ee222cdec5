import type { Guard } from './guard.ts';

/**
 * Why a press did nothing, and what to do: shown over what is beside the buttons, since a card that grew would move them
 * and be guarded anew; said to who listens from where it stands, since the page behind a dialog is not heard.
 */
export function GuardHint({ guard: { hint } }: { readonly guard: Guard }) {
  return (
    <div className="guard-hint" role="status">
      {hint === null ? null : <span key={hint.turn}>{hint.words}</span>}
    </div>
  );
}
