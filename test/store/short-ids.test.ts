import { afterEach, beforeEach, expect, it } from 'vitest';
import { createShortIds } from '../../src/store/short-ids.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

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

it('keeps the kind and six characters, and more where another id ends in the same way', () => {
  const ids = ['run_01kb2m9v7q4t8d0x3h5n3kq9x7', 'run_01kb2m9v7q4t8d0x3h5naaaaaa'];
  // Not asked for, but stored: a short id must tell it apart.
  for (const id of [...ids, 'run_01kb2m9v7q4t8d0x3hxnaaaaaa']) insertRun(store.sql, id);
  const shortIds = createShortIds(store.sql, tenant);
  expect(shortIds(ids)).toEqual(['run_3kq9x7', 'run_5naaaaaa']);
});

it('leaves ids of other kinds as they are, and gives nothing for nothing', () => {
  const shortIds = createShortIds(store.sql, tenant);
  expect(shortIds(['01kb2m9v7q4t8d0x3h5n3kq9x7', 'x_123456789'])).toEqual([
    '01kb2m9v7q4t8d0x3h5n3kq9x7',
    'x_123456789',
  ]);
  expect(shortIds([])).toEqual([]);
});
