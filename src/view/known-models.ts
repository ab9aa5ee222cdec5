/**
 * Whether the count of a ready backend's models says something: of a run it is remembered that the backend answered, and not
 * what else it serves (06 §15).
 * @param count models that are known
 * @param latencyMs how long it took to answer with its list; null where no list was asked for
 */
export const knowsModels = (count: number, latencyMs: number | null): boolean => count > 0 || latencyMs !== null;

/** Said in the place of the count where it is not known. */
export const modelsNotAsked = 'reachable when it was last used; not asked for its models';
