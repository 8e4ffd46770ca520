import { once } from 'node:events';
import { desktopMachine, desktopPlan, type DesktopPlan } from '../../desktop/index.js';
import { homeOf, makeDir } from '../../home/index.js';
import { EXIT, type ExitCode, type CliContext } from '../../terminal/index.js';
import { upDetached, launchOf, EmbeddedSystem, openDoorOf } from '../../system/index.js';
import { lockHome, instancesOf, type UpOptions } from '../../processes/index.js';

/** Starts the system and keeps it alive until Ctrl-C, SIGTERM or `down`. */
export async function up(context: CliContext, options: UpOptions): Promise<ExitCode> {
  instancesOf(options.replicas); // bad input is said before anything is made, and what is missing as well
  const { env } = context;
  const plan = options.desktop ? desktopPlan(await desktopMachine(env['PATH'] ?? '', homeOf(env).root)) : undefined;
  return options.detach ? upDetached(context, options) : upHere(context, options, plan);
}

async function upHere(context: CliContext, options: UpOptions, plan: DesktopPlan | undefined): Promise<ExitCode> {
  const { env, now, signal } = context;
  const home = homeOf(env);
  const launch = launchOf(context);
  await makeDir(home.root, process.getuid?.() === 0 ? 0o711 : 0o700);
  const unlock = await lockHome(home, process.pid, now());
  try {
    let adminToken: string | undefined;
    const showToken = (token: string): void => {
      adminToken = token;
      // At once: who is interrupted before everything is ready could never learn it.
      if (!context.json) launch.say(`admin token, shown only now: ${token}`);
    };
    const { system, endpoints } = await EmbeddedSystem.start({
      ...options,
      desktopPlan: plan,
      home,
      env,
      now,
      signal,
      say: launch.say,
      showToken,
    });
    const closeDoor = await openDoorOf(home.doorFile, system);
    if (closeDoor === undefined)
      launch.say(`${home.doorFile} is too long a path for a socket: "orrery restart" cannot be used`);
    launch.ready({ home: home.root, pid: process.pid, endpoints, ...(adminToken === undefined ? {} : { adminToken }) });
    if (!signal.aborted) await once(signal, 'abort');
    launch.say('stopping');
    await closeDoor?.();
    await system.stop();
    launch.say('stopped');
  } finally {
    await unlock();
  }
  return EXIT.ok;
}
