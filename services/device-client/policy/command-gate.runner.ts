import type { Logger } from 'pino';
import type { CommandPolicy, PolicySource, Starts } from '#libs/command-policy';
import { type CommandCall, type CommandOutcome, type CommandWall, UNHELD, wallOn, type WallView } from '#proto';
import { grantedPlaces } from './granted-places.adapter.js';
import {
  type Held,
  heldBehind,
  type JudgedOrder,
  ownPaths,
  ownRefusalOf,
  unknownSecret,
  unknownSecretOutcome,
} from './command-gate.js';
import { endedWithout, EXEC_CLI_DEFINITION } from '../exec/index.js';
import type { SecretStore } from '../secrets/index.js';

export interface CommandGateOptions {
  /** The text of the local policy file; undefined: there is none. */
  readonly localPolicy: string | undefined;
  readonly secrets: Pick<SecretStore, 'refresh' | 'names'> | undefined;
  /** What the client keeps for itself: agents do not read it. The service cannot know where it lies. */
  readonly own?: { readonly dataDir: string; readonly secretsDir: string | null } | undefined;
  /** The programs of its screen that its owner lists: their windows may be worked in, where the local policy does not say which may. */
  readonly applications?: readonly string[] | undefined;
  /** Where commands begin: what their paths lead to is looked at before they run. */
  readonly starts?: Starts | undefined;
  /** What a command behind the wall of this device can be shown; undefined: there is no wall. */
  readonly views?: readonly WallView[] | undefined;
  readonly logger: Logger;
  /** Makes the policy ready; by default with the grammar of bash, which is loaded when it is first needed. */
  readonly open?: (source: PolicySource, starts: Starts | undefined) => Promise<CommandPolicy>;
}

/** What a command has to pass on the device before anything of it is written down. */
export class CommandGate {
  readonly #options: CommandGateOptions;
  /** By where commands begin: the last ones that were asked about. */
  readonly #policies = new Map<string, Promise<CommandPolicy>>();

  constructor(options: CommandGateOptions) {
    this.#options = options;
  }

  /** Undefined: it may run. The same for every repeat, as long as policy and secrets are the same. Never rejects. */
  async refusal(
    call: CommandCall,
    judged: JudgedOrder | undefined,
    workspace?: string,
  ): Promise<CommandOutcome | undefined> {
    return (await this.#byPolicy(call, judged, workspace)) ?? this.#bySecrets(call);
  }

  /** What a command that was not refused is held to; undefined: nothing, or what is usual here. Never rejects. */
  async wallOf(
    call: CommandCall,
    judged: JudgedOrder | undefined,
    workspace?: string,
  ): Promise<CommandWall | undefined> {
    if (!this.#isWalled(call, judged)) return undefined;
    try {
      const held = this.#held(await this.#opened(workspace), call, judged);
      return held.kind === 'held' ? await opened(held.wall) : STRICTEST;
    } catch (error) {
      this.#options.logger.error({ err: error }, 'the policy cannot say which wall fits');
      return STRICTEST;
    }
  }

  #isWalled(call: CommandCall, judged: JudgedOrder | undefined): judged is JudgedOrder {
    return this.#options.views !== undefined && judged !== undefined && call.tool === EXEC_CLI_DEFINITION.name;
  }

  #held(policy: CommandPolicy, call: CommandCall, judged: JudgedOrder): Held {
    return heldBehind(policy.wall(call, undefined), this.#options.views ?? [], judged);
  }

  /** What a relative path means, and which links there are, depends on where a command begins. */
  #opened(workspace: string | undefined): Promise<CommandPolicy> {
    const { localPolicy, own, applications, starts, open = openDefault } = this.#options;
    const directory = workspace ?? '';
    const known = this.#policies.get(directory);
    if (known !== undefined) return known;
    const policy = open(
      { file: localPolicy, sensitivePaths: own === undefined ? [] : ownPaths(own), applications },
      starts === undefined || workspace === undefined ? starts : { ...starts, directory: workspace },
    );
    this.#policies.set(directory, policy);
    const [oldest] = [...this.#policies.keys()].filter((one) => one !== '' && one !== directory);
    if (this.#policies.size > POLICIES_MAX && oldest !== undefined) this.#policies.delete(oldest);
    return policy;
  }

  async #byPolicy(
    call: CommandCall,
    judged: JudgedOrder | undefined,
    workspace: string | undefined,
  ): Promise<CommandOutcome | undefined> {
    const { localPolicy, logger } = this.#options;
    const hasLocal = localPolicy !== undefined;
    if (judged === undefined && !hasLocal) return undefined;
    try {
      const policy = await this.#opened(workspace);
      const held = this.#isWalled(call, judged) ? this.#held(policy, call, judged) : undefined;
      const wall = held === undefined ? WITHOUT : wallOn(policy.wall(call, undefined), this.#options.views ?? []);
      const refusal =
        ownRefusalOf({ verdict: policy.judge(call, undefined), wall, hasLocal }, judged) ??
        (held?.kind === 'refused' ? held.outcome : undefined);
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

/** Workspaces of runs that have commands at a time. */
const POLICIES_MAX = 32;
const STRICTEST: CommandWall = { kind: 'read', views: [] };
const WITHOUT = { ...UNHELD, reason: 'the device has no wall for it' };

/** With the places that are there. */
async function opened(wall: CommandWall): Promise<CommandWall> {
  return wall.writable === undefined ? wall : { ...wall, writable: await grantedPlaces(wall.writable) };
}

/** Loaded when it is needed: many devices never see a command of an agent. */
async function openDefault(source: PolicySource, starts: Starts | undefined): Promise<CommandPolicy> {
  const { deviceLinks, openBashGrammar, openPolicy } = await import('#libs/command-policy');
  const links = starts === undefined ? undefined : deviceLinks(starts);
  return openPolicy({ ...source, links }, await openBashGrammar());
}

/** What nobody could judge does not run. */
const UNJUDGED = endedWithout(
  'FAILED',
  'POLICY_DENIED',
  'the policy of this device cannot be used, so it was not judged',
);
