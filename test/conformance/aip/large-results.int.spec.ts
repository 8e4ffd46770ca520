import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { moment } from '#libs/testing';
import { AIP_LIMITS, type DeviceAnswer } from '#proto';
import { rssBytesMax } from '../../bench/processes.adapter.js';
import { startStand, type Gateway, type Stand } from './stand/stand.js';

/*
 * What a gateway needs of memory for results of foreign devices (docs/aip.md): of messages above 8 MiB it takes one at a time,
 * whose bytes it has twice while they come together. Measured as the most that the process ever had.
 */
const MIB = 1024 * 1024;
const DEVICES = 2;
const OUTPUT_BYTES = AIP_LIMITS.largeFrameBytesMax - MIB;
const GROWTH_BYTES_MAX = 3 * AIP_LIMITS.largeFrameBytesMax;

let stand: Stand;
let gateway: Gateway;
beforeAll(async () => {
  stand = await startStand({ executes: false });
  gateway = await stand.gateway();
});
afterAll(async () => {
  await gateway.stop();
  await stand.stop();
});

/** A foreign device that answers its one command with a hundred megabytes. */
function connect({ token }: { readonly token: string }, text: string): WebSocket {
  const socket = new WebSocket(`${gateway.options.target.url}?token=${token}`);
  const say = (frame: object): void => socket.send(JSON.stringify({ status: 'ok', client_type: 'device', ...frame }));
  socket.on('open', () => say({ type: 'register' }));
  socket.on('message', (data: Buffer) => {
    const { type, response_id: id } = JSON.parse(data.toString()) as { type: string; response_id: string };
    if (type !== 'command') return;
    const result = id === 'list_tools' ? [] : { success: true, exit_code: 0, stdout: text, stderr: '' };
    say({ type: 'command_results', prev_response_id: id, action_results: [{ status: 'success', result }] });
  });
  return socket;
}

async function resultOf(deviceId: string): Promise<DeviceAnswer> {
  const { driver } = gateway.options.target;
  if (driver === undefined) throw new Error('the stand asks for nothing');
  let sessionId = await driver.sessionOf(deviceId);
  for (; sessionId === null; await moment()) sessionId = await driver.sessionOf(deviceId);
  const attempt = { runId: 'run', taskId: deviceId, attempt: 1 };
  for (;;) {
    const asked = driver.ask({
      kind: 'run',
      commandId: `run.${deviceId}.1.0.0`,
      attempt,
      deviceId,
      sessionId,
      journalId: null,
      command: { tool: 'execute_command', arguments: {} },
      priority: 0,
      notAfter: '2099-01-01T00:00:00.000Z',
    });
    // A machine with other work may take its time.
    const answer = await asked.catch(() => ({ state: 'running' as const }));
    if (answer.state !== 'running' && answer.state !== 'queued') return answer;
  }
}

it('two results of a hundred megabytes at the same time cost the memory of one', async () => {
  const accounts = gateway.options.devices.slice(0, DEVICES);
  const before = rssBytesMax(gateway.pid);
  const text = 'x'.repeat(OUTPUT_BYTES);
  const sockets = accounts.map((account) => connect(account, text));
  const answers = await Promise.all(accounts.map(({ id }) => resultOf(id)));
  const grown = rssBytesMax(gateway.pid) - before;
  const loop = (await gateway.metrics()).get('nodejs_eventloop_lag_max_seconds');
  process.stdout.write(
    `${DEVICES} results of ${OUTPUT_BYTES / MIB} MiB: +${Math.round(grown / MIB)} MiB, loop ${loop} s\n`,
  );
  const stored = { stdout_artifact: { bytes: OUTPUT_BYTES }, stdout_bytes: OUTPUT_BYTES };
  expect(answers).toMatchObject(
    accounts.map(() => ({ state: 'finished', outcome: { state: 'COMPLETED', result: stored } })),
  );
  expect(grown).toBeLessThan(GROWTH_BYTES_MAX);
  for (const socket of sockets) socket.terminate();
});
