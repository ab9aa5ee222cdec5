import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The crash hooks of the test build, also where a test loads a source file by itself.
  define: { FAIL_POINTS: 'true' },
  test: {
    root: new URL('../', import.meta.url).pathname,
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    exclude: ['test/.build/**', '**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: process.env['REINS_TEST_JSON']
      ? ['default', ['json', { outputFile: process.env['REINS_TEST_JSON'] }]]
      : ['default'],
  },
});
