import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { connection } from '../data/client.ts';
import { pathOfFile } from '../data/document-path.ts';
import { theme } from '../data/kept.ts';
import { useStore } from '../data/store.ts';
import { isAt, type PageEntry, pages } from '../pages.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Safe } from '../parts/safe.tsx';
import { logout } from '../session/session.ts';
import type { Governing } from './everywhere.ts';

function PageLink({
  page,
  waiting,
  onGo,
}: {
  readonly page: PageEntry;
  readonly waiting: number;
  readonly onGo?: () => void;
}) {
  const [location] = useLocation();
  const badge = page.at === '/approvals' && waiting > 0;
  return (
    <Link
      href={page.at}
      className="rail-link"
      aria-current={isAt(page, location) ? 'page' : undefined}
      title={page.word}
      {...(onGo === undefined ? {} : { onClick: onGo })}
    >
      <Icon name={page.icon} />
      <span className="word">{page.word}</span>
      {badge ? (
        <span className="badge">
          {waiting}
          <span className="sr"> waiting</span>
        </span>
      ) : null}
    </Link>
  );
}

/** The navigation of a wide screen; icons alone below 1024 px. */
export function Rail({ waiting, policy }: { readonly waiting: number; readonly policy: Governing | null }) {
  return (
    <nav className="rail" aria-label="Pages">
      <Link href="/chat" className="brand" title="Reins">
        <img src="/mark.svg" alt="" />
        <span className="word">Reins</span>
      </Link>
      {pages.map((page) => (
        <PageLink key={page.at} page={page} waiting={waiting} />
      ))}
      <Foot policy={policy} />
    </nav>
  );
}

function Foot({ policy }: { readonly policy: Governing | null }) {
  const line = useStore(connection);
  const lost = line.state === 'lost';
  return (
    <div className="rail-foot">
      <span className="row" role="status" title={lost ? 'connection lost' : 'connected'}>
        <span className={`dot ${lost ? 'lost' : ''}`} aria-hidden="true" />
        <span className="word">{lost ? 'connection lost' : 'connected'}</span>
      </span>
      {policy === null ? null : policy.listed === null ? (
        <span className="word">
          policy <Safe text={policy.name} />
        </span>
      ) : (
        <Link href={`/policies/${pathOfFile(policy.listed.file)}`} className="word">
          policy {policy.name} <span className="mono">{policy.listed.sha256?.slice(0, 8)}</span>
        </Link>
      )}
      <ThemeSwitch />
      <LogOut />
    </div>
  );
}

const LogOut = () => (
  <button type="button" className="rail-link" title="Log out" onClick={() => void logout()}>
    <Icon name="leave" />
    <span className="word">Log out</span>
  </button>
);

const nextTheme = { system: 'light', light: 'dark', dark: 'system' } as const;
const themeWords = { system: 'as the system', light: 'light', dark: 'dark' } as const;

function ThemeSwitch() {
  const chosen = useStore(theme);
  return (
    <button
      type="button"
      className="rail-link"
      aria-label={`Theme: ${themeWords[chosen]}`}
      title={`Theme: ${themeWords[chosen]}`}
      onClick={() => theme.set(nextTheme[chosen])}
    >
      <span aria-hidden="true">{chosen === 'dark' ? '●' : chosen === 'light' ? '○' : '◐'}</span>
      <span className="word">{themeWords[chosen]}</span>
    </button>
  );
}

/** The navigation of a small screen. */
export function BottomBar({ waiting }: { readonly waiting: number }) {
  const [open, setOpen] = useState(false);
  const [location] = useLocation();
  const inBar = pages.filter(({ bar }) => bar);
  const behind = pages.filter(({ bar }) => !bar);
  return (
    <nav className="bar" aria-label="Pages of a small screen">
      {inBar.map((page) => (
        <PageLink key={page.at} page={page} waiting={waiting} />
      ))}
      <button
        type="button"
        className="rail-link"
        aria-current={behind.some((page) => isAt(page, location)) ? 'page' : undefined}
        onClick={() => setOpen(true)}
      >
        <Icon name="more" />
        <span className="word">More</span>
      </button>
      {open ? (
        <Dialog title="More" onClose={() => setOpen(false)}>
          <div className="more">
            {behind.map((page) => (
              <PageLink key={page.at} page={page} waiting={waiting} onGo={() => setOpen(false)} />
            ))}
            <ThemeSwitch />
            <LogOut />
          </div>
        </Dialog>
      ) : null}
    </nav>
  );
}
