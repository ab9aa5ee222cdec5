import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProviderSetUp } from '../../src/registry/provider-set-up.ts';
import { noFields, openRooms, type Rooms } from './rooms.ts';

let rooms: Rooms;
beforeEach(async () => {
  rooms = await openRooms();
});
afterEach(() => {
  rooms.close();
  rooms.home.remove();
});

describe('init with a provider', () => {
  it('takes what another init of the same moment has registered', async () => {
    const setUp = createProviderSetUp(rooms);
    const [first, second] = await Promise.all([setUp('scripted'), setUp('scripted')]);
    expect([first.notes, second.notes]).toEqual([[], []]);
    const own = (await rooms.backends.listBackends()).filter(({ builtIn }) => !builtIn);
    expect(own.map(({ name, type }) => `${name} ${type}`)).toEqual(['scripted scripted']);
  });

  it('advises another name where a backend of another type has the one of the type', async () => {
    await rooms.backends.addBackend({
      ...noFields,
      name: 'openai',
      type: 'openai-compatible',
      url: 'http://127.0.0.1:9/v1',
    });
    expect((await createProviderSetUp(rooms)('openai')).notes).toEqual([
      'reins backend add my-openai --type openai --api-key-env OPENAI_API_KEY',
    ]);
  });
});
