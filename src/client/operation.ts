import type { Struct } from 'superstruct';

/** Who may call an operation over HTTP (09 §3). In process the face is the operator. */
export type Access = 'open' | 'read' | 'run' | 'operator';

/** One entry of the table: the routes, the HTTP client, the OpenAPI document and the in-process client come from it. */
export type Operation<I, O> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly access: Access;
  readonly input: Struct<I, unknown>;
  /** Type of the output; `returns` carries no value. */
  readonly output: Returns<O>;
};

declare const returned: unique symbol;
export type Returns<O> = { readonly struct: Struct<O, unknown> | null; readonly [returned]?: O };

/** An output that passes its struct: a field that is not in it cannot leave the process. */
export const masked = <O, S>(struct: Struct<O, S>): Returns<O> => ({ struct: struct as unknown as Struct<O, unknown> });

/** An output of our own making that holds nothing registered by the operator. */
export const returns = <O>(): Returns<O> => ({ struct: null });

export function operation<I, S, O>(
  method: Operation<I, O>['method'],
  path: string,
  access: Access,
  input: Struct<I, S>,
  output: Returns<O>,
): Operation<I, O> {
  // The schema parameter of a struct is invariant and of no interest here; only its value type is used.
  return { method, path, access, input: input as unknown as Struct<I, unknown>, output };
}
