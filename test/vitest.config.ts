import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../', import.meta.url).pathname,
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    exclude: ['test/.build/**', '**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: process.env['REINS_TEST_JSON']
      ? ['default', ['json', { outputFile: process.env['REINS_TEST_JSON'] }]]
      : ['default'],
  },
});
