import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import type { DocumentFile } from './files.ts';

export type TrustError = {
  readonly kind: 'chain' | 'policy';
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
};

/** Refuses project content that nobody has trusted: path, hash and both commands (06 §6.6). */
export function notTrusted(kind: TrustError['kind'], read: DocumentFile & { readonly ok: true }): RuntimeError {
  const { path, sha256 } = read;
  return new RuntimeError(
    kind === 'chain' ? 'chain_untrusted' : 'not_trusted',
    `The ${kind} ${path} of this project is not trusted (sha256 ${sha256}).`,
    {
      data: { kind, path, sha256, bytes: read.bytes.length } satisfies TrustError,
      hints: [`reins trust add ${quote(path)} --sha256 ${sha256}`, `reins run --trust ${sha256} <text>`],
    },
  );
}
