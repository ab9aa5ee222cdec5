import { expect, it } from 'vitest';
import { errorReply } from '../../src/server/error-body.ts';
import { RuntimeError } from '../../src/schema/errors.ts';

it('tells a refusal that has no data, and of data what is meant for a client', () => {
  expect(errorReply(new RuntimeError('not_found', 'There is no run x.'), 'req_1')).toEqual({
    status: 404,
    headers: {},
    json: { error: { message: 'There is no run x.', type: 'invalid_request_error', code: 'not_found' } },
  });
  const data = { param: 'text', findings: [{ severity: 'load', code: 'c', path: '/a', message: 'm', secret: 's' }] };
  expect(errorReply(new RuntimeError('invalid_policy', 'It is not written.', { data }), 'req_1').json).toEqual({
    error: { message: 'It is not written.', type: 'invalid_request_error', code: 'invalid_policy', param: 'text' },
    findings: [{ severity: 'error', code: 'c', path: '/a', message: 'm' }],
  });
});

it('says nothing of a bug but the id of its request', () => {
  expect(errorReply(new TypeError('undefined is no function at /srv/x.ts'), 'req_1')).toEqual({
    status: 500,
    headers: {},
    json: {
      error: { message: 'The request failed inside the server.', type: 'api_error', code: 'internal', param: 'req_1' },
    },
  });
});
