import { join } from 'node:path';

/** Where the test build lies; `REINS_TEST_BUILD` names another one, for runs beside somebody who builds. */
export const builtAt = process.env['REINS_TEST_BUILD'] ?? join(import.meta.dirname, '../.build');
