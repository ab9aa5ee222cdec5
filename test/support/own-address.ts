import { networkInterfaces } from 'node:os';

/** An address of this machine that others could reach; undefined where it has none. */
export const ownAddress: string | undefined = Object.values(networkInterfaces())
  .flatMap((all = []) => all)
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
