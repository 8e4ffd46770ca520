import { isBuiltInUser } from '#libs/messaging';
import { GivenLimits } from '#proto';
import { badInput, tell, type CliContext, type ExitCode } from '../../terminal/index.js';
import { orderOfRegistry } from '../../bus/index.js';
import { connectionsOf } from './bus-keys.adapter.js';
import { actorIdOf, atDesk, elsewhere } from './desk.js';

export interface LimitOptions {
  readonly requestsPerMinute?: number | undefined;
  readonly bytesPerMinute?: number | undefined;
  readonly openRuns?: number | undefined;
  readonly connections?: number | undefined;
  readonly feed?: string | undefined;
}

/** The fact first, then the server: what it lets in has been given to somebody. */
export async function giveLimits(context: CliContext, id: string, options: LimitOptions): Promise<ExitCode> {
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  if (said.length === 0) throw badInput('Say what to give: see orrery people limits --help.');
  const parsed = GivenLimits.safeParse(Object.fromEntries(said));
  if (!parsed.success) {
    throw badInput(
      'Nothing was given.',
      parsed.error.issues.map(({ path, message }) => ({ path: `--${path.join('.')}`, message })),
    );
  }
  const given = parsed.data;
  const actorId = actorIdOf(id);
  if (given.connections !== undefined && isBuiltInUser(id)) {
    throw badInput(
      `The connections of "${id}" come with the installation; add a system of its own: orrery people add --help`,
    );
  }
  return atDesk(context, async (desk) => {
    const changed = await orderOfRegistry(desk, 'people-limits', { actorId, given });
    const isThere = given.connections === undefined || (await connectionsOf(context, actorId, given.connections));
    const words = Object.entries(given).map(([name, value]) => `${name} ${value}`);
    const lines = [`${actorId} ${changed ? 'is given' : 'has'} ${words.join(', ')}`];
    return tell(context, { actorId, given, changed }, [...lines, ...(isThere ? [] : [elsewhere('into')])].join('\n'));
  });
}
