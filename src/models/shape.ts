import { isObject } from '../text/json-object.ts';

/** More than anybody counts, and few enough that sums of them stay exact: budgets and listings add them up. */
const mostCounted = 1e13;

/** A count of a report: a number above zero, rounded down; everything else, and what cannot be one, is 0. */
export const count = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value <= mostCounted ? Math.floor(value) : 0;

/**
 * Picks the same answer out of every piece of a reply, where what stands between asks for several: nobody reads two texts
 * that are mixed, and the calls of another answer are none of this one. The first that comes is the one.
 */
export function createChoice(): (list: unknown) => Readonly<Record<string, unknown>> | null {
  let chosen: number | null = null;
  return (list) => {
    const all = Array.isArray(list) ? list.filter(isObject) : [];
    const found = all.find((one) => chosen === null || placeOf(one) === chosen);
    if (found === undefined) return null;
    chosen = placeOf(found);
    return found;
  };
}

/** Services leave out the place of the first. */
const placeOf = ({ index }: Readonly<Record<string, unknown>>): number => (typeof index === 'number' ? index : 0);

export const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

/** The arguments of a call as JSON text; some servers write them as the object that they are. */
export const argumentsText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
