// The words of `orrery context`.
import { define, type CliCommand } from '../../terminal/index.js';
import type { PlaceOfSystem } from './contexts.runner.js';

const runner = () => import('./contexts.runner.js');

export function defineContexts(program: CliCommand): void {
  const contexts = define(program, 'context', 'several systems by name, and which one commands are about', [
    'orrery context add prod --url nats://bus.example:4222 --seed-file ~/.keys/anna.seed',
    'orrery context use prod',
    'orrery --context prod runs',
  ]);
  define(contexts, 'list', 'which there are; the current one is marked', ['orrery context list --json']).does(
    async (context) => (await runner()).listContexts(context),
  );
  define(contexts, 'add', 'give a system a name', [
    'orrery context add prod --url nats://bus.example:4222 --seed-file ~/.keys/anna.seed',
    'orrery context add second --home /srv/orrery',
  ])
    .argument('<context>', 'a-z, 0-9 and "-"')
    .option('--url <url>', 'address of its bus')
    .option(
      '--seed-file <file>',
      'the key with which that lets you in: a file that only you may read, and that stays there',
    )
    .option('--home <folder>', 'instead, the ORRERY_HOME of a system on this machine')
    .does(async (context, name: string, place: PlaceOfSystem) => (await runner()).addContext(context, name, place));
  define(
    contexts,
    'use',
    'from now on commands are about it, where neither --context nor the environment says otherwise',
    ['orrery context use prod', 'orrery context use default    # none'],
  )
    .argument('<context>', 'as listed, or "default"')
    .does(async (context, name: string) => (await runner()).useContext(context, name));
  define(contexts, 'remove', 'forget the name; the system and the key stay', ['orrery context remove prod'])
    .argument('<context>', 'as listed')
    .does(async (context, name: string) => (await runner()).removeContext(context, name));
}
