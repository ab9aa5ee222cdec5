const paths = {
  chat: 'M4 5h16v11H9l-5 4z',
  approvals: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4',
  plans: 'M9 6h11M9 12h11M9 18h11M4 6h1M4 12h1M4 18h1',
  runs: 'M4 7h9M4 12h16M4 17h6',
  policies: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7',
  chains: 'M3 5h7v5H3zM14 14h7v5h-7zM6.5 10v6.5H14',
  backends: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01',
  tools: 'M14 6a4 4 0 0 0 5 5l-8 8a2 2 0 0 1-4-4l8-8z',
  settings: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M6 6l2 2M16 16l2 2M18 6l-2 2M8 16l-2 2',
  setup: 'M5 12l4 4L19 6',
  usage: 'M5 20V10M12 20V4M19 20v-7',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  find: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.2 15.2L20 20',
  leave: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
} as const;
export type IconName = keyof typeof paths;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.8"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
);
