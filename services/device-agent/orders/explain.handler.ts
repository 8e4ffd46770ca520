import { Inject } from '@nestjs/common';
import { QueryRefusedError, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { Answers, TakesMessages } from '#libs/platform';
import { AGENT_KIT, type AgentKit } from '../agents/index.js';
import { DeviceStates } from '../devices/index.js';

/** Says what the policy says of a call that an agent would make; nothing is run. */
@TakesMessages()
export class ExplainHandler {
  readonly #kit: AgentKit;
  readonly #states: DeviceStates;

  constructor(@Inject(AGENT_KIT) kit: AgentKit, @Inject(DeviceStates) states: DeviceStates) {
    this.#kit = kit;
    this.#states = states;
  }

  @Answers('device-agent', 'explain')
  async explain({
    deviceId,
    command,
  }: QueryRequest<'device-agent', 'explain'>): Promise<QueryAnswer<'device-agent', 'explain'>> {
    const { policy } = this.#kit;
    const profile = deviceId === undefined ? undefined : this.#states.profile(deviceId);
    if (deviceId !== undefined && profile === undefined) {
      throw new QueryRefusedError({ code: 'NOT_FOUND', message: `There is no device ${deviceId}.`, issues: [] });
    }
    const device =
      profile === undefined ? undefined : { deviceId: profile.deviceId, os: profile.os, tags: profile.tags };
    return { verdict: policy.judge(command, device), policyHash: policy.hash };
  }
}
