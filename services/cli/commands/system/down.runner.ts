import { homeOf } from '../../home/index.js';
import { type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { supervisorOf, endEverythingLeft, endProcess } from '../../processes/index.js';

/** Longer than a supervisor takes when every part of it uses up its own time. */
const STOP_MS_MAX = 60_000;

/** Stops the system of this home: its supervisor, or what a killed supervisor left behind. Twice is fine. */
export async function down(context: CliContext): Promise<ExitCode> {
  const home = homeOf(context.env);
  const supervisor = await supervisorOf(home);
  if (supervisor !== undefined) await endProcess(supervisor, STOP_MS_MAX);
  const left = await endEverythingLeft(home);
  const stopped = supervisor !== undefined || left;
  return tell(
    context,
    { home: home.root, stopped },
    stopped ? `stopped the system in ${home.root}` : `no system is running in ${home.root}`,
  );
}
