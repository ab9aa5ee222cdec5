/** One step before and after the remaining ones were planned anew. */
export type StepChange = {
  readonly change: 'kept' | 'removed' | 'added';
  readonly description: string;
};

type Described = { readonly id: string; readonly description: string; readonly status: string };

/**
 * What planning anew did to the steps of a plan: those that stayed, those that are gone or were left out, those that came;
 * in the order of the new list, with what is gone where it stood.
 */
export function stepDiff(before: readonly Described[], after: readonly Described[]): readonly StepChange[] {
  const old = new Map(before.map((step) => [step.id, step]));
  const now = new Map(after.map((step) => [step.id, step]));
  const isGone = ({ id, status }: Described): boolean =>
    now.get(id) === undefined || (now.get(id)?.status === 'skipped' && status !== 'skipped');
  const first = before.map((step): StepChange => {
    return { change: isGone(step) ? 'removed' : 'kept', description: step.description };
  });
  const added = after
    .filter(({ id }) => !old.has(id))
    .map(({ description }): StepChange => ({ change: 'added', description }));
  return [...first, ...added];
}
