import type { Capability, DiscoveredModel, ProviderErrorClass } from './model.ts';

/** A model of a backend as seen now: discovery with the declarations laid over it (08 §4.4). */
export type SeenModel = DiscoveredModel & {
  /** `served`: listed. `declared`: declared for this backend. `anywhere`: declared for any backend and not listed here. */
  readonly origin: 'served' | 'declared' | 'anywhere';
};

/** A backend as seen now. */
export type SeenBackend = {
  readonly name: string;
  readonly type: string;
  /** Not registered: the local model server or the demo (08 §2.4). Last in order. */
  readonly implicit: boolean;
  /**
   * `listed`: `models` is all it serves. `open`: it answers but cannot list, so that any name is an exact match (08
   * §4.3). `failed`: it did not answer. `unknown`: nobody has asked yet; `models` holds what is declared.
   */
  readonly state: 'listed' | 'open' | 'failed' | 'unknown';
  readonly models: readonly SeenModel[];
  /** Of a failed one. */
  readonly failure?: { readonly class: ProviderErrorClass; readonly message: string };
};

/** What a model turn wants, complete: no defaults are left to apply. */
export type Wanted = {
  /** Provider types in the order wanted; empty = any. */
  readonly types: readonly string[];
  /** First in order when any type will do; empty = none. */
  readonly defaultType: string;
  /** Names in order; never empty. */
  readonly models: readonly string[];
  readonly needs: readonly Capability[];
  /** Estimated tokens; 0 = not checked. */
  readonly tokens: number;
  readonly allow: { readonly models: readonly string[]; readonly backends: readonly string[] };
};

export type Candidate = {
  readonly backend: string;
  /** The name to send. */
  readonly model: string;
  readonly seen: DiscoveredModel;
  /** Set when the names differ but for case, separators or a path (08 §3.4). */
  readonly substitutedFor: string | null;
};

export type DropReason = 'no tools' | 'no vision' | 'no chat' | 'context' | 'model not allowed';
export type Dropped = { readonly backend: string; readonly model: string; readonly reason: DropReason };

export type Resolution =
  | { readonly kind: 'candidates'; readonly candidates: readonly Candidate[] }
  /** The answer depends on these backends, which nobody has asked yet. */
  | { readonly kind: 'ask'; readonly backends: readonly string[] }
  | { readonly kind: 'none_registered' }
  /** An allowlist of the policy leaves nothing (02 §11). */
  | { readonly kind: 'not_allowed'; readonly list: 'modelAllowlist' | 'backendAllowlist' }
  /** No backend answered. */
  | { readonly kind: 'nothing_known'; readonly failed: readonly SeenBackend[] }
  /** Backends answered; nothing that they serve fits. */
  | {
      readonly kind: 'nothing_suitable';
      readonly dropped: readonly Dropped[];
      /** What was served instead, as `backend/model`, in order. */
      readonly served: readonly string[];
      readonly failed: readonly SeenBackend[];
    };

/**
 * Chooses models and backends in order (08 §3). Pure: the same wishes and the same view give the same list in every
 * process. The first candidate is used; the others are the fallback order. Backends in state `unknown` are named by `ask`
 * only where they could stand before the first candidate.
 */
export function resolveRoutes(wanted: Wanted, backends: readonly SeenBackend[]): Resolution {
  const ordered = inOrder(wanted, backends);
  if (ordered.length === 0) return { kind: 'none_registered' };
  const { allow } = wanted;
  const allowed = ordered.filter(({ name }) => allow.backends.length === 0 || allow.backends.includes(name));
  if (allowed.length === 0) return { kind: 'not_allowed', list: 'backendAllowlist' };

  // What the list cannot let through is not asked for: nothing is sent anywhere (02 §11).
  if (allow.models.length > 0 && !allow.models.some((name) => wanted.models.some((wish) => couldBe(name, wish)))) {
    return { kind: 'not_allowed', list: 'modelAllowlist' };
  }

  const exact = judge(wanted, exactMatches(wanted, allowed));
  const waiting = pending(wanted, allowed, exact.candidates[0]);
  if (waiting.length > 0) return { kind: 'ask', backends: waiting };
  if (exact.candidates.length > 0) return { kind: 'candidates', candidates: exact.candidates };

  // Relaxed names count only where no backend has an exact match for any wanted name (08 §3.4).
  const relaxed = exact.matched === 0 ? judge(wanted, relaxedMatches(wanted, allowed)) : exact;
  if (relaxed.candidates.length > 0) return { kind: 'candidates', candidates: relaxed.candidates };

  const dropped = [...exact.dropped, ...(relaxed === exact ? [] : relaxed.dropped)];
  if (dropped.length > 0 && dropped.every(({ reason }) => reason === 'model not allowed')) {
    return { kind: 'not_allowed', list: 'modelAllowlist' };
  }
  const failed = allowed.filter(({ state }) => state === 'failed');
  if (failed.length === allowed.length && dropped.length === 0) return { kind: 'nothing_known', failed };
  return { kind: 'nothing_suitable', dropped: dropped.slice(0, 10), served: servedBy(allowed), failed };
}

