import { ulid } from 'ulid';
import { query } from '#libs/messaging';
import { withSignedBus } from '../../bus/index.js';
import { badInput, EXIT, type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { checkId } from './enroll.runner.js';
import { keysFrom, profileFrom } from './profile-words.js';

export interface SetOptions {
  readonly unset?: readonly string[];
  /** Refused when the profile has another one by now. */
  readonly revision?: number | undefined;
}

/** Says what a device is, in the name of who signs; it wins over what the device says of itself. */
export async function setProfile(
  context: CliContext,
  id: string,
  words: readonly string[],
  { unset: unsetWords = [], revision }: SetOptions,
): Promise<ExitCode> {
  const deviceId = checkId(id, 'a device id');
  const [set, unset] = [profileFrom(words), keysFrom(unsetWords)];
  if (Object.keys(set).length + unset.length === 0)
    throw badInput('Say what is to be changed: key=value, or --unset key. See: orrery devices set --help');
  const both = unset.find((key) => Object.hasOwn(set, key));
  if (both !== undefined) throw badInput(`--unset: ${both} is given a value by the same command`);
  const order = { id: ulid(context.now()), deviceId, set, unset, ...(revision !== undefined && { revision }) };
  const answer = await withSignedBus(context, (nc) => query(nc, 'registry', 'device-set', order));
  if (context.json) return tell(context, { device: deviceId, ...answer });
  const changed = [...Object.keys(set), ...unset].join(', ');
  const done = answer.changed ? `says so now: ${changed}` : 'said so already, and is as it was';
  context.terminal.out(`The profile of ${deviceId} ${done} (revision ${answer.revision})`);
  return EXIT.ok;
}
