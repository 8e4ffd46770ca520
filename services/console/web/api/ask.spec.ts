import { expect, it } from '@jest/globals';
import { apiClient } from './index.js';

it('says what an operation wants to be told, where it belongs', async () => {
  const sent: unknown[][] = [];
  const ask = apiClient(async (...said) => {
    sent.push(said);
    return { runs: [] };
  });
  const answer = await ask('GET /v1/runs', { query: { status: ['RUNNING', 'PAUSED'], label: ['team=a,b'], limit: 5 } });
  expect(answer.runs).toEqual([]);
  await ask('GET /v1/runs/{id}', { path: { id: 'a/b?c' } });
  await ask('POST /v1/devices/{id}/hold', { path: { id: 'web-1' }, body: { reason: 'a new disk' }, key: 'k1' });
  await ask('GET /v1/devices', {});
  expect(sent).toEqual([
    ['GET', '/v1/runs?status=RUNNING&status=PAUSED&label=team%3Da%2Cb&limit=5', {}],
    ['GET', '/v1/runs/a%2Fb%3Fc', {}],
    ['POST', '/v1/devices/web-1/hold', { body: { reason: 'a new disk' }, key: 'k1' }],
    ['GET', '/v1/devices', {}],
  ]);
});
