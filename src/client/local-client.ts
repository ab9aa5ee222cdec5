import { create, mask, StructError } from 'superstruct';
import { RuntimeError } from '../schema/errors.ts';
import { type Operations, operations, type RuntimeClient } from './operations.ts';

/** The services of this process: one function of the name and type of each operation, and the streams. */
export type Services = RuntimeClient;

/**
 * Binds the table to the services of this process (architecture §10): input and output pass the structs, so that an
 * in-process face gets exactly what an HTTP face would. `services` is asked for at the first call, so that making a
 * client opens nothing.
 */
export function createLocalClient(
  services: (operation: keyof RuntimeClient) => Promise<Partial<Services>>,
): RuntimeClient {
  const bind = (name: keyof Operations) => {
    const { input, output } = operations[name];
    return async (given: unknown): Promise<unknown> => {
      let checked: unknown;
      try {
        checked = create(given, input as Parameters<typeof create>[1]);
      } catch (error) {
        if (error instanceof StructError)
          throw new RuntimeError('invalid_body', `${name}: ${error.message}`, { cause: error });
        throw error;
      }
      const service = serviceOf(await services(name), name) as (input: unknown) => Promise<unknown>;
      const result = await service(checked);
      return output.struct === null ? result : mask(result, output.struct as Parameters<typeof mask>[1]);
    };
  };
  const bound = Object.fromEntries(Object.keys(operations).map((name) => [name, bind(name as keyof Operations)]));
  return {
    // Every name of the table was bound above to a function of its own input and output.
    ...(bound as unknown as RuntimeClient),
    async *watch(input) {
      yield* serviceOf(await services('watch'), 'watch')(input);
    },
    async *watchFeed(input) {
      yield* serviceOf(await services('watchFeed'), 'watchFeed')(input);
    },
    signInMcpServer: async (input, onUrl, signal) =>
      serviceOf(await services('signInMcpServer'), 'signInMcpServer')(input, onUrl, signal),
    pullModel: async (input, onProgress, signal) =>
      serviceOf(await services('pullModel'), 'pullModel')(input, onProgress, signal),
  };
}

function serviceOf<N extends keyof RuntimeClient>(services: Partial<Services>, name: N): RuntimeClient[N] {
  const service = services[name];
  if (service === undefined) throw new TypeError(`no service for ${name}`);
  return service;
}
