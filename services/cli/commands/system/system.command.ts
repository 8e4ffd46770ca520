// The words with which a person starts, stops and looks at the embedded system.
import { InvalidArgumentError } from 'commander';
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { UpOptions } from '../../processes/index.js';

const DEVICES_MAX = 32;
const REPLICAS_MAX = 16;

export function defineSystem(program: CliCommand): void {
  define(program, 'demo', 'start everything, run a runbook on two local devices, verify it, stop; needs no model', [
    'orrery demo',
  ])
    .stoppingItself()
    .option('--keep', 'keep the data of the system that was started')
    .changing()
    .does(async (context, options: { keep?: boolean }) =>
      (await import('./demo.runner.js')).demo(context, options.keep ?? false),
    );
  define(program, 'up', 'start the embedded system: NATS, PostgreSQL, all services, local devices', [
    'orrery up --devices 2',
    'orrery up --desktop',
    'ORRERY_HOME=/tmp/second ORRERY_CONSOLE_PORT=0 orrery up --replicas orchestrator=3',
  ])
    .stoppingItself()
    .option('--devices <n>', 'local devices to enrol and run (web-1, db-1, dev-3, ...)', wholeFrom(0, DEVICES_MAX), 1)
    .option('--replicas <service=n>', 'several processes of one service; may be repeated', replicas, {})
    .option('--desktop', 'also a device with a screen of its own (desk-1), and a DesktopAgent that works at it')
    .option('--detach', 'return when everything is ready; stop with "orrery down"')
    .changing()
    .does(async (context, options: UpOptions) => (await import('./up.runner.js')).up(context, options));
  define(program, 'down', 'stop the embedded system of ORRERY_HOME', ['orrery down'])
    .changing()
    .does(async (context) => (await import('./down.runner.js')).down(context));
  define(
    program,
    'restart',
    'start a service, a local device, nats or postgres of "up" anew, and wait until it is ready',
    ['orrery restart console', 'orrery restart orchestrator'],
  )
    .argument('<service>', 'its name; of a service with several processes all, one after the other')
    .changing()
    .does(async (context, name: string) => (await import('./restart.runner.js')).restart(context, name));
  define(program, 'status', 'what of the embedded system is running, and where', ['orrery status --json']).does(
    async (context) => (await import('./status.runner.js')).status(context),
  );
}

function replicas(text: string, before: Readonly<Record<string, number>>): Record<string, number> {
  const [, service = '', count = ''] = /^([a-z-]+)=(.*)$/u.exec(text) ?? [];
  if (service === '') throw new InvalidArgumentError('It is written as service=number, for example orchestrator=3.');
  return { ...before, [service]: wholeFrom(1, REPLICAS_MAX)(count) };
}
