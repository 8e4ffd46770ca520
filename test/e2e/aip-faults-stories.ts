import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { RecordedRunEvent } from '#proto';
import type { Way } from '#libs/testing';
import type { EffectCommand, FaultDevice } from './aip-faults-device.js';
import type { FaultRig } from './aip-faults-rig.js';
import { judged, type Row, withOutcome } from './aip-faults-table.js';
import { until } from './system.js';

/** Commands that a device has room for at once. */
const SLOTS = 4;
const SURVIVAL_TRIES_MAX = 4;
/** How far the bytes of a beginning are gone through: HTTP, REGISTER and its confirmation, RESUME, the first heartbeat. */
const SWEEP: Readonly<Record<Way, { readonly stepBytes: number; readonly bytesMax: number }>> = {
  up: { stepBytes: 150, bytesMax: 2_250 },
  down: { stepBytes: 35, bytesMax: 560 },
};

export type Harm = (device: FaultDevice) => Promise<number | undefined>;

export interface Story {
  /** Its name, also of the run, and of the device it happens to where that is its own. */
  readonly fault: string;
  /** A device that several stories happen to, one after the other. */
  readonly on?: string;
  readonly commands: readonly EffectCommand[];
  /** By number; a device that knows several goes to another one when its own is gone. */
  readonly gateways?: readonly number[];
  /**
   * Called when as many commands are at work as the device takes; resolves when the fault is over, with the instant from
   * which recovery counts when that was before.
   */
  readonly harm?: Harm;
  /** The same, called before the commands are given. */
  readonly lurking?: Harm;
  /** The connection is expected to survive. */
  readonly survives?: boolean;
}

export interface FlappingStory {
  readonly forMs: number;
  readonly upMs: number;
  readonly downMs: number;
  readonly commands: number;
}

