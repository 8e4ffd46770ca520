// The words of `orrery settings`.
import { InvalidArgumentError } from 'commander';
import { define, type CliCommand } from '../../terminal/index.js';
import { SETTLED, type SettledService } from './settled.js';
import type { SettingsOptions } from './settings.runner.js';

const OF_ONE = ['--service <name>', `of this one alone: ${SETTLED.join(', ')}`] as const;

export function defineSettings(program: CliCommand): void {
  const settings = define(
    program,
    'settings',
    'what the services were started with: policy and its rules, prompts by their hashes, models without secrets',
    [
      'orrery settings',
      'orrery settings --service planner --json',
      'orrery settings prompt device-agent/linux-agent.yaml',
    ],
  )
    .option(...OF_ONE, serviceFrom)
    .offering('--service', SETTLED)
    .does(async (context, options: SettingsOptions) =>
      (await import('./settings.runner.js')).showSettings(context, options),
    );
  define(settings, 'prompt', 'the text of a file of prompts, as it was loaded', [
    'orrery settings prompt device-agent/linux-agent.yaml',
    'orrery settings prompt 3f9a01c2 --json',
  ])
    .argument('<file>', 'as listed, or the beginning of its SHA-256')
    .does(async (context, file: string) => (await import('./prompt.runner.js')).showPrompt(context, file));
}

function serviceFrom(text: string): SettledService {
  const found = SETTLED.find((service) => service === text);
  if (found === undefined) throw new InvalidArgumentError(`There is ${SETTLED.join(', ')}.`);
  return found;
}
