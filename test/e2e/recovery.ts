import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as during } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { submitRequest } from '#libs/messaging';
import { mountSmallDisk, type SmallDisk } from '#libs/testing';
import { disturbed, expectUndisturbed, fetched, lacking, plan, signal, untilListed } from './outages.js';
import { sendRequest, writeRequest } from './requests.js';
import { run, type TestSystem, until } from './system.js';

/*
 * Outages of the parts of a system, with real processes; docs/reliability.md tells for people what is seen here.
 */

/** Longer than a member may be silent (2 s), and an input unacknowledged (3 s): others would have taken over, had there been any. */
const FROZEN_MS = 3_200;
const DISK_MIB = 48;
/** What a service says that it lacks while the disk is full. */
const FULL = 'storage: It cannot be stored: the disk of nats-server is full.';

/** What happens to the system while a task is at work on a device. */
interface Outage {
  readonly name: string;
  /** Ended with -9, all at once; who keeps them alive starts them again. */
  readonly killed?: readonly string[];
  /** Stopped, and let go on after FROZEN_MS. */
  readonly frozen?: readonly string[];
}

const OUTAGES: readonly Outage[] = [
  { name: 'nats-server is killed', killed: ['nats'] },
  { name: 'the orchestrator and the device-agent are killed at once', killed: ['orchestrator', 'device-agent'] },
  { name: 'the gateway and the registry are killed at once', killed: ['aip-gateway', 'registry'] },
  { name: 'logging, the planner and the console are killed at once', killed: ['logging', 'planner', 'console'] },
  { name: 'nats-server and PostgreSQL are killed at once', killed: ['nats', 'postgres'] },
  { name: 'nats-server is frozen', frozen: ['nats'] },
  {
    name: 'every service is frozen',
    frozen: ['orchestrator', 'device-agent', 'aip-gateway', 'registry', 'logging', 'planner', 'console'],
  },
];

let system: TestSystem;
let disk: SmallDisk | undefined;

/** Gives nats-server of a home a disk of its own, that can be filled; undefined where nothing may be mounted. */
export async function diskOfNats(home: string): Promise<SmallDisk | undefined> {
  const nats = join(home, 'nats');
  await mkdir(nats);
  return mountSmallDisk(nats, { mib: DISK_MIB });
}

async function happens({ killed = [], frozen = [] }: Outage): Promise<void> {
  await signal(system, killed, 'SIGKILL');
  await signal(system, frozen, 'SIGSTOP');
  if (frozen.length > 0) await Promise.all([during(FROZEN_MS), ...(frozen.includes('nats') ? [isTold()] : [])]);
  await signal(system, frozen, 'SIGCONT');
}

/** Who asks how it is while the bus is frozen hears that it does not answer, and that nobody can tell what needs somebody. */
async function isTold(): Promise<void> {
  // With the patience that it has for people.
  const { stdout } = await run(['status', '--json'], { ...system.env, ORRERY_BUS_TIMEOUT: undefined });
  const { parts, attention } = JSON.parse(stdout) as { parts: object[]; attention: { unseen: object[] } };
  expect(parts).toContainEqual(expect.objectContaining({ name: 'nats', state: 'no answer' }));
  expect(attention.unseen).toHaveLength(1);
}

/** In a system with two devices, and the disk of nats-server. */
export function testsOfRecovery(
  given: () => { readonly system: TestSystem; readonly disk: SmallDisk | undefined },
): void {
  beforeAll(() => {
    ({ system, disk } = given());
  });

  describe('while a task is at work', () => {
    it.each(OUTAGES)('$name: the run ends as if nothing had happened, and its effect happened once', async (outage) => {
      const before = await system.pids();
      const view = await disturbed(system, outage.name, () => happens(outage));
      for (const part of outage.killed ?? []) {
        await until(`another ${part}`, async () => ((await system.pids())[part] === before[part] ? undefined : true));
      }
      await untilListed(system, view);
    });
  });

  describe('the disk of nats-server is full', () => {
    it('whoever asks for a run is refused with that reason, and all goes on by itself when there is room', async () => {
      if (disk === undefined) return;
      const full = disk;
      const request = { requestId: 'while-full', constellation: plan(join(system.home, 'while-full.effects')) };
      const file = await writeRequest(system.home, request);
      await disturbed(system, 'full', async () => {
        await full.fill();
        const refused = await until('the refusal', async () => {
          const { error } = await system.json<Refused>('submit', '-f', file);
          return error?.code === 'STORAGE_FULL' ? error : undefined;
        });
        expect(refused).toMatchObject({ exitCode: 4, message: expect.stringContaining('disk of nats-server is full') });
        expect(await asked(request)).toMatchObject({ answer: 'rejected', reason: { code: 'STORAGE_FULL' } });
        expect(await posted(request)).toEqual([507, 'STORAGE_FULL']);
        await until('the fault in what is told of the system', async () => {
          const { storage } = await system.json<{ storage: { fault?: string } }>('status');
          return storage.fault === 'the disk of nats-server is full' || undefined;
        });
        // Each service sees it for itself; one that has no time to answer lacks an answer, and is asked again.
        await until('what every service lacks', async () => {
          const lacks = new Set((await lacking(system)).map((lack) => lack.replace(/^\S+ /u, '')));
          const [lack] = lacks;
          return (lacks.size === 1 && lack === FULL) || undefined;
        });
        await full.free();
      });
      const taken = await until('room for the request', async () => {
        const outcome = await asked(request);
        return outcome.answer === 'accepted' ? outcome.runId : undefined;
      });
      expect(await sendRequest(system, request)).toBe(taken);
      expectUndisturbed(await system.untilEnd(taken));
      await until('every service to be ready', async () => ((await lacking(system)).length === 0 ? true : undefined));
    });
  });

  it('left a log that is verified from end to end', async () => {
    expect(await system.json('verify', '--all')).toMatchObject({ ok: true });
  });
}

interface Refused {
  readonly error?: { readonly code?: string };
}

/** By the bus. */
async function asked(request: object) {
  const seed = (await readFile(join(system.home, 'keys/cli.seed'), 'utf8')).trim();
  return submitRequest(await system.bus(), JSON.stringify(request), { seed, now: Date.now });
}

/** By HTTP: the status and the code. */
async function posted(request: object): Promise<[number, string | undefined]> {
  const answer = await fetched(system, '/v1/requests', { request });
  return [answer.status, ((await answer.json()) as Refused).error?.code];
}
