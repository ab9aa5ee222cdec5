import type { Context } from './context.ts';
import type { Signal } from './process.ts';

/** `reins beam`: one ready line on stdout, everything else on stderr, until a signal (09 §1.3, §1.5). */
export async function serveBeam(context: Context): Promise<number> {
  const { process, invocation } = context;
  const app = await context.open((options) => ({ ...options, surface: 'web' }));
  const ground = await app.ground();
  ground.token.ensure();
  const { parseAddress, startBeam } = await import('../server/server.ts');
  const settings = ground.settings();
  const address = parseAddress(invocation.flags.text('host') ?? settings.host);
  if (address === null) throw new TypeError('no address');
  const beam = await startBeam({
    client: app.client,
    operations: await app.routes(),
    ground,
    version: process.version,
    address,
    port: invocation.flags.number('port') ?? settings.port,
    alsoSix: address.address === '127.0.0.1',
    tls: null,
    publicOrigins: [],
    overrides: { secret: null, token: null },
    now: process.now,
    trace: () => {},
  });
  await context.print(`Beam ready → ${beam.url}`);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] satisfies Signal[]) process.onSignal(signal, () => resolve());
  });
  await beam.stop();
  return 0;
}
