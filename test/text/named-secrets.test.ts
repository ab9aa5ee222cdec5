import { expect, it } from 'vitest';
import { withoutNamedSecrets } from '../../src/text/named-secrets.ts';

it('takes out what stands under names of credentials, at any depth, and nothing else', () => {
  const given = {
    user: 'ann',
    password: 'hunter2',
    db_password: 'x',
    accessToken: 'abc',
    'X-Auth-Token': ['a', { kept: 'b' }],
    api: { key: 7, secret: { id: 'q', on: true }, note: 'key' },
    max_tokens: 100,
    monkey: 'm',
    keys: ['ctrl'],
    authorization: '(injected)',
    token: '•••(far.token)',
    secret: '',
    list: [{ secret: 's' }, null],
  };
  expect(withoutNamedSecrets(given)).toEqual({
    ...given,
    password: '•••',
    db_password: '•••',
    accessToken: '•••',
    'X-Auth-Token': ['•••', { kept: '•••' }],
    api: { key: '•••', secret: { id: '•••', on: true }, note: 'key' },
    list: [{ secret: '•••' }, null],
  });
});
