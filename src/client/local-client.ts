import type { Struct } from 'superstruct';
import { checkInput } from './check-input.ts';
import { checkOutput } from './check-output.ts';
import { type Call, operations, type RuntimeClient } from './operations.ts';

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
  const bound = bindAll(operations, async (name) => serviceOf(await services(name), name));
  return {
    ...bound,
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

/** Puts the structs of each entry around its service. */
export function bindAll<T extends Table>(
  table: T,
  serviceFor: (name: keyof T) => Promise<unknown>,
): { readonly [N in keyof T]: Call<T[N]> } {
  const bind = (name: string & keyof T) => {
    const { input, output } = table[name] as T[string & keyof T];
    return async (given: unknown): Promise<unknown> => {
      const checked = checkInput(name, given, input as AnyStruct);
      // Each entry of a table is served by a function of its own input and output.
      const service = (await serviceFor(name)) as (input: unknown) => Promise<unknown>;
      const result = await service(checked);
      return output.struct === null ? result : checkOutput(result, output.struct as AnyStruct);
    };
  };
  const names = Object.keys(table) as (string & keyof T)[];
  return Object.fromEntries(names.map((name) => [name, bind(name)])) as { readonly [N in keyof T]: Call<T[N]> };
}

// The value type of each entry is its own; here it is handed from its struct to its service.
type AnyStruct = Struct<unknown, unknown>;
type Table = Readonly<Record<string, { readonly input: unknown; readonly output: { readonly struct: unknown } }>>;

function serviceOf<N extends keyof RuntimeClient>(services: Partial<Services>, name: N): RuntimeClient[N] {
  const service = services[name];
  if (service === undefined) throw new TypeError(`no service for ${name}`);
  return service;
}
