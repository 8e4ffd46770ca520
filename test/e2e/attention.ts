import { beforeAll, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { query, type QueryAnswer } from '#libs/messaging';
import { FakeDevice, type FakeDeviceOptions } from '#libs/testing';
import { DURABLES, subjects, type AttentionEntry, type AttentionKind, type RunId } from '#proto';
import { sendRequest } from './requests.js';
import { PATIENT, type TestSystem, until } from './system.js';

/*
 * One morning at the inbox: everything in it has really happened, what it says to type is typed, and nothing of it is lost with a process. A
 * disk that fills is in `services/logging/attention`.
 */

const SCRIPTED = 'scripted-1';
let system: TestSystem;
let token: string;

type Inbox = QueryAnswer<'logging', 'attention'>;
const look = async (): Promise<Inbox> => query(await system.bus(), 'logging', 'attention', {});
/** Asked again until it is so. */
const inbox = (what: string, isSo: (entries: readonly AttentionEntry[]) => boolean): Promise<Inbox> =>
  until(what, async () => {
    // Who is killed does not answer; who could not see everything in time is asked again.
    const seen = await look().catch(() => undefined);
    return seen?.unseen.length === 0 && isSo(seen.entries) ? seen : undefined;
  });
const has = (kind: AttentionKind) => (entries: readonly AttentionEntry[]) =>
  entries.some((entry) => entry.kind === kind);
const kindsOf = (entries: readonly AttentionEntry[]): AttentionKind[] =>
  [...new Set(entries.map(({ kind }) => kind))].toSorted();

const task = (id: string, command: string, device = 'web-1') => ({
  id,
  name: id,
  target: { device },
  command: { tool: 'EXEC_CLI', arguments: { command } },
});
const submit = (requestId: string, tasks: readonly unknown[], options = {}): Promise<RunId> =>
  sendRequest(system, { requestId, options, constellation: { name: requestId, tasks } });

/** A device that does what it is told to do here, for one connection; the registry knows of it. */
async function scripted(options: Partial<FakeDeviceOptions> = {}): Promise<FakeDevice> {
  const { aip: url } = await system.endpoints();
  const device = await FakeDevice.connect({ url, deviceId: SCRIPTED, token, ...options });
  await isThere(true);
  return device;
}

async function leaves(device: FakeDevice): Promise<void> {
  await device.close();
  await isThere(false);
}

async function isThere(isConnected: boolean): Promise<void> {
  await until(`${SCRIPTED} to be ${isConnected ? 'there' : 'gone'}`, async () => {
    const { devices } = await query(await system.bus(), 'registry', 'devices', {});
    const status = devices.find(({ deviceId }) => deviceId === SCRIPTED)?.status;
    return (status === 'connected') === isConnected || undefined;
  });
}

/** A command that did more than it was judged to do; one of which nobody can say what it did; then the device comes and goes. */
async function deviceOfTheNight(): Promise<void> {
  const mismatch = { code: 'POLICY_MISMATCH', message: 'it tried to write to /etc', outcome: 'failed' } as const;
  const onCommand: FakeDeviceOptions['onCommand'] = (command, device) =>
    device.finish(command, { state: 'FAILED', result: null, error: mismatch });
  const device = await scripted({ onCommand });
  await submit('beyond-its-wall', [task('df', 'df', SCRIPTED)]);
  await inbox('a mismatch', has('mismatch'));
  await leaves(device);
  const other = await scripted({ onCommand: (command, self) => self.started(command) });
  await submit('half-done', [task('half', 'half', SCRIPTED)]);
  await until('the command', async () => other.commands.at(0));
  await leaves(other);
  // Its journal was lost with its disk.
  const anew = await scripted({ journalId: 'journal-anew' });
  await inbox('an unknown outcome', has('unknown'));
  await leaves(anew);
  for (let comings = 0; comings < 2; comings++) await leaves(await scripted({ journalId: 'journal-anew' }));
}

/** It counts everything that needs somebody: nothing has happened in this system yet. */
export function testsOfAttention(given: () => TestSystem): void {
  beforeAll(async () => {
    system = given();
    const admin = { tags: [], capabilities: [], tasksMax: 4 };
    ({ token } = await query(await system.bus(), 'registry', 'enroll', { deviceId: SCRIPTED, admin }, PATIENT));
  });
  it('has everything that happened in the night, and says what to type', async () => {
    const bus = await system.bus();
    await submit('did-a-part', [task('good', 'true'), task('bad', 'false')]);
    await submit('failed', [task('bad', 'false')]);
    const asks = await submit('asks', [task('restart', 'systemctl restart nginx')], { judge: 'all' });
    await jetstream(bus).publish(subjects.requests, 'no request');
    const { stream, durable } = DURABLES.plannerRounds;
    await (await jetstreamManager(bus)).consumers.delete(stream, durable);
    await deviceOfTheNight();
    await system.cli('devices', 'hold', SCRIPTED, '--reason', 'it is looked at');
    await submit('stranded', [task('any', 'true', SCRIPTED)]);

    const all = [
      'approval',
      'dead-letter',
      'drift',
      'failed',
      'flapping',
      'mismatch',
      'no-device',
      'partial',
      'unknown',
    ];
    const { entries } = await inbox('all kinds', (seen) => kindsOf(seen).length === all.length);
    expect(kindsOf(entries)).toEqual(all);
    // What is wrong with the system itself is mended last.
    const one = new Map(entries.filter(({ kind }) => kind !== 'drift').map((entry) => [entry.kind, entry.next]));
    const said = await Promise.all(
      [...one.values()].map(async (next) => ({ next, ...(await system.cli(...next.split(' ').slice(1))) })),
    );
    expect(said.filter(({ code }) => code !== 0)).toEqual([]);
    expect(await system.cli('doctor', '--repair')).toMatchObject({ stdout: expect.stringContaining(durable) });
    await inbox('what was answered to be gone', (seen) => !has('approval')(seen) && !has('drift')(seen));
    // What was approved goes on, and where there is no nginx that is one entry more.
    const { outcome } = await system.untilEnd(asks);
    await inbox('what became of it', (seen) => outcome === 'succeeded' || seen.some(({ runId }) => runId === asks));
  });

  it('is the same when who tells it was killed, with what anna and ben have said meanwhile', async () => {
    const { entries } = await inbox('everything', () => true);
    const of = (kind: AttentionKind): AttentionEntry => entries.find((entry) => entry.kind === kind) as AttentionEntry;
    const [mismatch, partial] = [of('mismatch'), of('partial')];
    expect(await system.cli('attention', 'take', mismatch.id, partial.id)).toMatchObject({ code: 0 });
    const settled = await system.cli('attention', 'settle', mismatch.id.slice(0, 6), '--reason', 'nothing was written');
    expect(settled).toMatchObject({ code: 0, stdout: expect.stringContaining('settled by cli') });
    await system.kill9('logging');
    const { entries: after } = await inbox('the last word', (seen) => !has('mismatch')(seen));
    const { console } = await system.endpoints();
    const reply = await fetch(`${console}/v1/attention?kind=partial`, {
      headers: { authorization: `Bearer ${system.token}` },
    });
    expect(await reply.json()).toMatchObject({ entries: [{ id: partial.id, state: 'taken', by: { id: 'cli' } }] });
    const unsaid = (all: readonly AttentionEntry[]) => all.filter(({ id }) => id !== mismatch.id && id !== partial.id);
    expect(unsaid(after)).toEqual(unsaid(entries));
    const { stdout } = await system.cli('status');
    expect(stdout).toMatch(new RegExp(`^attention: ${after.length} need somebody, 1 of them taken on\n`, 'u'));
  });

  it('what is tried again leaves, and what fails again is another entry', async () => {
    const { entries } = await inbox('somebody who tells it', has('failed'));
    const failed = entries.find(({ what }) => what.startsWith('"failed" failed'));
    await system.cli('retry', failed?.runId ?? '', 'bad', '--wait');
    const isAnew = ({ runId, id }: AttentionEntry): boolean => runId === failed?.runId && id !== failed?.id;
    const { entries: after } = await inbox('the new end', (seen) => seen.some(isAnew));
    expect(after.map(({ id }) => id)).not.toContain(failed?.id);
  });
}
