import { createContext, useContext } from 'react';
import type { AskHead } from '../../src/schema/ask-views.ts';
import type { PolicyListed } from '../../src/schema/document-views.ts';
import type { SetupStatus } from '../../src/schema/registry.ts';
import type { Known } from '../../src/schema/shape.ts';
import type { FeedEntry } from '../../src/schema/feed.ts';
import { kindsOf } from '../data/live.ts';
import type { Data } from '../data/use-data.ts';

/** A policy that was named by its path is in no list, and so has no page: its name is known, and no more. */
export type Governing = { readonly name: string; readonly listed: PolicyListed | null };

/** What every page may need to know, read once. */
export type Everywhere = {
  /** Asks that wait for a person, soonest deadline first. */
  readonly asks: Data<readonly AskHead[]>;
  readonly setup: Data<Known<typeof SetupStatus>>;
  /** The policy that governs a run that is started here; null while that is not known. */
  readonly policy: Governing | null;
};

/** Ids of the chats in which something waits for a person. */
export const waitingChats = ({ asks }: Everywhere): ReadonlySet<string | null> =>
  new Set((asks.value ?? []).map(({ session_id }) => session_id).filter((id) => id !== null));

/** The set-up tells of runs that rest, too: it is read again when one comes to rest, goes on or ends, and at no single call. */
export const changesSetup = ({ kind }: FeedEntry): boolean => !ofRuns.has(kind) || fates.has(kind);
const ofRuns = kindsOf(['runs']);
const fates: ReadonlySet<string> = new Set([
  'chain_suspended',
  'chain_resumed',
  'chain_completed',
  'chain_failed',
  'chain_cancelled',
]);

export const Shared = createContext<Everywhere | null>(null);

export function useEverywhere(): Everywhere {
  const shared = useContext(Shared);
  if (shared === null) throw new TypeError('outside of the frame');
  return shared;
}
