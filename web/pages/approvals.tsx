import { useMemo, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import type { AskHead } from '../../src/schema/ask-views.ts';
import { clip } from '../../src/view/call-summary.ts';
import { plural } from '../../src/view/format.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { AskCard } from '../approvals/ask-card.tsx';
import { DenyAll } from '../approvals/deny-all.tsx';
import { Outcome } from '../approvals/outcome.tsx';
import { RestingRuns } from '../approvals/resting-runs.tsx';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { usePages } from '../data/use-pages.ts';
import { useChoice, useQuery } from '../data/use-query.ts';
import { useEverywhere } from '../frame/everywhere.ts';
import { useKeys } from '../frame/keys.tsx';
import { mayAskToNotify } from '../frame/notify.ts';
import { Button } from '../parts/button.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Tabs } from '../parts/tabs.tsx';

/** Asks of every run, and what became of them (09 §8.6). */
export function ApprovalsPage() {
  const { id } = useParams();
  const [tab, setTab] = useChoice('tab', ['pending', 'answered', 'expired'], 'pending');
  const [filter, setFilter] = useQuery('filter');
  const { asks } = useEverywhere();
  if (id !== undefined) {
    return (
      <Page title="Approval" actions={<Link href="/approvals">All approvals</Link>}>
        <AskCard id={id} />
      </Page>
    );
  }
  return (
    <Page title="Approvals" actions={<Notify />}>
      <Tabs
        label="State"
        selected={tab}
        onSelect={setTab}
        tabs={[
          { id: 'pending', label: `Pending${asks.value === null ? '' : ` (${asks.value.length})`}` },
          { id: 'answered', label: 'Answered' },
          { id: 'expired', label: 'Expired' },
        ]}
      >
        <input
          className="input"
          type="search"
          data-filter
          placeholder="Filter by tool, run or session"
          aria-label="Filter by tool, run or session"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        {tab === 'pending' ? <Pending filter={filter} /> : <Resolved state={tab} filter={filter} />}
      </Tabs>
    </Page>
  );
}

const matches = (ask: AskHead, filter: string): boolean =>
  filter === '' ||
  `${ask.tools}.${ask.tool} ${ask.run_id ?? ''} ${ask.session_name ?? ''} ${ask.summary}`
    .toLowerCase()
    .includes(filter.toLowerCase());

/** Each card is read by itself: so many that a server answers all of them at once (09 §10.2). */
const cardsAtOnce = 25;

function Pending({ filter }: { readonly filter: string }) {
  const { asks } = useEverywhere();
  const [later, setLater] = useState<ReadonlySet<string>>(new Set());
  // Those that were here stay in their place when they are answered, and say what became of them.
  const [seen, setSeen] = useState<readonly AskHead[]>([]);
  const pending = asks.value;
  const fresh = (pending ?? []).filter(({ id }) => !seen.some((ask) => ask.id === id));
  if (fresh.length > 0) setSeen([...seen, ...fresh]);
  const [most, setMost] = useState(cardsAtOnce);
  const fitting = useMemo(() => seen.filter((ask) => matches(ask, filter)), [seen, filter]);
  // Those that were answered take no place of those that wait.
  const shown = useMemo(() => {
    const waiting = new Set((pending ?? []).map(({ id }) => id));
    let room = most;
    return fitting.filter(({ id }) => {
      if (!waiting.has(id)) return room > 0;
      room -= 1;
      return room >= 0;
    });
  }, [fitting, most, pending]);
  const open = (pending ?? []).filter(({ id }) => shown.some((ask) => ask.id === id));
  const groups = useMemo(() => grouped(shown), [shown]);
  const inputs = useData(seen.length === 0 ? null : 'inputs of asking runs', askingInputs, { topics: ['approvals'] });
  useCardKeys();
  return (
    <Loaded data={asks}>
      {() => (
        <>
          {shown.length === 0 && seen.length > 0 ? (
            <Empty>
              {pending?.length === 1
                ? 'The ask that waits for you does not have this.'
                : `None of the ${pending?.length ?? 0} asks that wait for you has this.`}
            </Empty>
          ) : shown.length === 0 ? (
            <Empty action={<Link href="/runs">See the runs</Link>}>
              Nothing waits for you. What an agent wants to do and your policy leaves to you appears here.
            </Empty>
          ) : (
            groups.map(({ run, asks: own }) => (
              <section key={run ?? '-'} className="stack" aria-label={`Asks of ${run ?? 'no run'}`}>
                <div className="group-head">
                  <p className="small muted">
                    {own[0]?.session_name == null ? 'Run' : <Safe text={`Session ${own[0].session_name}`} />}{' '}
                    <span className="mono">{run}</span>
                    {inputs.value?.get(run ?? '') === undefined ? null : (
                      <>
                        : <Safe text={inputs.value.get(run ?? '') ?? ''} />
                      </>
                    )}
                  </p>
                  {own.length > 1 ? <span className="tag">{plural(own.length, 'ask')}</span> : null}
                </div>
                {own.map((ask) =>
                  later.has(ask.id) ? (
                    <p key={ask.id} className="note row">
                      <span className="grow">
                        <Safe text={whatOf(ask)} />
                      </span>
                      <span className="tag warn">decided later</span>
                      <Button
                        size="small"
                        onClick={() => setLater(new Set([...later].filter((each) => each !== ask.id)))}
                      >
                        Open
                      </Button>
                    </p>
                  ) : (
                    <AskCard key={ask.id} id={ask.id} onLater={() => setLater(new Set([...later, ask.id]))} />
                  ),
                )}
              </section>
            ))
          )}
          {fitting.length > shown.length ? (
            <div className="row">
              <Button onClick={() => setMost(most + cardsAtOnce)}>Show more</Button>
              <span className="muted">
                {shown.length} of {fitting.length} are shown
              </span>
            </div>
          ) : null}
          <DenyAll asks={open} />
          <RestingRuns />
        </>
      )}
    </Loaded>
  );
}

/** What was asked of the runs that ask: their ids tell nobody apart. */
async function askingInputs(): Promise<ReadonlyMap<string, string>> {
  const pages = await Promise.all(
    // The process of an interrupted one was killed while it waited.
    (['waiting', 'suspended', 'interrupted'] as const).map((status) => client.pageRuns({ status, limit: 200 })),
  );
  return new Map(pages.flatMap(({ items }) => items.map(({ id, input }) => [id, clip(input)] as const)));
}

/** By run, in the order of their soonest deadlines. */
function grouped(
  asks: readonly AskHead[],
): readonly { readonly run: string | null; readonly asks: readonly AskHead[] }[] {
  const runs = [...new Set(asks.map(({ run_id }) => run_id))];
  return runs.map((run) => ({ run, asks: asks.filter(({ run_id }) => run_id === run) }));
}

function Resolved({ state, filter }: { readonly state: string; readonly filter: string }) {
  const expired = state === 'expired';
  const list = usePages(
    `resolved ${state}`,
    100,
    (page) => client.pageApprovals({ state: expired ? 'expired' : 'all', ...page }),
    { topics: ['approvals'] },
  );
  const belongs = (ask: AskHead): boolean => expired || (ask.state !== 'pending' && ask.state !== 'expired');
  return (
    <Loaded data={list}>
      {({ items }) => {
        const shown = items.filter((ask) => belongs(ask) && matches(ask, filter));
        return (
          <div className="stack tight">
            {shown.length === 0 ? (
              <Empty>
                {filter !== '' && items.some(belongs)
                  ? 'None of those that were read has this.'
                  : expired
                    ? 'No ask has run out of time.'
                    : 'No ask was answered yet.'}
              </Empty>
            ) : (
              shown.map((ask) => (
                <Link key={ask.id} href={`/approvals/${ask.id}`} className="bare">
                  <Outcome ask={ask} />
                </Link>
              ))
            )}
            <More list={list} word="Older ones" />
          </div>
        );
      }}
    </Loaded>
  );
}

/** `j` `k` move between the cards; `x` explains, `f` shows all of the one with the focus. `a` is the card's own. */
function useCardKeys(): void {
  const [, go] = useLocation();
  const cards = () => [...document.querySelectorAll<HTMLElement>('article.card')];
  const current = () => document.activeElement?.closest<HTMLElement>('article.card') ?? null;
  const move = (by: number) => {
    const all = cards();
    const card = current();
    // An ask that was answered has the focus and no card any more: it lies between two.
    const before = all.filter((each) => isBehind(document.activeElement, each)).length;
    const at = card === null ? before - (by > 0 ? 1 : 0) : all.indexOf(card);
    all[Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
  };
  const press = (selector: string) => current()?.querySelector<HTMLElement>(selector)?.click();
  useKeys([
    { key: 'j', words: 'next ask', act: () => move(1) },
    { key: 'k', words: 'ask before', act: () => move(-1) },
    {
      key: 'o',
      words: 'open the ask',
      act: () => {
        const id = current()?.dataset['ask'];
        if (id !== undefined) go(`/approvals/${id}`);
      },
    },
    { key: 'x', words: 'explain', act: () => press('[data-explain]') },
    { key: 'f', words: 'view full', act: () => press('[data-full]') },
    { key: 'a', words: 'approve once, while the card has the focus', act: () => undefined },
  ]);
}

const isBehind = (one: Element | null, other: Element): boolean =>
  one !== null && (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) > 0;

function Notify() {
  const [asked, setAsked] = useState(!mayAskToNotify());
  if (asked) return null;
  return (
    <Button size="small" look="quiet" onClick={() => void Notification.requestPermission().then(() => setAsked(true))}>
      Tell me in the background
    </Button>
  );
}
