import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { auditRun, parseExport, recordsByRun } from '#libs/audit';
import { generateHistory, startTestBus, type TestBus } from '#libs/testing';
import { subjects, type RunId } from '#proto';
import { OpenAnswers } from '../http/open-answers.js';
import { RefusedError } from '../http/refusal.js';
import { RunRecords } from './run-records.gateway.js';

const STEPS = generateHistory({ seed: 5, tasks: 8 });
const RUN: RunId = 'run5';

let bus: TestBus;
let http: Server;
let url: string;

beforeAll(async () => {
  bus = await startTestBus();
  const orchestrator = jetstream(await bus.as('orchestrator'));
  const agent = jetstream(await bus.as('device-agent'));
  for (const step of STEPS) {
    const text = JSON.stringify(step.commit);
    if (step.kind === 'run') await orchestrator.publish(subjects.run(RUN), text);
    if (step.kind === 'attempt') await agent.publish(subjects.attempt(step.commit, step.subject), text);
  }
  const records = new RunRecords({ nc: await bus.as('console'), answers: new OpenAnswers(Number.POSITIVE_INFINITY) });
  http = createServer(({ url: path = '' }, response) => {
    void records.serve(path.slice(1), response).catch((error: unknown) => {
      response.writeHead(error instanceof RefusedError ? error.status : 500).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => http.once('listening', listening));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(async () => {
  http.closeAllConnections();
  http.close();
  await bus.stop();
});

describe('the records of a run over HTTP', () => {
  it('are all of them as they are stored, each line with its number, and nothing else than that is read with the rights of the console', async () => {
    const text = await (await fetch(`${url}/${RUN}`)).text();
    const { records, problems } = parseExport(text);
    expect(problems).toEqual([]);
    expect(records.map(({ commit }) => JSON.stringify(commit)).toSorted()).toEqual(
      STEPS.map(({ commit }) => JSON.stringify(commit)).toSorted(),
    );
    const attempts = auditRun(RUN, recordsByRun(records).get(RUN) ?? []).attempts;
    expect(attempts).toBe(STEPS.filter(({ kind }) => kind === 'attempt').length);
  });

  it('show that the end of them is missing', async () => {
    const lines = (await (await fetch(`${url}/${RUN}`)).text()).trimEnd().split('\n');
    expect(parseExport(lines.slice(0, -1).join('\n')).problems).not.toEqual([]);
  });

  it('are refused for a run that is not there', async () => {
    expect((await fetch(`${url}/nobody`)).status).toBe(404);
  });
});
