import { quote } from '../text/quote.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { DeclarationRow, Registry } from '../store/registry.ts';
import { type Backends, demoId } from './backends.ts';
import { checkName, checkTokens, readCapabilityWords } from './model-words.ts';
import type { RecordChange } from './ports.ts';
import { declaredCapabilities } from './seen.ts';

export type DeclarationsDeps = {
  readonly store: Registry;
  readonly backends: Backends;
  readonly record: RecordChange;
  readonly now: () => number;
};

/** A model by name, of one backend or, without one, of any. */
export type Named = { readonly name: string; readonly backend: string | null };

/** What the operator declares about models (06 §16). */
export function createDeclarations({ store, backends, record, now: clock }: DeclarationsDeps) {
  const backendId = (name: string | null): string | null => {
    if (name === null) return null;
    const found = backends.find(name);
    if (found.id === demoId)
      throw new RuntimeError('usage', 'The models of the built-in demo are fixed by its script.');
    return found.id;
  };
  const declarationOf = (id: string | null, name: string): DeclarationRow | undefined =>
    store.declarations().find((row) => row.backend_id === id && row.model === name);
  /** Backends for which alone a model is declared. */
  const holdersOf = (name: string): readonly string[] => {
    const ids = store.declarations().flatMap((row) => (row.model === name ? [row.backend_id] : []));
    return backends.inUse().flatMap((backend) => (ids.includes(backend.id) ? [backend.name] : []));
  };
  const where = (backend: string | null): string => (backend === null ? '' : ` on backend "${backend}"`);

  return {
    /**
     * Declares a model, or adds to its declaration what that left open (`set-context` makes one, too).
     * @throws RuntimeError usage, not_found for the backend, already_exists where nothing is added or something would change
     */
    async addModel(
      input: Named & {
        readonly context: number | null;
        readonly max_output: number | null;
        readonly capabilities: readonly string[];
        readonly url: string | null;
        readonly sha256: string | null;
      },
    ): Promise<null> {
      checkName(input.name);
      checkTokens('--context', input.context);
      checkTokens('--max-output', input.max_output);
      if (input.sha256 !== null && !/^[0-9a-f]{64}$/i.test(input.sha256)) {
        throw new RuntimeError('usage', '--sha256 takes 64 hexadecimal digits.');
      }
      const id = backendId(input.backend);
      const wanted = {
        context: input.context,
        max_output: input.max_output,
        source_url: input.url,
        sha256: input.sha256?.toLowerCase() ?? null,
      };
      const words = readCapabilityWords(input.capabilities);
      const before = declarationOf(id, input.name);
      const kept = before === undefined ? {} : givenOf(before);
      const capabilities = before === undefined ? {} : declaredCapabilities(before);
      const added = Object.keys({ ...givenOf(wanted), ...words });
      if (before !== undefined && (added.length === 0 || added.some((name) => name in kept || name in capabilities))) {
        throw new RuntimeError(
          'already_exists',
          `The model "${input.name}" is declared already${where(input.backend)}.`,
          {
            hints: [
              `reins model remove ${quote(input.name)}${input.backend === null ? '' : ` --backend ${input.backend}`}`,
            ],
          },
        );
      }
      const now = clock();
      record('registry_changed', { registry: 'model', name: input.name, change: 'declared' }, () =>
        store.putDeclaration({
          backend_id: id,
          model: input.name,
          ...wanted,
          ...kept,
          capabilities: JSON.stringify({ ...capabilities, ...words }),
          created_at: before?.created_at ?? now,
          updated_at: now,
        }),
      );
      return null;
    },

    /** Declares the context; 0 takes it back. @throws RuntimeError usage, not_found for the backend. */
    async setModelContext(input: Named & { readonly context: number }): Promise<null> {
      checkName(input.name);
      if (input.context !== 0) checkTokens('--context', input.context);
      const id = backendId(input.backend);
      const now = clock();
      const before = declarationOf(id, input.name);
      if (before === undefined && input.context === 0) {
        const holders = id === null ? holdersOf(input.name) : [];
        // Nothing declared, nothing to take back.
        if (holders.length === 0) return null;
        throw new RuntimeError('not_found', `The model "${input.name}" is declared for ${holders.join(', ')} only.`, {
          hints: holders.map((name) => `reins model set-context ${quote(input.name)} --context 0 --backend ${name}`),
        });
      }
      const empty = { max_output: null, capabilities: '{}', source_url: null, sha256: null, created_at: now };
      record('registry_changed', { registry: 'model', name: input.name, change: 'context' }, () =>
        store.putDeclaration({
          ...(before ?? { ...empty, backend_id: id, model: input.name }),
          context: input.context === 0 ? null : input.context,
          updated_at: now,
        }),
      );
      return null;
    },

    /**
     * @returns removes the declaration
     * @throws RuntimeError not_found when there is none
     */
    removal(input: Named): () => void {
      const id = backendId(input.backend);
      if (declarationOf(id, input.name) === undefined) {
        throw new RuntimeError('not_found', `The model "${input.name}" is not declared${where(input.backend)}.`, {
          hints: [
            ...(id === null ? holdersOf(input.name) : []).map(
              (name) => `reins model remove ${quote(input.name)} --backend ${name}`,
            ),
            'reins model list',
          ],
        });
      }
      return () =>
        record('registry_changed', { registry: 'model', name: input.name, change: 'removed' }, () =>
          store.deleteDeclaration(id, input.name),
        );
    },
  };
}

type Fields = Pick<DeclarationRow, 'context' | 'max_output' | 'source_url' | 'sha256'>;

/** The fields of a declaration that say something. */
const givenOf = ({ context, max_output, source_url, sha256 }: Fields): Partial<Fields> => ({
  ...(context === null ? {} : { context }),
  ...(max_output === null ? {} : { max_output }),
  ...(source_url === null ? {} : { source_url }),
  ...(sha256 === null ? {} : { sha256 }),
});
