import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, type CommandMessage, PARTITIONS, partitionOf, type RunId } from '#proto';
import { query } from '#libs/messaging';
import { FakeDevice } from '#libs/testing';
import { PATIENT, until } from './system.js';

/** Nothing waits for a slot: what is measured is who serves a run, not how busy a device is. */
const TASKS_MAX = 1_000;
/** Commands take up to MS_SPREAD longer than this, each its own time: so that at any instant some have just ended. */
const MS_MIN = 1_000;
const MS_SPREAD = 2_000;

/** What a device did, in the order in which the devices did it. */
export interface Effect {
  readonly what: 'start' | 'end';
  readonly runId: RunId;
  readonly taskId: string;
  readonly attempt: number;
}

/** Devices that do what they are told, as often as they are told, and write it down: no journal hides a second time. */
export class LoadDevices {
  readonly effects: Effect[] = [];
  readonly #devices: FakeDevice[] = [];

  static async connect(nc: NatsConnection, url: string, ids: readonly string[]): Promise<LoadDevices> {
    const all = new LoadDevices();
    const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
    for (const deviceId of ids) {
      const admin = { tags: [], capabilities: [], tasksMax: TASKS_MAX };
      const { token } = await query(nc, 'registry', 'enroll', { deviceId, admin }, PATIENT);
      // A gateway reads the limit when the device connects.
      await until(`the profile of ${deviceId}`, async () => (await profiles.get(deviceId)) ?? undefined);
      const onCommand = (command: CommandMessage, device: FakeDevice): void => all.#execute(command, device);
      all.#devices.push(await FakeDevice.connect({ url, deviceId, token, onCommand }));
    }
    return all;
  }

  async close(): Promise<void> {
    await Promise.all(this.#devices.map((device) => device.close()));
  }

  #execute(command: CommandMessage, device: FakeDevice): void {
    const commandId = command.orrery?.command_id ?? '';
    const [runId = '', taskId = '', attempt] = commandId.split('.');
    const effect = { runId, taskId, attempt: Number(attempt) };
    this.effects.push({ what: 'start', ...effect });
    const end = (): void => {
      this.effects.push({ what: 'end', ...effect });
      device.finish(command, { result: { exit_code: 0, stdout: '' } });
    };
    // Any fixed spread will do, and this hash is at hand.
    setTimeout(end, MS_MIN + MS_SPREAD * (partitionOf(commandId) / PARTITIONS));
  }
}
