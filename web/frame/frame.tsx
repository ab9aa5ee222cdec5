import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import type { PolicyListed } from '../../src/schema/document-views.ts';
import { LeftOver } from '../approvals/left-over.tsx';
import { client } from '../data/client.ts';
import { followFeed } from '../data/live.ts';
import { useStore } from '../data/store.ts';
import { useData } from '../data/use-data.ts';
import { pageTitle } from '../parts/page.tsx';
import { Announcer, announce } from './announce.tsx';
import { changesSetup, type Governing, Shared } from './everywhere.ts';

import { BottomBar, Rail } from './navigation.tsx';
import { useNotifications } from './notify.ts';
import { Shortcuts } from './shortcuts.tsx';
import { Strips } from './strips.tsx';

/** Navigation, strips and the live line around every page (09 §8.2). */
export function Frame({ children }: { readonly children: ReactNode }) {
  useEffect(() => {
    const end = new AbortController();
    // It ends with a refusal only where the login has ended for good; the requests of the page say so.
    followFeed(end.signal).catch(() => undefined);
    return () => end.abort();
  }, []);
  const asks = useData('asks', async () => (await client.pageApprovals({ state: 'pending', limit: 1000 })).items, {
    topics: ['approvals'],
  });
  const setup = useData('setup', () => client.getSetupStatus({}), {
    topics: ['setup', 'documents', 'runs'],
    when: changesSetup,
  });
  const policies = useData('policies', () => client.pagePolicies({}), { topics: ['documents'], files: true });
  const policy = governingOf(policies.value, setup.value?.hitlPolicyName);
  const waiting = asks.value?.length ?? 0;

  useTop();
  const title = useStore(pageTitle);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title === '' ? '' : `${title} · `}Reins`;
  }, [waiting, title]);
  useNotifications(asks.value);
  // The browser says the title of a page that it loads; of one that takes the place of another it knows nothing.
  const said = useRef('');
  useEffect(() => {
    if (title === '') return;
    if (said.current !== '' && said.current !== title) announce(title);
    said.current = title;
  }, [title]);

  return (
    <Shared.Provider value={{ asks, setup, policy }}>
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <div className="frame">
        <Rail waiting={waiting} policy={policy} />
        <main className="main" id="content" tabIndex={-1}>
          <Strips />
          {children}
        </main>
        <BottomBar waiting={waiting} />
      </div>
      <LeftOver />
      <Announcer />
      <Shortcuts />
    </Shared.Provider>
  );
}

function governingOf(list: readonly PolicyListed[] | null, name: string | undefined): Governing | null {
  const listed = list?.find(({ in_effect }) => in_effect) ?? null;
  if (listed !== null) return { name: listed.name, listed };
  // Before the list is there nobody can tell whether the policy has a page.
  return list === null || name === undefined ? null : { name, listed: null };
}

/** Another page begins at its top, and one that is gone back to where it was left. */
function useTop(): void {
  const [path] = useLocation();
  const went = useRef(false);
  useEffect(() => {
    const back = () => {
      went.current = true;
    };
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, []);
  useEffect(() => {
    void path;
    if (!went.current) scrollTo(0, 0);
    went.current = false;
  }, [path]);
}
