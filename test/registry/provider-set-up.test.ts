import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProviderSetUp } from '../../src/registry/provider-set-up.ts';
import { fakeServers, noFields, openAi, openRooms, type Rooms } from './rooms.ts';

let rooms: Rooms;
const { serve, close } = fakeServers();
beforeEach(async () => {
  rooms = await openRooms();
});
afterEach(async () => {
  await close();
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

  it('says that the default model stays where a backend of another type serves it', async () => {
    const server = await serve(openAi('m'));
    await rooms.backends.addBackend({ ...noFields, name: 'loc', type: 'openai-compatible', url: `${server.url}/v1` });
    await rooms.settings.setConfig({ key: 'default-model', value: 'm' });
    expect((await createProviderSetUp(rooms)('ollama')).notes).toEqual([
      'default-model = m stays; the backend "loc" of type openai-compatible serves it, and is not asked any more: reins config set default-model <model>, or reins config unset default-provider',
    ]);
  });
});
