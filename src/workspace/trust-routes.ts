import { createHash } from 'node:crypto';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import type { TrustKind, TrustRow } from '../schema/overlay.ts';
import { readDocument } from './files.ts';
import type { Workspace } from './paths.ts';
import type { TrustOperations } from './trust-operations.ts';

export type TrustRouteDeps = {
  readonly workspace: Pick<Workspace, 'root'>;
  readonly uid: number | null;
  readonly operations: Pick<TrustOperations, 'listTrust' | 'trustContent' | 'showTrust' | 'removeTrust'>;
};

/** The operations of `client/routes/trust.ts` on trust. */
export function createTrustRoutes({ workspace, uid, operations }: TrustRouteDeps) {
  const item = (row: TrustRow) => {
    const file = readDocument(join(row.root, row.path), 'project', uid);
    return { id: idOf(row), ...row, current: file.ok && file.sha256 === row.sha256 };
  };
  return {
    pageTrust: async () => (await operations.listTrust()).map(item),

    /** @throws RuntimeError conflict when the file has another content now; not_found, invalid_parameter */
    async addTrust(wanted: {
      readonly kind: Exclude<TrustKind, 'database'>;
      readonly path: string;
      readonly sha256: string;
    }) {
      const path = resolve(workspace.root, wanted.path);
      const inside = relative(workspace.root, path);
      if (inside.startsWith('..') || isAbsolute(inside)) {
        throw new RuntimeError('invalid_parameter', 'Only files of this workspace are trusted here.', {
          data: { param: 'path' },
        });
      }
      const { kind } = await operations.showTrust({ path });
      if (kind !== wanted.kind) {
        throw new RuntimeError('invalid_parameter', `${wanted.path} is no ${wanted.kind}.`, {
          data: { param: 'kind' },
        });
      }
      try {
        await operations.trustContent({ path, sha256: wanted.sha256, by: 'command' });
      } catch (error) {
        if (!(error instanceof RuntimeError) || error.code !== 'not_trusted') throw error;
        throw new RuntimeError('conflict', `${wanted.path} has another content now; look at it again.`, {
          cause: error,
          data: { param: 'sha256' },
        });
      }
      const sha256 = wanted.sha256.toLowerCase();
      const rows = await operations.listTrust();
      const row = rows.find((one) => one.sha256 === sha256 && join(one.root, one.path) === path);
      if (row === undefined) throw new RuntimeError('not_found', 'The decision was taken back meanwhile.');
      return item(row);
    },

    /** Withdraws every decision about the file of one. @throws RuntimeError not_found */
    async deleteTrust({ id }: { readonly id: string }): Promise<null> {
      const row = (await operations.listTrust()).find((one) => idOf(one) === id);
      if (row === undefined) throw new RuntimeError('not_found', 'There is no such decision.');
      await operations.removeTrust({ what: row.sha256 });
      return null;
    },
  };
}

/** Decisions have no number of their own. */
const idOf = ({ kind, root, path, sha256 }: TrustRow): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, root, path, sha256]))
    .digest('hex')
    .slice(0, 24);
