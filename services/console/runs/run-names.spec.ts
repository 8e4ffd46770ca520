import type { ServerResponse } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import { expect, it } from '@jest/globals';
import type { RunSummary } from '#proto';
import type { CalledRequest } from '../http/index.js';
import { RunNamesGuard } from './run-names.guard.js';
import type { RunVerbs } from './run-verbs.client.js';
import { RunsController } from './runs.controller.js';

const RUN = '0k3j'.padEnd(26, 'a');
const TWO = ['b', 'c'].map((end) => 'b'.repeat(25) + end);
const RUNS = [RUN, ...TWO].map((runId) => ({ runId }) as RunSummary);

/** What the console knows of runs here; `asked` counts. */
function theList() {
  let asked = 0;
  const ask = ({ id = '', limit = 50 }: { id?: string; limit?: number }) => {
    asked += 1;
    const found = RUNS.filter(({ runId }) => runId.startsWith(id));
    return { runs: found.slice(0, limit), ...(found.length > limit && { more: true }) };
  };
  const verbs = { ask: async (_: string, wanted: object) => ask(wanted) };
  return { verbs: verbs as unknown as RunVerbs, asked: () => asked };
}

const CALLER = { caller: { actor: { id: 'anna' } } };

async function reach(method: string, path: string) {
  const [, , word = ''] = /^\/v1\/(runs|content-approvals)\/([^/]+)/u.exec(path) ?? [];
  const params = { id: word };
  const headers: Record<string, unknown> = {};
  const response = { setHeader: (name: string, value: unknown) => void (headers[name] = value) };
  const http = { getRequest: () => ({ ...CALLER, method, path, params }), getResponse: () => response };
  const list = theList();
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  await new RunNamesGuard(list.verbs).canActivate(context);
  return { id: params.id, asked: list.asked(), ...headers };
}

it.each([
  ['GET', '/v1/runs/latest', '/v1/runs/ID'],
  ['GET', '/v1/runs/0k3j/report.md', '/v1/runs/ID/report.md'],
  ['GET', `/v1/runs/${RUN.slice(0, -1)}/events`, '/v1/runs/ID/events'],
  ['POST', '/v1/runs/0k3j/tasks/0k3j/retry', '/v1/runs/ID/tasks/0k3j/retry'],
])('%s %s is about the run that is meant, and the answer says where it stays', async (method, path, stays) => {
  expect(await reach(method, path)).toEqual({ id: RUN, asked: 1, 'Content-Location': stays.replace('ID', RUN) });
});

it.each([`/v1/runs/${RUN}`, '/v1/runs/0k3', '/v1/runs/run-1', '/v1/content-approvals/0k3j'])(
  '%s is what it says, and nobody is asked',
  async (path) => expect(await reach('GET', path)).toEqual({ id: path.split('/')[3], asked: 0 }),
);

it('leaves to others what no run begins with', async () => {
  expect(await reach('GET', '/v1/runs/zzzz')).toEqual({ id: 'zzzz', asked: 1 });
});

it('takes no word for several runs, nor the latest for what changes one', async () => {
  await expect(reach('GET', '/v1/runs/bbbbb')).rejects.toMatchObject({
    status: 400,
    message: `Several runs begin with bbbbb: ${TWO.join(', ')}.`,
  });
  await expect(reach('POST', '/v1/runs/bbbbb/cancel')).rejects.toMatchObject({ status: 400 });
  await expect(reach('POST', '/v1/runs/latest/cancel')).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(`It is ${RUN} now.`),
  });
});

it('names the next page of a list as the next address, with all that was said for this one', async () => {
  const link = async (url: string, said: Record<string, unknown>): Promise<unknown> => {
    const headers: Record<string, unknown> = {};
    const response = { setHeader: (name: string, value: unknown) => void (headers[name] = value) };
    const controller = new RunsController(theList().verbs, {} as never, {} as never);
    await controller.list({ ...CALLER, url } as CalledRequest, said, response as unknown as ServerResponse);
    return headers['Link'];
  };
  expect(await link('/v1/runs?label=team%3Ddb&label=env&limit=2', { label: ['team=db', 'env'], limit: '2' })).toBe(
    `</v1/runs?label=team%3Ddb&label=env&limit=2&before=${TWO[0]}>; rel="next"`,
  );
  expect(await link(`/v1/runs?limit=1&before=${TWO[0]}`, { limit: '1', before: TWO[0] })).toBe(
    `</v1/runs?limit=1&before=${RUN}>; rel="next"`,
  );
  expect(await link('/v1/runs', {})).toBeUndefined();
});
