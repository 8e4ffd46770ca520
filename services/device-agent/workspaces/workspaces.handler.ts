import { setTimeout as wait } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { QueryRefusedError, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { Answers, TakesMessages } from '#libs/platform';
import { COMMAND_REFUSALS, type DeviceId, type RefusalCode } from '#proto';
import { DeviceStates, type GatewayReply } from '../devices/index.js';
import { RunWorkspaces } from './run-workspaces.adapter.js';

/** Whoever asks waits no longer than a moment more. */
const DEVICE_WAIT_MS = 4_000;

/** What people ask of the workspaces on a device. It is asked itself: nobody else knows what lies there. */
@TakesMessages()
export class WorkspacesHandler {
  readonly #workspaces: RunWorkspaces;
  readonly #states: Pick<DeviceStates, 'profile'>;

  constructor(
    @Inject(RunWorkspaces) workspaces: RunWorkspaces,
    @Inject(DeviceStates) states: Pick<DeviceStates, 'profile'>,
  ) {
    this.#workspaces = workspaces;
    this.#states = states;
  }

  @Answers('device-agent', 'workspaces')
  async list({
    deviceId,
  }: QueryRequest<'device-agent', 'workspaces'>): Promise<QueryAnswer<'device-agent', 'workspaces'>> {
    this.#mustBeKnown(deviceId);
    const reply = await inTime<GatewayReply>(this.#workspaces.list(deviceId), { state: 'silent' });
    if (reply.state === 'workspaces') return { workspaces: reply.workspaces, more: reply.more };
    if (reply.state === 'refused') throw refusal(deviceId, reply.code, reply.message);
    throw away(deviceId);
  }

  #mustBeKnown(deviceId: DeviceId): void {
    if (this.#states.profile(deviceId) === undefined) throw refused('NOT_FOUND', `There is no device ${deviceId}.`);
  }
}

const inTime = <T>(said: Promise<T>, late: T): Promise<T> =>
  Promise.race([said, wait(DEVICE_WAIT_MS, late, { ref: false })]);

const refused = (code: RefusalCode, message: string): QueryRefusedError =>
  new QueryRefusedError({ code, message, issues: [] });

const away = (deviceId: DeviceId): QueryRefusedError =>
  refused('TRY_AGAIN', `The device ${deviceId} does not answer: it is away, or busy. Ask again when it is there.`);

const refusal = (deviceId: DeviceId, code: string, message: string): QueryRefusedError =>
  code === COMMAND_REFUSALS.noWorkspaces
    ? refused('INVALID_STATE', `The client of ${deviceId} keeps no workspaces of runs: it is older than they are.`)
    : refused('INVALID_STATE', `The device ${deviceId} does not take it: ${message} (${code}).`);
