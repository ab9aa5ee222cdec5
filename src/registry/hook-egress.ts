import type { LookupAddress } from 'node:dns';
import { createEgress, type Egress, type Target } from '../tools/egress.ts';

export type NetworkDeps = {
  /** Ports on which this product listens. */
  readonly ownPorts: () => readonly number[];
  readonly lookup: (host: string) => Promise<readonly LookupAddress[]>;
};

/**
 * A service is reachable at the origin that the operator named (05 §9.2); private addresses only where he named one or
 * said so, link-local ones and our own listeners never.
 */
export function originEgress(deps: NetworkDeps, target: Target, allowPrivate: boolean, mend: string): Egress {
  const { host, port } = target;
  const listed = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return createEgress({ ...deps, privateHosts: allowPrivate ? [listed] : [], mend });
}

/** Whether the text of a URL alone names a private address or name: then the operator has named it. */
export const namesPrivate = (deps: NetworkDeps, target: Target): boolean =>
  originEgress(deps, target, false, '').nameFault(target) !== null;