/** Some commands that take this long, with ids of their own. */
export const some = (prefix: string, count: number, more: Omit<EffectCommand, 'id'>): EffectCommand[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${prefix}-${index + 1}`, ...more }));

/** What happens to devices, each with its own proxy; every story ends with a row of the table. */
export class FaultStories {
  readonly rows: Row[] = [];
  readonly #rig: FaultRig;

  constructor(rig: FaultRig) {
    this.#rig = rig;
  }

  /** Every command gets its outcome, none is executed twice, and what counts as completed was executed. */
  async tell({ fault, on, commands, gateways = [1], harm, lurking, survives = false }: Story): Promise<Row> {
    const rig = this.#rig;
    const device = await rig.device(on ?? fault, SLOTS, [...gateways]);
    const before = rig.sessionOf(device.id);
    const lurked = lurking?.(device);
    const runId = await rig.give(device, fault, commands);
    if (harm !== undefined) await untilAtWork(device, commands);
    const [harmed, over] = await Promise.all([harm?.(device), lurked]);
    const since = harmed ?? over ?? performance.now();
    const back = survives
      ? undefined
      : await rig.untilSession(device.id, ({ session }) => session?.sessionId !== before, since);
    const fates = await rig.fates(runId);
    const endedMs = performance.now() - since;
    expect(fates.map(({ id }) => id).toSorted()).toEqual(commands.map(({ id }) => id).toSorted());
    const isSame = rig.sessionOf(device.id) === before;
    const effects = await judged(fates, device);
    if (on === undefined) await device.stop();
    return this.#keep({ fault, fates, effects, isSame, backMs: back && back.at - since, endedMs });
  }

  /**
   * The connection survives what happens to it. On a machine that gives a process no time for as long as its peer waits, none does:
   * then it is told again, with commands of other names: what counts as done twice is a name.
   */
  async survived(story: Omit<Story, 'survives'>): Promise<Row> {
    for (let attempt = 1; ; attempt++) {
      const again = attempt === 1 ? '' : `-again-${attempt}`;
      const commands = story.commands.map((command) => ({ ...command, id: `${command.id}${again}` }));
      const row = await this.tell({ ...story, fault: `${story.fault}${again}`, commands, survives: true });
      if (row.isSame === true) return row;
      if (attempt === SURVIVAL_TRIES_MAX) throw new Error(`${story.fault}: no connection survived`);
    }
  }

  /** Commands are given all the time while the line goes down and up again. */
  async flap(fault: string, { forMs, upMs, downMs, commands }: FlappingStory): Promise<Row> {
    const rig = this.#rig;
    const device = await rig.device(fault, SLOTS);
    const runs: string[] = [];
    device.proxy.flap({ upMs, downMs });
    for (let given = 0; given < commands; given += SLOTS) {
      const batch = some(`${fault}-${given}`, Math.min(SLOTS, commands - given), { seconds: 1 });
      runs.push(await rig.give(device, `${fault}-${given}`, batch));
      await sleep((forMs * SLOTS) / commands);
    }
    const { cuts } = device.proxy.stats;
    device.proxy.calm();
    const since = performance.now();
    const back = device.proxy.stats.open > 0 ? undefined : await rig.untilSession(fault, () => true, since);
    const fates = (await Promise.all(runs.map((runId) => rig.fates(runId)))).flat();
    const endedMs = performance.now() - since;
    expect(fates).toHaveLength(commands);
    const effects = await judged(fates, device);
    await device.stop();
    return this.#keep({ fault: `${fault}, ${cuts} cuts`, fates, effects, backMs: back && back.at - since, endedMs });
  }

  /** Nobody gets through until the device is lost; then it comes back, and what it did meanwhile is added to the log. */
  async away(fault: string, commands: readonly EffectCommand[], atLeastMs = 0): Promise<Row> {
    const rig = this.#rig;
    const device = await rig.device(fault, SLOTS);
    const runId = await rig.give(device, fault, commands);
    await untilAtWork(device, commands);
    const [begun, over] = [performance.now(), sleep(atLeastMs)];
    device.proxy.goSilent();
    await Promise.all([rig.untilSeen(fault, ({ status }) => status === 'lost', begun), over]);
    const fates = await rig.fates(runId);
    const effects = await judged(fates, device);
    device.proxy.mend();
    const since = performance.now();
    const back = await rig.untilSession(fault, () => true, since);
    const added = withOutcome(fates, 'device_lost').map((id) =>
      rig.watch.first(({ commit }) => commit.runId === runId && commit.events.some((event) => isLateResult(event, id))),
    );
    await Promise.all(added);
    const endedMs = performance.now() - since;
    expect(await judged(fates, device)).toEqual(effects);
    await device.stop();
    return this.#keep({ fault, fates, effects, backMs: back.at - since, endedMs });
  }

  #keep(row: Row): Row {
    this.rows.push(row);
    return row;
  }
}

const isLateResult = (event: RecordedRunEvent, taskId: string): boolean =>
  event.type === 'RUN_ANNOTATED' && event.data.kind === 'late_result' && event.data.taskId === taskId;

/** Until it does as much of them at once as it has room for. */
async function untilAtWork(device: FaultDevice, commands: readonly EffectCommand[]): Promise<void> {
  const atWork = Math.min(SLOTS, commands.length);
  const ids = new Set(commands.map(({ id }) => id));
  await until('commands at work', async () => {
    const begun = (await device.effects()).filter((id) => ids.has(id));
    return begun.length >= atWork ? true : undefined;
  });
}

/** Silent until both ends have noticed, then mended. */
export async function silentUntilNoticed(rig: FaultRig, device: FaultDevice, ways: readonly Way[]): Promise<number> {
  const since = performance.now();
  device.proxy.goSilent(...ways);
  await rig.untilSeen(device.id, ({ status }) => status === 'suspect', since);
  // One more than before: the device has given up, too, and dials in vain.
  const { taken } = device.proxy.stats;
  await until('a new try of the device', async () => (device.proxy.stats.taken > taken ? true : undefined));
  const mended = performance.now();
  device.proxy.mend();
  return mended;
}

/** Cut off once after so many bytes, then after so many more, and so on: at every place of every exchange that begins a connection. */
export async function cutEverywhere({ proxy }: FaultDevice, way: Way): Promise<undefined> {
  proxy.cut();
  const { stepBytes, bytesMax } = SWEEP[way];
  for (let bytes = stepBytes; bytes <= bytesMax; bytes += stepBytes) {
    await proxy.cutAfter(bytes, { way });
  }
}
