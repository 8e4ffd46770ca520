// The words of `orrery people`.
import { LIMITS, Role } from '#proto';
import { commaList, define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { LimitOptions } from './limits.runner.js';
import type { AddOptions, KeyOptions, LoginOptions, RoleOptions } from './people.runner.js';

const runner = () => import('./people.runner.js');

export function definePeople(program: CliCommand): void {
  const people = define(program, 'people', 'who may do what: people and other systems, their roles and keys', [
    'orrery people',
    'orrery people add anna --roles requester,approver --key',
  ]).does(async (context) => (await runner()).listPeople(context));
  define(people, 'list', 'everybody who is known', ['orrery people list --json']).does(async (context) =>
    (await runner()).listPeople(context),
  );
  define(people, 'show', 'one of them, with keys, logins and tokens', ['orrery people show anna'])
    .argument('<id>')
    .does(async (context, id: string) => (await runner()).showPerson(context, id));
  define(people, 'add', 'make somebody known; with --key the bus lets him in, too', [
    'orrery people add anna --roles requester,approver --key',
    'ORRERY_NATS_SEED_FILE=~/.orrery/keys/people/anna.seed orrery submit fleet-health',
    'orrery people add billing --system --key',
  ])
    .argument('<id>', 'a-z, 0-9, "_" and "-", at most 63')
    .option('--roles <a,b>', 'viewer, requester, approver, operator, auditor, admin', commaList, [])
    .offering('--roles', Role.options)
    .option('--kind <kind>', 'person, system or external', 'person')
    .offering('--kind', ['person', 'system', 'external'])
    .option('--system', 'another system, which asks for runs: --kind external --roles requester')
    .option('--namespace <name>', 'whose its requests are; its own id when absent')
    .option('--key', 'make a key of the bus, in a file of the home that only its owner reads')
    .option('--public-key <key>', 'a key that was made elsewhere, U...')
    .changing()
    .does(async (context, id: string, options: AddOptions) => (await runner()).addPerson(context, id, options));
  define(people, 'role', 'give or take roles', [
    'orrery people role anna --give operator',
    'orrery people role anna --take approver,operator',
  ])
    .argument('<id>')
    .option('--give <a,b>', 'roles', commaList, [])
    .offering('--give', Role.options)
    .option('--take <a,b>', 'roles', commaList, [])
    .offering('--take', Role.options)
    .changing()
    .does(async (context, id: string, options: RoleOptions) => (await runner()).changeRoles(context, id, options));
  define(people, 'limits', 'give an external system more than each has, or less', [
    'orrery people limits billing --requests-per-minute 600 --open-runs 50',
    'orrery people limits billing --connections 40',
    'orrery people limits external --feed all',
  ])
    .argument('<id>')
    .option(
      '--requests-per-minute <n>',
      'that are taken; more are refused, and may come again',
      wholeFrom(1, LIMITS.givenMax),
    )
    .option('--bytes-per-minute <n>', 'of its requests', wholeFrom(1, LIMITS.givenMax))
    .option('--open-runs <n>', 'that have not ended', wholeFrom(1, LIMITS.givenMax))
    .option('--connections <n>', 'at a time', wholeFrom(1, LIMITS.externalConnectionsGivenMax))
    .option('--feed <share>', 'own: of its own runs; all: of those of everybody')
    .offering('--feed', ['own', 'all'])
    .changing()
    .does(async (context, id: string, options: LimitOptions) =>
      (await import('./limits.runner.js')).giveLimits(context, id, options),
    );
  define(people, 'key', 'one more key of the bus for somebody, or one less', [
    'orrery people key anna',
    'orrery people key anna --public-key UABC…',
    'orrery people key anna --revoke UABC… --reason "laptop stolen"',
  ])
    .argument('<id>')
    .option('--public-key <key>', 'a key that was made elsewhere')
    .option('--revoke <key>', 'it counts no more, and its connections end')
    .option('--reason <text>', 'recorded with it')
    .changing()
    .does(async (context, id: string, options: KeyOptions) => (await runner()).changeKey(context, id, options));
  define(people, 'login', 'bind a login of an identity provider to somebody, or unbind it', [
    'orrery people login anna --issuer https://login.example.org --subject 2482',
    'orrery people login anna --issuer https://login.example.org --subject 2482 --unbind',
  ])
    .argument('<id>')
    .requiredOption('--issuer <url>', 'as its ID tokens name it')
    .requiredOption('--subject <text>', 'as its ID tokens name him')
    .option('--unbind', 'he logs in with it no more')
    .changing()
    .does(async (context, id: string, options: LoginOptions) => (await runner()).changeLogin(context, id, options));
  define(people, 'revoke', 'end all keys, tokens and logins of somebody, for good', [
    'orrery people revoke anna --reason "left the company"',
  ])
    .argument('<id>')
    .option('--reason <text>', 'recorded with it')
    .changing()
    .does(async (context, id: string, { reason }: { reason?: string }) =>
      (await runner()).revokePerson(context, id, reason),
    );
}
