import type { DeviceId, DeviceRequest, RunId } from '#proto';
import type { GatewayLink, GatewayReply } from '../devices/index.js';
import type { AttemptCommits } from '../live/index.js';
import { runDevicesOf, type RunDevices } from './run-devices.js';

/** What a device was told of the end of a run. */
export type Forgotten =
  /** It has noted it; or it keeps no workspaces. */
  | { readonly kind: 'noted' }
  /** It is not there, or does not answer. */
  | { readonly kind: 'away' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Workspaces as devices have them, and runs as the log has them. */
export class RunWorkspaces {
  readonly #commits: Pick<AttemptCommits, 'historyOf'>;
  readonly #device: Pick<GatewayLink, 'ask'>;

  constructor(commits: Pick<AttemptCommits, 'historyOf'>, device: Pick<GatewayLink, 'ask'>) {
    this.#commits = commits;
    this.#device = device;
  }

  /** Undefined: there is no such run. */
  async of(runId: RunId): Promise<RunDevices | undefined> {
    const commits = await this.#commits.historyOf(runId);
    return commits.length === 0 ? undefined : runDevicesOf(commits);
  }

  /** Says that the run has ended. A device that has heard of it says so again. */
  async forget(said: Omit<Extract<DeviceRequest, { kind: 'forget' }>, 'kind'>): Promise<Forgotten> {
    const reply = await this.#device.ask({ kind: 'forget', ...said });
    if (reply.state === 'done') return { kind: 'noted' };
    if (reply.state === 'refused') return { kind: 'refused', code: reply.code, message: reply.message };
    return { kind: 'away' };
  }

  list(deviceId: DeviceId): Promise<GatewayReply> {
    return this.#device.ask({ kind: 'workspaces', deviceId });
  }
}
