import type { ComponentType } from 'react';
import type { IconName } from './parts/icons.tsx';

export type PageEntry = {
  /** Where the navigation leads. */
  readonly at: string;
  /** Every path of the page, as the router reads them; `useParams` of wouter gives the members. */
  readonly paths: readonly string[];
  readonly word: string;
  readonly icon: IconName;
  /** The letter behind `g` (09 §8.16). */
  readonly key: string | null;
  /** It stands in the bar of a small screen; the others are behind More. */
  readonly bar: boolean;
  /** Its code is loaded when it is first opened. */
  readonly load: () => Promise<ComponentType>;
};

/** The pages in the order of the navigation (09 §8.3). One line adds a page. */
export const pages: readonly PageEntry[] = [
  {
    at: '/chat',
    paths: ['/', '/chat', '/chat/:session'],
    word: 'Chat',
    icon: 'chat',
    key: 'c',
    bar: true,
    load: () => import('./pages/chat.tsx').then((page) => page.ChatPage),
  },
  {
    at: '/approvals',
    paths: ['/approvals', '/approvals/:id'],
    word: 'Approvals',
    icon: 'approvals',
    key: 'a',
    bar: true,
    load: () => import('./pages/approvals.tsx').then((page) => page.ApprovalsPage),
  },
  {
    at: '/runs',
    paths: ['/runs', '/runs/:id'],
    word: 'Runs',
    icon: 'runs',
    key: 'r',
    bar: true,
    load: () => import('./pages/runs.tsx').then((page) => page.RunsPage),
  },
];
