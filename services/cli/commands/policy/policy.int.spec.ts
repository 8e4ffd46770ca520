import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QueryRefusedError, serveQueries, type QueryRequest, type Served } from '#libs/messaging';
import { ANYBODY, askedOnce, startTestBus, type TestBus } from '#libs/testing';
import type { PolicyVerdict } from '#proto';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

const HASH = 'a'.repeat(64);
const VERDICT: PolicyVerdict = {
  class: 'privileged',
  decision: 'deny',
  rule: 'web.no-restart',
  reasons: ['Web servers are restarted at night.'],
  grantable: false,
};

let bus: TestBus;
let served: Served;
const asked: QueryRequest<'device-agent', 'explain'>[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  served = await serveQueries(
    await bus.as('device-agent'),
    'device-agent',
    {
      explain: async (request) => {
        asked.push(request);
        if (request.deviceId !== 'web-1') {
          throw new QueryRefusedError({ code: 'NOT_FOUND', message: 'there is no such device', issues: [] });
        }
        return { verdict: VERDICT, policyHash: HASH };
      },
      settings: () => Promise.reject(new Error('not asked')),
      prompt: () => Promise.reject(new Error('not asked')),
      deliver: () => Promise.reject(new Error('not asked')),
      workspaces: () => Promise.reject(new Error('not asked')),
      'dlq-retry': () => Promise.reject(new Error('not asked')),
    },
    { authority: ANYBODY },
  );
});
afterAll(() => bus.stop());

async function orrery(words: readonly string[]) {
  const terminal = fakeTerminal();
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('cli') };
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

describe('orrery policy explain --device', () => {
  it('says what the running system would do', async () => {
    const { exitCode, out, err } = await orrery(['policy', 'explain', 'df -h', '--device', 'web-1', '--json']);
    expect(err).toEqual([]);
    expect(JSON.parse(out.join(''))).toMatchObject({ command: 'df -h', ...VERDICT, policyHash: HASH });
    expect(exitCode).toBe(0);
    expect(askedOnce(asked)).toEqual([
      { deviceId: 'web-1', command: { tool: 'EXEC_CLI', arguments: { command: 'df -h' } } },
    ]);
  });

  it('names the policy that spoke', async () => {
    const { out } = await orrery(['policy', 'explain', 'df -h', '--device', 'web-1']);
    expect(out).toContain('decision  deny: it never runs');
    expect(out.at(-1)).toBe('by the policy of the running system for web-1');
  });

  it('a device that nobody knows is bad input', async () => {
    const { exitCode, err } = await orrery(['policy', 'explain', 'df -h', '--device', 'web-9']);
    expect(err).toEqual([expect.stringContaining('there is no such device')]);
    expect(exitCode).toBe(3);
  });

  it('a service that is not there cannot be reached', async () => {
    await served.stop();
    const { exitCode, out, err } = await orrery(['policy', 'explain', 'df -h', '--device', 'web-1']);
    expect({ exitCode, out }).toEqual({ exitCode: 4, out: [] });
    expect(err).toHaveLength(1);
  });
});
