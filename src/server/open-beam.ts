import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ServerGround } from '../app-options.ts';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { RuntimeError } from '../schema/errors.ts';
import { messageOf } from '../text/thrown.ts';
import { type BindPlan, planBind } from './bind.ts';
import type { TraceLine } from './dispatch.ts';
import { makeLink } from './links.ts';
import { addressTaken } from './running.ts';
import { type Beam, startBeam } from './server.ts';
import { readOverrides, type SecretSources } from './signing.ts';

/** What `reins beam` was given; null = not given. */
export type BeamRequest = {
  readonly client: RuntimeClient;
  /** Those that have routes. */
  readonly operations: RouteClient;
  readonly ground: ServerGround;
  readonly version: string;
  /** Directory URL of the built application. */
  readonly web: URL;
  readonly host: string | null;
  readonly port: number | null;
  readonly allowRemote: boolean;
  /** Null: as configured. */
  readonly publicOrigins: readonly string[] | null;
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
  readonly secrets: SecretSources;
  readonly now: () => number;
  trace(line: TraceLine): void;
  loginFailed(peer: string, route: string): void;
  warn(line: string): void;
};

export type OpenedBeam = Beam & {
  readonly host: string;
  /** A new login link, good once and for ten minutes. */
  link(): string;
  /** `admin` / `admin` is good from this machine. */
  readonly defaultLogin: boolean;
};

/**
 * Checks everything that must hold before anything listens (09 §1.2, §4.10, §4.11), then listens.
 * @throws RuntimeError usage, config_invalid, in_use
 */
export async function openBeam(request: BeamRequest): Promise<OpenedBeam> {
  const { ground, client, operations, version, web, now, trace, loginFailed } = request;
  const { logins } = ground;
  const settings = ground.settings();
  const overrides = readOverrides(ground, request.secrets);
  if (overrides.token === null) ground.token.ensure();
  const tls = readTls(ground, request);
  // The secret of a database of before there was a server is made now.
  logins.secret();
  const bind = planBind({
    host: request.host ?? settings.host,
    port: request.port ?? settings.port,
    allowRemote: request.allowRemote,
    publicOrigins: request.publicOrigins ?? settings.publicOrigins,
    tls: tls !== null,
    passwordSet: logins.credential() !== null,
  });
  for (const warning of bind.warnings) request.warn(warning);
  let beam: Beam;
  try {
    const replaced = () => request.warn('this program was replaced while it runs: stop reins beam and start it again');
    const given = { client, operations, ground, version, web, bind, tls, overrides, now, trace, loginFailed, replaced };
    beam = await startBeam(given);
  } catch (error) {
    throw await addressTaken(error, bind.address, bind.port);
  }
  const forget = noted(ground, beam.port);
  goOnAnswered(request);
  const origin = linkOrigin(bind, beam);
  return {
    ...beam,
    async stop() {
      forget();
      await beam.stop();
    },
    host: bind.address.address,
    link: () => makeLink(logins, origin, now()),
    defaultLogin:
      logins.epoch() === 0 && logins.credential() === null && settings.allowDefaultLogin && bind.address.loopback,
  };
}

/** Where a link is good: it is taken from this machine alone (09 §4.7), which is not who comes by the name for others. */
function linkOrigin({ address }: BindPlan, { url, port }: Beam): string {
  if (!address.wildcard) return url;
  return `${new URL(url).protocol}//${address.family === 6 ? '[::1]' : '127.0.0.1'}:${port}`;
}

/**
 * What was answered goes on where the process that was to hear of it has ended (09 §1.5): nobody answers it again. Every other
 * run that rests waits to be told so. Not awaited, since tool servers may have to be started first.
 */
function goOnAnswered({ ground, operations, warn }: BeamRequest): void {
  for (const id of ground.answeredRuns()) {
    operations.continueRun({ id }).catch((error: unknown) => {
      // It stays among the runs that rest, with why it does.
      warn(`${id} was answered and does not go on: ${messageOf(error)}`);
    });
  }
}

/** Another process may write, or the disk be full: that is no reason not to serve. @returns takes it back */
function noted(ground: Pick<ServerGround, 'noteServing'>, port: number): () => void {
  const quietly = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch {
      return null;
    }
  };
  const forget = quietly(() => ground.noteServing(port));
  return () => void quietly(() => forget?.());
}

function readTls(ground: ServerGround, { tlsCert, tlsKey }: BeamRequest): { cert: string; key: string } | null {
  if (tlsCert === null && tlsKey === null) return null;
  if (tlsCert === null || tlsKey === null) {
    throw new RuntimeError('usage', '--tls-cert and --tls-key belong together.');
  }
  const key = ground.secretFile(tlsKey);
  if (key === null) throw new RuntimeError('config_invalid', `There is no file ${tlsKey}.`);
  try {
    const cert = readFileSync(tlsCert, 'utf8');
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    throw new RuntimeError('config_invalid', `The certificate ${tlsCert} cannot be used with the key ${tlsKey}.`, {
      cause: error,
    });
  }
}
