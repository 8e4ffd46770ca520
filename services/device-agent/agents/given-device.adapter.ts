import type { Logger } from 'pino';
import { z } from 'zod';
import { Json, ToolInfo, type AgentProfile, type ArtifactRef, type DeviceId } from '#proto';
import { givenValues } from '#libs/constellation';
import type { AgentTask } from '#libs/device-agent';
import { ArtifactError } from '#libs/messaging';
import type { Book } from '#libs/attempt';
import type { Artifacts } from '../inputs/index.js';

/** Devices of which is remembered that what an agent is told of them is stored already. */
const REMEMBERED_MAX = 1_000;

const Given = z.object({
  kind: z.string(),
  os: z.string(),
  arch: z.string(),
  hostname: z.string(),
  tools: z.array(ToolInfo),
  given: z.array(z.tuple([z.string(), Json])).optional(),
});
type Given = z.infer<typeof Given>;

export interface GivenDevice {
  /** Which kind of agent the device has. */
  readonly kind: string;
  readonly device: AgentTask['device'];
  /** Where it is kept; null when it could not be stored. */
  readonly ref: ArtifactRef | null;
}

/** What agents are told of their devices: the profile of the instant when the attempt began, also when it is run again. */
export class GivenDevices {
  readonly #artifacts: Artifacts;
  readonly #logger: Logger;
  readonly #stored = new Map<DeviceId, { readonly json: string; readonly ref: ArtifactRef }>();

  constructor({ artifacts, logger }: { readonly artifacts: Artifacts; readonly logger: Logger }) {
    this.#artifacts = artifacts;
    this.#logger = logger;
  }

  async of({ given }: Book, profile: AgentProfile | undefined, deviceId: DeviceId): Promise<GivenDevice> {
    const recorded = given === null ? null : await this.#read(given);
    const { kind, ...rest } = recorded ?? givenBy(profile);
    const ref = given ?? (await this.#keep(deviceId, JSON.stringify({ kind, ...rest })));
    return { kind, device: { deviceId, ...rest }, ref };
  }

  /** What is gone is replaced by what the device is now: mostly the same, and where it is not, the record is compared. */
  async #read({ sha256 }: ArtifactRef): Promise<Given | null> {
    try {
      return Given.parse(JSON.parse(new TextDecoder().decode(await this.#artifacts.get(sha256))));
    } catch (error) {
      // Who cannot reach the store tries again; what is not there any more does not come back.
      const isGone = error instanceof ArtifactError || error instanceof SyntaxError || error instanceof z.ZodError;
      if (!isGone) throw error;
      this.#logger.warn({ err: error, sha256 }, 'what an agent was told of its device cannot be read');
      return null;
    }
  }

  /** That it could not be stored keeps nobody from working. */
  async #keep(deviceId: DeviceId, json: string): Promise<ArtifactRef | null> {
    const known = this.#stored.get(deviceId);
    if (known?.json === json) return known.ref;
    try {
      const ref = await this.#artifacts.put(new TextEncoder().encode(json));
      if (this.#stored.size >= REMEMBERED_MAX) this.#stored.clear();
      this.#stored.set(deviceId, { json, ref });
      return ref;
    } catch (error) {
      this.#logger.warn({ err: error, deviceId }, 'what an agent is told of its device could not be stored');
      return null;
    }
  }
}

function givenBy(profile: AgentProfile | undefined): Given {
  const { agent: kind = '', os = '', arch = '', hostname = '', tools = [] } = profile ?? {};
  const given = givenValues(profile ?? {});
  return { kind, os, arch, hostname, tools, ...(given.length > 0 && { given }) };
}
