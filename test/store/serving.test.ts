import { afterEach, beforeEach, expect, it } from 'vitest';
import { processOwner } from '../../src/store/owner.ts';
import { createServing } from '../../src/store/serving.ts';
import { createSettings } from '../../src/store/settings.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, startOfTime, tenant } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
});
afterEach(() => {
  store.close();
  temp.remove();
});

it('knows where a server listens as long as its process lives, and no longer', () => {
  const rows = createSettings(store.sql, tenant);
  const owner = processOwner('web');
  // The same process id with another start: the process that noted it is gone.
  const gone = owner.split(' ').with(3, '1').join(' ');
  rows.set('beam.serving.4711', JSON.stringify({ owner: gone, port: 8787 }), startOfTime);
  const serving = createServing(rows, owner, () => startOfTime);
  expect(serving.ports()).toEqual([]);
  const forget = serving.note(9000);
  expect(serving.ports()).toEqual([9000]);
  expect(rows.list('beam.serving.').map(({ key }) => key)).toEqual([`beam.serving.${process.pid}`]);
  forget();
  expect(serving.ports()).toEqual([]);
});
