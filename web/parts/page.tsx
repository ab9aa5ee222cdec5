import { type ReactNode, useEffect } from 'react';
import { escapeText } from '../../src/view/escape.ts';
import { createStore } from '../data/store.ts';
import type { Data } from '../data/use-data.ts';
import { Escaped } from './safe.tsx';
import { Loaded } from './states.tsx';

/** What the title of the window says beside the number of asks. */
export const pageTitle = createStore('');

/** Head and body of a page. `whole`: it takes all the room there is. */
export function Page({
  title,
  actions,
  whole = false,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly whole?: boolean;
  readonly children: ReactNode;
}) {
  // It may be a name out of an address.
  const shown = escapeText(title, { mode: 'line' });
  useEffect(() => pageTitle.set(shown), [shown]);
  if (whole) return <div className="page whole">{children}</div>;
  return (
    <div className="page">
      <div className="page-head">
        <h1>
          <Escaped text={shown} />
        </h1>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** The page of something that is being read, or that could not be. */
export const Waiting = <T,>({
  title,
  data,
  way,
}: {
  readonly title: string;
  readonly data: Data<T>;
  /** A link to what there is, where this cannot be read. */
  readonly way?: ReactNode;
}) => (
  <Page title={title} actions={data.error === null ? undefined : way}>
    <Loaded data={data}>{() => null}</Loaded>
  </Page>
);
