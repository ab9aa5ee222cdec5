import { join } from 'node:path';
import type { Machine } from '../../src/gate/machine.ts';

/** A machine whose workspace, home and installation lie below one directory. */
export const machineBelow = (root: string, path: string): Machine => ({
  platform: process.platform,
  shell: 'sh',
  workspace: join(root, 'ws'),
  home: join(root, 'home'),
  caseInsensitivePaths: false,
  path,
  confined: false,
  database: join(root, 'ws/.reins/local.db'),
  reinsHome: join(root, 'home/.reins'),
  dataDir: join(root, 'ws/.reins'),
  secretFiles: [],
  namedFiles: [],
  installation: join(root, 'opt'),
  pid: process.pid,
});
