import type { RuntimeClient } from '../src/client/operations.ts';
import { toWire } from '../src/schema/errors.ts';

/**
 * What a session is called now; null where it was deleted. Its old name may be that of another session by then.
 * @throws what the store throws
 */
export async function storedName(client: RuntimeClient, id: string): Promise<string | null> {
  try {
    const { session } = await client.exportSession({ session: { id }, after: Number.MAX_SAFE_INTEGER });
    return session.name;
  } catch (error) {
    if (toWire(error).code === 'not_found') return null;
    throw error;
  }
}
