import { define, type Struct } from 'superstruct';

/** What a struct describes, as those who only read it get it. */
export type Known<S> = S extends Struct<infer T, infer _> ? DeepReadonly<T> : never;

type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends Readonly<Record<string, unknown>>
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** A part that this program made whole and masked where it was written: it passes as it is, whatever it holds. */
export const whole = <T>(): Struct<T, null> => define<T>('whole', () => true);
