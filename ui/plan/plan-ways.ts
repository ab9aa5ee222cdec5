/** The key of a command; null where it has none, as among lines, where there are only commands (10 §10.1). */
export type KeyOf = (id: string) => string | null;

/** What is typed where no key does it. */
export const noKeys: KeyOf = () => null;

/** What helps a step that has failed. */
export function waysOn(keyOf: KeyOf, ordinal: number): string {
  const [retry, skip, replan] = [keyOf('plan.retry'), keyOf('plan.skip'), keyOf('plan.replan')];
  return retry === null || skip === null || replan === null
    ? `/plan retry ${ordinal}, /plan skip ${ordinal} or /plan replan`
    : `${retry} retry, ${skip} skip, ${replan} replan`;
}

export const noPlan = (keyOf: KeyOf): string =>
  `there is no plan: ${keyOf('plan.new') ?? '/plan new <goal>'} makes one`;
