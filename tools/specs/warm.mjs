// Four specs of e2e begin together, each with a system of seven services and two devices. After a build nobody has V8's code of them, and all four would
// compile everything, which takes about 1.6 times the processor time of a start that finds it: one system is started before, and leaves it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SERVICES = ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'planner', 'logging', 'console'];
/** Programs of `dist/services`, with the names under which their code is kept: services, a device, and its tools. */
const PROGRAMS = [
  ...SERVICES.map((service) => [`${service}/main`, `${service}-main`]),
  ['device-client/main', 'device-client-main-join'],
  ['device-client/tools/device-mcp.main', 'device-client-tools-device-mcp.main'],
];
const PORTS = ['NATS', 'POSTGRES', 'CONSOLE', 'AIP', 'MCP'];
const POLL_MS = 100;
/** It only saves time: where it takes more, nobody waits for it. */
const WARM_MS_MAX = 60_000;

/** What V8's code of this build of a program begins with, once a process that had started has left it. */
function headOf(root, program) {
  const code = readFileSync(join(root, `dist/services/${program}.cjs`));
  return `${createHash('sha256').update(code).digest('hex')} started`;
}

function beginsWith(file, head) {
  try {
    const [begun, at] = [Buffer.alloc(head.length), openSync(file)];
    try {
      readSync(at, begun);
    } finally {
      closeSync(at);
    }
    return begun.toString('latin1') === head;
  } catch {
    return false;
  }
}

/** Starts a system whose files lie in `folder`, unless all is there, and ends it when it has left its code. Says whether somebody ended the run. */
export async function warm(root, folder) {
  if (!existsSync(join(root, 'dist/services/cli/main.js'))) return false;
  const heads = PROGRAMS.map(([program, name]) => [
    join(root, `.cache/node-compile/${name}.code`),
    headOf(root, program),
  ]);
  const isWarm = () => heads.every(([file, head]) => beginsWith(file, head));
  if (isWarm()) return false;
  const home = mkdtempSync(join(folder, 'orrery-warm-'));
  chmodSync(home, 0o711); // PostgreSQL of a root user runs as another user and has to get in
  const ports = Object.fromEntries(PORTS.map((name) => [`ORRERY_${name}_PORT`, '0']));
  const child = spawn(process.execPath, [join(root, 'dist/services/cli/main.js'), 'up', '--devices', '1'], {
    stdio: 'ignore',
    env: { ...process.env, ...ports, ORRERY_HOME: home, ORRERY_ROOT: root },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  let isStopped = false;
  const pass = (signal) => {
    isStopped = true;
    child.kill(signal);
  };
  process.on('SIGTERM', pass).on('SIGINT', pass);
  const deadline = performance.now() + WARM_MS_MAX;
  const isOver = () => child.exitCode !== null || child.signalCode !== null || performance.now() > deadline;
  while (!isOver() && !isWarm()) await sleep(POLL_MS);
  child.kill('SIGTERM');
  await ended;
  process.off('SIGTERM', pass).off('SIGINT', pass);
  rmSync(home, { recursive: true, force: true });
  return isStopped;
}
