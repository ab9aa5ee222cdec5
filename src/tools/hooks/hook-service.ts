import type { Egress } from '../egress.ts';

/** A registered service as its tools need it. */
export type HookService = {
  readonly name: string;
  /** Without a final slash; calls go nowhere else (05 §9.3.5). */
  readonly url: string;
  /** Of a whole call, from the look-up of the name to the last byte. */
  readonly timeoutMs: number;
  /** As they were registered: `${env:NAME}` is replaced when a call is made. */
  readonly headers: Readonly<Record<string, string>>;
  readonly inject: Readonly<Record<string, string>>;
};

export type HookPorts = {
  /** Which addresses this service may be reached at (05 §9.2). */
  readonly egress: Egress;
  /** A registered value as it is sent; known to the mask from then on. */
  expand(text: string, label: string): Expanded;
  /** `reins/<version>`. */
  readonly userAgent: string;
};

type Expanded =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'missing'; readonly variable: string };

/** Header names that usually carry a secret (05 §9.1.1). */
export const isCredentialHeader = (name: string): boolean =>
  /^(?:authorization|proxy-authorization|cookie)$|key|token|secret/i.test(name);
