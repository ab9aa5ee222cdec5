import type { Feed } from '../store/feed.ts';

/**
 * The feed of the test build: names points inside the transaction that records an event (`before <kind>`, and
 * `commit <kind>` when all of it is done but the commit) and one behind its commit (`after <kind>`), so that a test can end the process at every durable write of a run.
 */
export function withFailPoints(feed: Feed, reached: (point: string) => void): Feed {
  return {
    ...feed,
    commit(durability, body) {
      const kinds: string[] = [];
      const result = feed.commit(durability, (record) => {
        const value = body((ref, event) => {
          reached(`before ${event.kind}`);
          record(ref, event);
          kinds.push(event.kind);
        });
        for (const kind of kinds) reached(`commit ${kind}`);
        return value;
      });
      for (const kind of kinds.length === 0 ? ['write'] : kinds) reached(`after ${kind}`);
      return result;
    },
  };
}
