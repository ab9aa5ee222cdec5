import { RuntimeError } from '../schema/errors.ts';
import { parseUrl } from '../text/parse-url.ts';
import { type Address, parseAddress } from './address.ts';

/** What the command line, the environment and the configuration say about where to listen; flags come first. */
export type Wanted = {
  readonly host: string;
  readonly port: number;
  readonly allowRemote: boolean;
  readonly publicOrigins: readonly string[];
  readonly tls: boolean;
  readonly passwordSet: boolean;
};

export type BindPlan = {
  readonly address: Address;
  readonly port: number;
  readonly alsoSix: boolean;
  readonly publicOrigins: readonly string[];
  /** For the operator, before anything listens. */
  readonly warnings: readonly string[];
};

/**
 * Where the server listens (09 §1.2). @throws RuntimeError usage for what is no address or origin, config_invalid with every
 * condition that an address beyond this machine is missing
 */
export function planBind(wanted: Wanted): BindPlan {
  const { host, port, publicOrigins } = wanted;
  const named = host === 'localhost' ? '127.0.0.1' : host;
  const address = parseAddress(named);
  if (address === null) {
    throw new RuntimeError('usage', `"${host}" is not an IP address; names are not looked up (localhost is accepted).`);
  }
  for (const origin of publicOrigins) checkOrigin(origin);
  if (!address.loopback) checkRemote(wanted, address);
  const open = !address.loopback && !wanted.tls && !publicOrigins.some((origin) => origin.startsWith('https://'));
  return {
    address,
    port,
    alsoSix: named === '127.0.0.1',
    publicOrigins,
    warnings: open ? ['Everything, the password too, can be read on the network: there is no TLS.'] : [],
  };
}

function checkOrigin(text: string): void {
  const plain = /^https?:\/\/[^/?#@*\s]+$/.test(text) && parseUrl(text)?.origin === text.toLowerCase();
  if (!plain) throw new RuntimeError('usage', `"${text}" is not an origin such as https://reins.example.org.`);
}

function checkRemote(wanted: Wanted, address: Address): void {
  const missing: readonly (readonly [isMissing: boolean, message: string, hint: string])[] = [
    [!wanted.allowRemote, 'it was not permitted: --allow-remote', 'reins beam --allow-remote'],
    [!wanted.passwordSet, 'no password is set: reins beam set-password', 'reins beam set-password'],
    [
      wanted.publicOrigins.length === 0,
      'nobody has said under which origin it is reached: --public-origin <origin>',
      'reins beam --public-origin https://reins.example.org',
    ],
  ];
  const failed = missing.filter(([isMissing]) => isMissing);
  if (failed.length === 0) return;
  const reasons = failed.map(([, message]) => message);
  throw new RuntimeError(
    'config_invalid',
    `${address.address} can be reached from other machines${failed.length === 1 ? `, and ${reasons[0]}` : ''}.`,
    {
      hints: failed.map(([, , hint]) => hint),
      data: { findings: reasons.map((message) => ({ message })) },
    },
  );
}
