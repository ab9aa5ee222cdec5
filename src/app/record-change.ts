import type { RecordChange, TellChange, TellSetup } from '../registry/ports.ts';
import type { DocumentChanged } from '../schema/event.ts';
import type { Audit } from '../store/audit.ts';
import type { Feed } from '../store/feed.ts';

export type RecordChangeDeps = {
  readonly feed: Feed;
  readonly audit: Audit;
  /** Secrets in an entry of the audit log. */
  readonly mask: <T>(value: T) => T;
  readonly tenant: string;
  /** Who acts, for the record. */
  readonly by: string;
  readonly now: () => number;
};

/** A change with its entry in the audit log and the word of it to every process that looks on, in one transaction. */
export const recordChanges =
  ({ feed, audit, mask, tenant, by, now }: RecordChangeDeps): RecordChange =>
  (type, entry, body) =>
    feed.commit('full', (tell) => {
      const result = body();
      const note = changesSetup.has(type) ? mask({ ...entry, by }) : mask(entry);
      audit.append({ type, tenant_id: tenant, run_id: null, session_id: null, body: note }, now());
      const changed = changedDocument(type, entry);
      if (changed !== null) tell(hostOf(tenant), { kind: 'document_changed', ...changed });
      return result;
    });

/** What an operator does; what else is recorded may be found by a run, and says itself who accepted it. */
const changesSetup: ReadonlySet<Parameters<RecordChange>[0]> = new Set(['registry_changed', 'config_changed']);

/** The word alone, of what has become of an entry and needs no row in the audit log. */
export const tellChanges =
  ({ feed, tenant }: Pick<RecordChangeDeps, 'feed' | 'tenant'>): TellChange =>
  (registry, name) =>
    feed.commit('full', (tell) =>
      tell(hostOf(tenant), { kind: 'document_changed', document: documents[registry], name }),
    );

/** The word that the set-up is another one; where nothing can be written, nobody is told. */
export const tellSetup =
  ({ feed, tenant }: Pick<RecordChangeDeps, 'feed' | 'tenant'>): TellSetup =>
  (state) => {
    try {
      feed.commit('full', (tell) => tell(hostOf(tenant), { kind: 'setup_changed', ...state }));
    } catch {
      // Who asks how the set-up is gets his answer from a full disk as well.
    }
  };

const hostOf = (tenant: string) =>
  ({ run_id: null, session_id: null, mission_id: null, chain_id: '', tenant_id: tenant }) as const;

/** What each registry is called among documents (04 §18.1); a model is declared for a backend. */
const documents = {
  backend: 'backend',
  model: 'backend',
  hook: 'hook',
  mcp: 'mcp_server',
} as const satisfies Readonly<Record<string, DocumentChanged['document']>>;

function changedDocument(
  type: Parameters<RecordChange>[0],
  entry: Readonly<Record<string, unknown>>,
): Pick<DocumentChanged, 'document' | 'name'> | null {
  if (type === 'config_changed') return { document: 'config', name: String(entry['key']) };
  // What else is recorded names the entry that it happened to: its definitions were accepted.
  const document = new Map<string, DocumentChanged['document']>(Object.entries(documents)).get(
    String(entry['registry']),
  );
  return document === undefined ? null : { document, name: String(entry['name']) };
}
