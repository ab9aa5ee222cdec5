import { createMask, type Mask } from './mask.ts';

export type SecretsDeps = {
  /** Environment of the process; read at the moment of use, never copied. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A text with its `${env:NAME}` replaced, or the first variable that is unset or blank. */
export type Expanded =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'missing'; readonly variable: string };

export type Secrets = Mask & {
  /**
   * The value of a variable, read now and made known to the mask as `label`; null when it is unset or blank. A label is
   * what people see in place of the value, such as `far.key`.
   */
  read(variable: string, label: string): string | null;
  /** True when the variable has a value; reads nothing into the mask. */
  isSet(variable: string): boolean;
  /** Replaces every `${env:NAME}` (05 §9.1); other `$` are literal. The whole result is made known to the mask. */
  expand(text: string, label: string): Expanded;
};

/** Words that stand before a credential in a header. */
const scheme = /^(?:bearer|basic|token|api-?key|key|bot|jwt|dpop|ssws)\s+(\S+)\s*$/i;
/** A header of cookies, each of which is a credential. */
const cookies = /^[^\s=;,]+=[^\s;]*(?:;\s*[^\s=;,]+=[^\s;]*)*;?$/;

/** What of a value is the secret by itself: a service says `no such token abc` and leaves out the `Bearer` before it. */
function credentialsIn(value: string): readonly string[] {
  const token = scheme.exec(value)?.[1];
  if (token !== undefined) {
    // A name and a password, if it is of the scheme that has them.
    const password = /^basic/i.test(value) ? /:(.+)$/.exec(Buffer.from(token, 'base64').toString('utf8'))?.[1] : null;
    return password == null ? [token] : [token, password];
  }
  return cookies.test(value) ? value.split(/;\s*/).map((part) => part.slice(part.indexOf('=') + 1)) : [];
}

const reference = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Keys by the names of their variables, and the one mask of the process (11 §5): what is read here is hidden from then on
 * in every text that passes `mask` or `maskDeep`. Nothing here throws.
 */
export function createSecrets(deps: SecretsDeps): Secrets {
  const { environment } = deps;
  const mask = createMask();
  const current = (variable: string): string | null => {
    const value = Object.hasOwn(environment, variable) ? environment[variable] : undefined;
    return value === undefined || value.trim() === '' ? null : value;
  };
  const read = (variable: string, label: string): string | null => {
    const value = current(variable);
    if (value === null) return null;
    mask.register(label, value);
    // A key is sent without what stands around it.
    mask.register(label, value.trim());
    return value;
  };
  return {
    ...mask,
    read,
    isSet: (variable) => current(variable) !== null,
    expand(text, label) {
      let missing: string | null = null;
      const value = text.replace(reference, (_whole, variable: string) => {
        const found = read(variable, label);
        if (found === null) missing ??= variable;
        return found ?? '';
      });
      if (missing !== null) return { kind: 'missing', variable: missing };
      mask.register(label, value);
      for (const part of credentialsIn(value)) mask.register(label, part);
      return { kind: 'value', value };
    },
  };
}
