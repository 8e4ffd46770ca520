import { devicesWithoutWall, fleetIfKnown, namedShortly, patienceOf, withBusAt } from '../../bus/index.js';
import { homeOf } from '../../home/index.js';
import { CliError, type CliContext } from '../../terminal/index.js';

/** Nobody waits longer for what is said beside the rest. */
const ANSWER_MS_MAX = 2_000;

/** The devices without a wall around judged commands. */
export interface OpenDevices {
  readonly ids: readonly string[];
  /** For a person; undefined when there are none. */
  readonly sentence: string | undefined;
}

/** Null when the bus or the registry does not say. */
export async function openDevices(context: CliContext, url: string): Promise<OpenDevices | null> {
  const { env, now } = context;
  const usual = patienceOf(context, () => {});
  const patience = {
    ...usual,
    connectMs: Math.min(usual.connectMs, ANSWER_MS_MAX),
    silentMs: Math.min(usual.silentMs, ANSWER_MS_MAX),
  };
  const address = { url, seedFile: homeOf(env).seedFile('cli'), patience, now };
  try {
    const fleet = await withBusAt(address, fleetIfKnown);
    return fleet && told(devicesWithoutWall(fleet));
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

function told(ids: readonly string[]): OpenDevices {
  const sentence = `no wall around judged commands on ${namedShortly(ids)}; what to do says: orrery doctor`;
  return { ids, sentence: ids.length === 0 ? undefined : sentence };
}
