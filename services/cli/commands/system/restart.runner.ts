import { meantName } from '#proto';
import { homeOf } from '../../home/index.js';
import { supervisorOf } from '../../processes/index.js';
import { askRestart } from '../../system/index.js';
import {
  badInput,
  cleanLine,
  errorCode,
  EXIT,
  failure,
  messageOf,
  printJson,
  type ExitCode,
  unreachable,
  type CliContext,
} from '../../terminal/index.js';

/** Has the supervisor of `up` stop a part of its system and start it anew, and says when that is ready. */
export async function restart(context: CliContext, name: string): Promise<ExitCode> {
  const { env, json, terminal, signal } = context;
  const home = homeOf(env);
  if ((await supervisorOf(home)) === undefined) {
    throw unreachable(
      `No system of "orrery up" is running in ${home.root}. In containers: docker compose restart ${cleanLine(name)}`,
    );
  }
  // Of the machine's own clock: how long it took is said, and never compared with a time of the system.
  const begun = performance.now();
  const answer = await asked(home.doorFile, name, signal);
  if (answer.kind === 'unknown') {
    const meant = meantName(name, answer.names);
    const mean = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw badInput(
      `Nothing of this system is called "${cleanLine(name)}"; there is ${answer.names.join(', ')}.${mean}`,
    );
  }
  if (answer.kind === 'failed')
    throw failure(`${cleanLine(name)} was stopped and is not back: ${answer.message}. See: orrery logs ${name}`);
  const ms = Math.round(performance.now() - begun);
  if (json) printJson(context, { name, ready: true, ms });
  else terminal.out(`${name} is ready again after ${(ms / 1000).toFixed(1)} s`);
  return EXIT.ok;
}

async function asked(file: string, name: string, signal: AbortSignal): ReturnType<typeof askRestart> {
  try {
    return await askRestart(file, name, signal);
  } catch (error) {
    if (signal.aborted) throw failure(`Stopped. ${name} is being started anew all the same; see: orrery status`, error);
    const code = errorCode(error);
    const why =
      code === 'ENOENT' || code === 'ECONNREFUSED'
        ? 'it has no door yet: it is still starting, or its home has a path that is too long for a socket'
        : messageOf(error);
    throw unreachable(`The supervisor cannot be asked at ${file}: ${why}.`, error);
  }
}
