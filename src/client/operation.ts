import type { Struct } from 'superstruct';
import type { AccessClass } from '../schema/login.ts';
import type { Known } from '../schema/shape.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The status of an answer, where the output decides which. */
export type StatusOf<O> = { readonly among: readonly number[]; readonly of: (output: O) => number };

/** How an operation is served: the route, its client, its description and the test sweep come from it. */
export type Route<I, O> = {
  readonly access: AccessClass;
  /** A stricter class for some inputs. */
  readonly accessFor: ((input: I) => AccessClass | null) | null;
  readonly status: number | StatusOf<O>;
  /** Members of the input that stand in the query where the request has a body; without a body all do. */
  readonly query: readonly string[];
  /** Headers that go into the input: `If-Match` as `if_match`, `If-None-Match: *` as `if_none_match`. */
  readonly precondition: 'none' | 'if-match' | 'if-match-or-none';
  /** It creates or starts something: an `Idempotency-Key` makes it happen once (09 §5.4). */
  readonly repeatable: boolean;
  /** `document`: a body of up to 2 MiB (09 §2). */
  readonly body: 'json' | 'document';
  /** At most two of these at once (09 §10.2). */
  readonly heavy: boolean;
  readonly headers: ((output: O) => Readonly<Record<string, string>>) | null;
  /** Headers that are made of the output. */
  readonly fromHeaders: ((get: (name: string) => string | null) => O) | null;
  /** `items`: a list goes as `{"items": …}`; `attachment`: the pieces of an output are a file. */
  readonly form: 'json' | 'items' | 'attachment';
};

/** One entry of a table, from which the clients are made. */
export type Operation<I, O> = {
  /** It changes nothing. */
  readonly reads: boolean;
  readonly input: Struct<I, unknown>;
  /** Type of the output; `returns` carries no value. */
  readonly output: Returns<O>;
};

/** An entry that is reached over HTTP. */
export type Routed<I, O> = Operation<I, O> & {
  readonly method: Method;
  /** Names in braces are members of the input. */
  readonly path: string;
  readonly route: Route<I, O>;
};

declare const returned: unique symbol;
export type Returns<O> = { readonly struct: Struct<O, unknown> | null; readonly [returned]?: O };

/** An output that passes its struct: a field that is not in it cannot leave the process. */
export const masked = <O, S>(struct: Struct<O, S>): Returns<O> => ({ struct: struct as unknown as Struct<O, unknown> });

/** The same for an output that those who get it only read. */
export const shown = <S>(struct: S): Returns<Known<S>> => ({ struct: struct as unknown as Struct<Known<S>, unknown> });

/** An output of our own making that holds nothing registered by the operator. */
export const returns = <O>(): Returns<O> => ({ struct: null });

/**
 * An operation for faces of this process alone: what it takes or gives is not for a network. One that is to be served is
 * made with `route`.
 */
export const operation = <I, S, O>(
  kind: 'reads' | 'acts',
  input: Struct<I, S>,
  output: Returns<O>,
): Operation<I, O> => ({ reads: kind === 'reads', input: plain(input), output });

/** The schema parameter of a struct is invariant and of no interest here; only its value type is used. */
const plain = <I, S>(input: Struct<I, S>) => input as unknown as Struct<I, unknown>;

/** An operation with a route (09 §6). What it gives passes a struct; a 204 gives null. */
export function route<I, S, O>(
  method: Method,
  path: string,
  access: AccessClass,
  input: Struct<I, S>,
  output: Returns<O>,
  more: Partial<Omit<Route<I, O>, 'access'>> = {},
): Routed<I, O> {
  return {
    method,
    path,
    reads: method === 'GET',
    input: plain(input),
    output,
    route: {
      access,
      accessFor: null,
      status: 200,
      query: [],
      precondition: 'none',
      repeatable: false,
      body: 'json',
      heavy: false,
      headers: null,
      fromHeaders: null,
      form: 'json',
      ...more,
    },
  };
}
