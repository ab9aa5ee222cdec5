import type { ReactNode } from 'react';

/** One line of a list of facts. */
export const Fact = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="facts-row">
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);