/**
 * The backend that would be asked for the default model, among those that tell their models; null where none serves it,
 * where the default provider keeps every other from being asked, or where that is not known. Listings mark its row alone.
 */
export function defaultBackend(model: string, provider: string, backends: readonly SeenBackend[]): string | null {
  const types = provider === '' ? [] : [provider];
  const anything = { types, needs: [], tokens: 0, allow: { models: [], backends: [] } };
  const telling = backends.filter((one) => one.state !== 'open' && one.state !== 'failed' && !standsIn(one, backends));
  const found = resolveRoutes({ ...anything, models: [model], defaultType: provider }, telling);
  const [first] = found.kind === 'candidates' ? found.candidates : [];
  return first === undefined || first.substitutedFor !== null ? null : first.backend;
}

/** Backends in order (08 §3.1). Never `scripted` unless it is asked for by name. */
function inOrder(wanted: Wanted, backends: readonly SeenBackend[]): readonly SeenBackend[] {
  const { types, defaultType } = wanted;
  const rank = (type: string): number => {
    if (types.length > 0) return types.indexOf(type);
    return type === defaultType ? 0 : 1;
  };
  const usable = backends.filter((one) => {
    if (standsIn(one, backends)) return false;
    if (types.length > 0) return types.includes(one.type);
    return one.type !== 'scripted' || defaultType === 'scripted';
  });
  return [...usable].sort(
    (one, other) =>
      Number(one.implicit) - Number(other.implicit) ||
      rank(one.type) - rank(other.type) ||
      compare(one.type, other.type) ||
      compare(one.name, other.name),
  );
}

/** Whether a backend is the demo that nobody registered, where a registered script does not load: it never plays for one. */
export const standsIn = (backend: SeenBackend, all: readonly SeenBackend[]): boolean =>
  backend.implicit &&
  backend.type === 'scripted' &&
  all.some(({ type, implicit, state }) => type === 'scripted' && !implicit && state === 'failed');

/** By code unit, so that no locale changes the order. */
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

type Match = {
  readonly backend: SeenBackend;
  readonly wish: number;
  readonly seen: DiscoveredModel;
  readonly model: string;
  readonly substitutedFor: string | null;
};

const unknownModel = (name: string): DiscoveredModel => ({ name, context: null, max_output: null, capabilities: {} });

/** An Ollama name without a tag means `<name>:latest` (08 §3.3). */
export const sameName = (type: string, one: string, other: string): boolean =>
  one === other || (type === 'ollama' && latest(one) === latest(other));
/** The model of a name: itself before one whose name only means the same. */
export const findModel = <M extends { readonly name: string }>(
  type: string,
  models: readonly M[],
  name: string,
): M | undefined =>
  models.find((model) => model.name === name) ?? models.find((model) => sameName(type, model.name, name));

const latest = (name: string): string => (tagOf(name) === null ? `${name}:latest` : name);

/** Name by name, backend by backend (08 §3.3). A model declared for any backend comes after those that list it. */
function exactMatches(wanted: Wanted, backends: readonly SeenBackend[]): readonly Match[] {
  const matches: Match[] = [];
  for (const [wish, name] of wanted.models.entries()) {
    const elsewhere: Match[] = [];
    for (const backend of backends) {
      const seen = findModel(backend.type, backend.models, name);
      const match = { backend, wish, substitutedFor: null };
      if (seen !== undefined) {
        (seen.origin === 'anywhere' ? elsewhere : matches).push({ ...match, seen, model: seen.name });
      } else if (backend.state === 'open') {
        matches.push({ ...match, seen: unknownModel(name), model: name });
      }
    }
    // Where a backend did not answer, what is declared for any backend still stands.
    if (!matches.some((match) => match.wish === wish)) matches.push(...elsewhere);
  }
  return matches;
}

function relaxedMatches(wanted: Wanted, backends: readonly SeenBackend[]): readonly Match[] {
  const matches: Match[] = [];
  for (const [wish, name] of wanted.models.entries()) {
    for (const backend of backends) {
      const seen = backend.models.find((model) => model.origin !== 'anywhere' && isRelaxed(model.name, name));
      if (seen !== undefined) matches.push({ backend, wish, seen, model: seen.name, substitutedFor: name });
    }
  }
  return matches;
}

