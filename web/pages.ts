import type { ComponentType } from 'react';
import type { IconName } from './parts/icons.tsx';

export type PageEntry = {
  /** Where the navigation leads. */
  readonly at: string;
  /** Every path of the page, as the router reads them; `useParams` of wouter gives the members. */
  readonly paths: readonly string[];
  /** What it shows on all of them stays when it goes from one to another. */
  readonly stays?: boolean;
  readonly word: string;
  readonly icon: IconName;
  /** The letter behind `g` (09 §8.16). */
  readonly key: string | null;
  /** It stands in the bar of a small screen; the others are behind More. */
  readonly bar: boolean;
  /** Its code is loaded when it is first opened. */
  readonly load: () => Promise<ComponentType>;
};

/** Whether a path of the address is of this page. */
export const isAt = (page: PageEntry, path: string): boolean =>
  path === page.at || path.startsWith(`${page.at}/`) || page.paths.includes(path);

/** The pages in the order of the navigation (09 §8.3). One line adds a page. */
export const pages: readonly PageEntry[] = [
  {
    at: '/chat',
    paths: ['/', '/chat', '/chat/:session'],
    stays: true,
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
    at: '/plans',
    paths: ['/plans', '/plans/:name'],
    word: 'Plans',
    icon: 'plans',
    key: 'p',
    bar: false,
    load: () => import('./pages/plans.tsx').then((page) => page.PlansPage),
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
  {
    at: '/policies',
    paths: ['/policies', '/policies/:file'],
    word: 'Policies',
    icon: 'policies',
    key: 'l',
    bar: false,
    load: () => import('./pages/policies.tsx').then((page) => page.PoliciesPage),
  },
  {
    at: '/chains',
    paths: ['/chains', '/chains/:file'],
    word: 'Chains',
    icon: 'chains',
    key: 'h',
    bar: false,
    load: () => import('./pages/chains.tsx').then((page) => page.ChainsPage),
  },
  {
    at: '/backends',
    paths: ['/backends', '/models'],
    word: 'Backends',
    icon: 'backends',
    key: 'b',
    bar: false,
    load: () => import('./pages/backends.tsx').then((page) => page.BackendsPage),
  },
  {
    at: '/tools',
    paths: ['/tools'],
    word: 'Tools',
    icon: 'tools',
    key: 't',
    bar: false,
    load: () => import('./pages/tools.tsx').then((page) => page.ToolsPage),
  },
  {
    at: '/usage',
    paths: ['/usage'],
    word: 'Usage',
    icon: 'usage',
    key: null,
    bar: false,
    load: () => import('./pages/usage.tsx').then((page) => page.UsagePage),
  },
  {
    at: '/settings',
    paths: ['/settings/:section?'],
    word: 'Settings',
    icon: 'settings',
    key: 's',
    bar: false,
    load: () => import('./pages/settings.tsx').then((page) => page.SettingsPage),
  },
  {
    at: '/setup',
    paths: ['/setup'],
    word: 'Set-up',
    icon: 'setup',
    key: null,
    bar: false,
    load: () => import('./pages/setup.tsx').then((page) => page.SetupPage),
  },
];
