import { Inject } from '@nestjs/common';
import { QueryRefusedError, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { judgedIn } from '#libs/attempt';
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
    if (profile === undefined) {
      const [verdict, wall] = [policy.judge(command, undefined), policy.wall(command, undefined)];
      return { verdict, policyHash: policy.hash, wall };
    }
    const judged = judgedIn({ policy, profile, deviceId: profile.deviceId, mode: 'policy' }, command);
    return { ...judged, policyHash: policy.hash };
  }
}
