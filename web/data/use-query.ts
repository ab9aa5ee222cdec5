import { useSearchParams } from 'wouter';

/**
 * One member of the query string, where filters and the selected tab are kept (09 §8.3), so that reload and back work.
 * @returns its value, and how to change it; the standard value is not written
 */
export function useQuery(name: string, standard = ''): readonly [string, (next: string) => void] {
  const [params, setParams] = useSearchParams();
  return [
    params.get(name) ?? standard,
    (next) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          if (next === standard) after.delete(name);
          else after.set(name, next);
          return after;
        },
        { replace: true },
      ),
  ];
}

/** The same of a few values. Anything else in the address, typed or older than the page, counts as the standard one. */
export function useChoice<T extends string>(
  name: string,
  choices: readonly T[],
  standard: T,
): readonly [T, (next: string) => void] {
  const [given, set] = useQuery(name, standard);
  return [choices.find((choice) => choice === given) ?? standard, set];
}
