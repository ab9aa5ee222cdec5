import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The crash hooks of the test build, also where a test loads a source file by itself.
  define: { FAIL_POINTS: 'true' },
  test: {
    root: new URL('../', import.meta.url).pathname,
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    exclude: ['test/.build/**', '**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/keep-sqlite.mjs'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes late on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // Most tests wait for programs that they have started: a third worker uses what the waits leave of two cores.
    maxWorkers: 3,
    // Files share the modules of their worker: to load them anew for each costs more than most of them need.
    isolate: false,
    reporters: process.env['REINS_TEST_JSON']
      ? ['default', ['json', { outputFile: process.env['REINS_TEST_JSON'] }]]
      : ['default'],
  },
});
