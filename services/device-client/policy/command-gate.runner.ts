import type { Logger } from 'pino';
import type { CommandPolicy, PolicySource } from '#libs/command-policy';
import type { CommandCall, CommandOutcome, Judged } from '#proto';
import { ownPaths, ownRefusalOf, unknownSecret, unknownSecretOutcome } from './command-gate.js';
import { deviceLinks, type Starts } from './links.adapter.js';
import { endedWithout } from '../exec/index.js';
import type { SecretStore } from '../secrets/index.js';

export interface CommandGateOptions {
  /** The text of the local policy file; undefined: there is none. */
  readonly localPolicy: string | undefined;
  readonly secrets: Pick<SecretStore, 'refresh' | 'names'> | undefined;
  /** What the client keeps for itself: agents do not read it. The service cannot know where it lies. */
  readonly own?: { readonly dataDir: string; readonly secretsDir: string | null } | undefined;
  /** Where commands begin: what their paths lead to is looked at before they run. */
  readonly starts?: Starts | undefined;
  readonly logger: Logger;
  /** Makes the policy ready; by default with the grammar of bash, which is loaded when it is first needed. */
  readonly open?: (source: PolicySource) => Promise<CommandPolicy>;
}

/** What a command has to pass on the device before anything of it is written down. */
export class CommandGate {
  readonly #options: CommandGateOptions;
  #policy: Promise<CommandPolicy> | undefined;

  constructor(options: CommandGateOptions) {
    this.#options = options;
  }

  /** Undefined: it may run. The same for every repeat, as long as policy and secrets are the same. Never rejects. */
  async refusal(call: CommandCall, judged: Judged | undefined): Promise<CommandOutcome | undefined> {
    return (await this.#byPolicy(call, judged)) ?? this.#bySecrets(call);
  }

  async #byPolicy(call: CommandCall, judged: Judged | undefined): Promise<CommandOutcome | undefined> {
    const { localPolicy, logger, own, starts, open = openDefault } = this.#options;
    const hasLocal = localPolicy !== undefined;
    if (judged === undefined && !hasLocal) return undefined;
    try {
      this.#policy ??= open({
        file: localPolicy,
        sensitivePaths: own === undefined ? [] : ownPaths(own),
        links: starts === undefined ? undefined : deviceLinks(starts),
      });
      const policy = await this.#policy;
      const refusal = ownRefusalOf({ verdict: policy.judge(call, undefined), hasLocal }, judged);
      if (refusal !== undefined)
        logger.warn({ tool: call.tool, code: refusal.error?.code, policy: policy.hash }, 'command refused');
      return refusal;
    } catch (error) {
      logger.error({ err: error }, 'the policy cannot judge');
      return UNJUDGED;
    }
  }

  async #bySecrets(call: CommandCall): Promise<CommandOutcome | undefined> {
    const { secrets, logger } = this.#options;
    if (unknownSecret(call, []) === undefined) return undefined;
    await secrets?.refresh();
    const names = secrets?.names ?? [];
    const unknown = unknownSecret(call, names);
    if (unknown === undefined) return undefined;
    logger.warn({ secret: unknown, known: names }, 'a command wants a secret that is not here');
    return unknownSecretOutcome(unknown);
  }
}

/** Loaded when it is needed: many devices never see a command of an agent. */
async function openDefault(source: PolicySource): Promise<CommandPolicy> {
  const { openBashGrammar, openPolicy } = await import('#libs/command-policy');
  return openPolicy(source, await openBashGrammar());
}

/** What nobody could judge does not run. */
const UNJUDGED = endedWithout(
  'FAILED',
  'POLICY_DENIED',
  'the policy of this device cannot be used, so it was not judged',
);
