import type { AgentProfile } from '#proto';
import type { CommandPolicy } from '#libs/command-policy';
import { QueryRefusedError, type QueryAnswer, type QueryRequest } from '#libs/messaging';

/** Says what the policy says of a call that an agent would make; nothing is run. */
export class ExplainHandler {
  readonly #policy: CommandPolicy;
  readonly #profile: (deviceId: string) => AgentProfile | undefined;

  constructor(policy: CommandPolicy, profile: (deviceId: string) => AgentProfile | undefined) {
    this.#policy = policy;
    this.#profile = profile;
  }

  async explain({
    deviceId,
    command,
  }: QueryRequest<'device-agent', 'explain'>): Promise<QueryAnswer<'device-agent', 'explain'>> {
    const profile = deviceId === undefined ? undefined : this.#profile(deviceId);
    if (deviceId !== undefined && profile === undefined) {
      throw new QueryRefusedError({ code: 'NOT_FOUND', message: `There is no device ${deviceId}.`, issues: [] });
    }
    const device =
      profile === undefined ? undefined : { deviceId: profile.deviceId, os: profile.os, tags: profile.tags };
    return { verdict: this.#policy.judge(command, device), policyHash: this.#policy.hash };
  }
}
