import { expect, it } from 'vitest';
import type { ProviderErrorClass, ThinkLevel } from '../src/models/model.ts';
import { providerTypes } from '../src/schema/registry.ts';
import { createWorld } from './cli/world.ts';
import { shownIn } from './support/shown.ts';

const { text, session } = shownIn('docs/models.md');

it('shows what its commands print', async () => {
  const { run, remove } = createWorld();
  try {
    await run(['init']);
    const shown: unknown[] = [];
    for (const { argv } of session) shown.push({ argv, printed: (await run(argv)).stdout.trimEnd() });
    expect(session.length).toBeGreaterThan(0);
    expect(shown).toEqual(session);
  } finally {
    remove();
  }
});

it('names every type, level and class of failure', () => {
  // What is added to the language has to be added here, or this does not compile.
  const classes: Readonly<Record<Exclude<ProviderErrorClass, 'cancelled'>, true>> = {
    timeout: true,
    connect: true,
    rate_limit: true,
    overloaded: true,
    server_error: true,
    malformed: true,
    empty_reply: true,
    auth: true,
    permission: true,
    model_not_found: true,
    context_exceeded: true,
    quota: true,
    content_filter: true,
    no_tool_support: true,
    unsupported: true,
    invalid_request: true,
    permanent: true,
  };
  const levels: Readonly<Record<ThinkLevel, true>> = {
    auto: true,
    off: true,
    minimal: true,
    low: true,
    medium: true,
    high: true,
    xhigh: true,
  };
  const words = [...providerTypes, ...Object.keys(classes), ...Object.keys(levels)];
  expect(words.filter((word) => !text.includes(`\`${word}\``))).toEqual([]);
});