/** Equal but for case, blanks, `-`, `_`, `.` and a leading path; two tags must be equal (08 §3.4). */
function isRelaxed(served: string, name: string): boolean {
  const servedTag = tagOf(served);
  const tag = tagOf(name);
  if (servedTag !== null && tag !== null && servedTag !== tag) return false;
  return folded(served) === folded(name);
}

/** What follows the last `:` behind the last `/`; null without one. */
function tagOf(name: string): string | null {
  const base = name.slice(name.lastIndexOf('/') + 1);
  const colon = base.lastIndexOf(':');
  return colon === -1 ? null : base.slice(colon + 1);
}

function folded(name: string): string {
  const tag = tagOf(name);
  const untagged = tag === null ? name : name.slice(0, name.length - tag.length - 1);
  return untagged
    .slice(untagged.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[\s._-]/g, '');
}

type Judged = {
  readonly candidates: readonly (Candidate & { readonly wish: number })[];
  readonly dropped: readonly Dropped[];
  /** Matches before anything was dropped. */
  readonly matched: number;
};

function judge(wanted: Wanted, matches: readonly Match[]): Judged {
  const candidates: (Candidate & { wish: number })[] = [];
  const dropped: Dropped[] = [];
  for (const { backend, wish, seen, model, substitutedFor } of matches) {
    const reason = dropReason(wanted, seen, model);
    if (reason === null) candidates.push({ backend: backend.name, wish, model, seen, substitutedFor });
    else dropped.push({ backend: backend.name, model, reason });
  }
  return { candidates, dropped, matched: matches.length };
}

/** What a model can do where nothing is known of it (08 §4.5). */
const assumed: Readonly<Record<Capability, boolean>> = {
  chat: true,
  tools: true,
  think: false,
  vision: false,
  embed: false,
};

export const hasCapability = (model: Pick<DiscoveredModel, 'capabilities'>, capability: Capability): boolean =>
  model.capabilities[capability] ?? assumed[capability];

const lacking: Readonly<Partial<Record<Capability, DropReason>>> = { tools: 'no tools', vision: 'no vision' };

function dropReason(wanted: Wanted, seen: DiscoveredModel, model: string): DropReason | null {
  if (wanted.allow.models.length > 0 && !wanted.allow.models.includes(model)) return 'model not allowed';
  const missing = wanted.needs.find((capability) => !hasCapability(seen, capability));
  if (missing !== undefined) return lacking[missing] ?? 'no chat';
  return wanted.tokens > 0 && seen.context !== null && seen.context < wanted.tokens ? 'context' : null;
}

/**
 * Backends that nobody has asked and whose answer could change the first candidate. The implicit ones stand last, so they
 * are asked only when the registered ones have nothing.
 */
function pending(
  wanted: Wanted,
  ordered: readonly SeenBackend[],
  first: (Candidate & { readonly wish: number }) | undefined,
): readonly string[] {
  const unknown = ordered.filter(({ state }) => state === 'unknown');
  const registered = unknown.filter(({ implicit }) => !implicit);
  if (first === undefined) return namesOf(registered.length > 0 ? registered : unknown);
  const place = ordered.findIndex(({ name }) => name === first.backend);
  // An earlier wish counts wherever it is served. The same wish counts only at a backend that stands earlier.
  if (first.wish > 0) return namesOf(unknown);
  const own = unknown.filter(({ name }) => name === first.backend && !saysAll(first.seen));
  if (isAnywhere(ordered[place], wanted.models[0] ?? '')) {
    // Declared for any backend: it goes to the one that lists it. With a single one there is nothing to choose.
    return namesOf(ordered.filter(({ implicit }) => !implicit).length > 1 ? registered : own);
  }
  return namesOf([...ordered.slice(0, place).filter(({ state }) => state === 'unknown'), ...own]);
}

/** Whether a declaration leaves nothing for the backend to tell: it overrides what is discovered field by field (08 §4.4). */
const saysAll = (declared: DiscoveredModel): boolean =>
  declared.context !== null && Object.keys(declared.capabilities).length > 0;

const namesOf = (backends: readonly SeenBackend[]): readonly string[] => backends.map(({ name }) => name);

const isAnywhere = (backend: SeenBackend | undefined, wish: string): boolean =>
  backend?.models.some((model) => model.origin === 'anywhere' && sameName(backend.type, model.name, wish)) === true;

/** Whether a listed name could be what a wish resolves to, exactly or relaxed. */
const couldBe = (name: string, wish: string): boolean => latest(name) === latest(wish) || isRelaxed(name, wish);

const servedBy = (backends: readonly SeenBackend[]): readonly string[] =>
  backends.flatMap(({ name, models }) =>
    models
      .filter((model) => model.origin === 'served' && hasCapability(model, 'chat'))
      .map((model) => `${name}/${model.name}`),
  );
