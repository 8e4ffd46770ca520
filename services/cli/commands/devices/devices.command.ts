// The words of `orrery devices` and `orrery clients`.
import { Option } from 'commander';
import { commaList, define, WATCHED, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { ClientOptions } from './clients.runner.js';
import type { ListOptions } from './devices.runner.js';
import type { EnrollOptions } from './enroll.runner.js';
import type { HoldOptions, RevokeOptions } from './orders.runner.js';
import type { SetOptions } from './profile.runner.js';

const orders = () => import('./orders.runner.js');

export function defineDevices(program: CliCommand): void {
  const devices = define(program, 'devices', 'list the devices; show, enrol, hold, release or revoke some', [
    'orrery devices -o wide',
    'orrery devices --json',
    'orrery devices --watch',
  ])
    .option(...WATCHED)
    .addOption(new Option('-o, --output <how>', 'all columns, however long the lines become').choices(['wide']))
    .does(async (context, options: ListOptions) => (await import('./devices.runner.js')).listDevices(context, options));
  define(devices, 'show', 'all that is known of one: what it is, says and can do, and who said so', [
    'orrery devices show web-1',
  ])
    .argument('<id>', 'as listed')
    .does(async (context, id: string) => (await import('./show.runner.js')).showDevice(context, id));
  defineEnroll(devices);
  defineSet(devices);
  define(devices, 'archive', 'make what machines install that are enrolled; "enroll" does so for this platform', [
    'orrery devices archive linux-x64 linux-arm64',
  ])
    .argument('[platform...]', 'linux-x64, linux-arm64')
    .offering('platform', ['linux-x64', 'linux-arm64'])
    .does(async (context, platforms: string[]) => (await import('./offer.client.js')).makeArchive(context, platforms));
  defineOrders(devices);
  define(devices, 'workspaces', 'the directories that runs have on one; those that are kept, and how large they are', [
    'orrery devices workspaces web-1',
  ])
    .argument('<id>', 'as listed; one that is kept goes with "orrery discard"')
    .does(async (context, id: string) => (await import('./workspaces.runner.js')).deviceWorkspaces(context, id));
}

function defineEnroll(devices: CliCommand): void {
  define(devices, 'enroll', 'admit a device, or give it a new credential; prints the lines to paste there', [
    'orrery devices enroll --id web-1 --tags web,eu --url wss://orrery.example.org/ws',
    'orrery devices enroll --id web-1 --url wss://10.0.0.5:5000/ws --ca-file ca.pem',
    'orrery devices enroll --id web-1 --url wss://orrery.example.org/ws --token-file web-1.token',
    'orrery devices enroll --id gpu-1 --os linux --set gpu.memory_gb=80 --set paths.data=/srv/data',
    'orrery devices enroll --id ufo-1 --foreign',
  ])
    .option('--id <id>', 'name of the device; one is made when absent')
    .option('--tags <a,b>', 'for selectors of tasks', commaList, [])
    .option('--capabilities <a,b>', 'beside those the device reports', commaList, [])
    .option('--os <name>', 'the system, whatever the device says: linux, macos, windows')
    .option('--set <key=value>', 'what the device is, as for "devices set"; may be said again', collected)
    .option('--agent <name>', 'kind of agent that does its tasks in words (default LinuxAgent)')
    .option(
      '--url <url>',
      'address of the gateway as the device sees it, ws://... or wss://... (default: ORRERY_AIP_URL)',
    )
    .option('--ca-file <file>', 'authority of the certificate of the gateway (PEM), when machines do not know it')
    .option(
      '--dir <dir>',
      'where the client is installed there (default: /opt/orrery-device, or in the home of the user)',
    )
    .option('--token-file <file>', 'write the token there instead of printing it')
    .option('--foreign', 'a static token that never expires, for clients that can keep no key')
    .changing()
    .does(async (context, options: EnrollOptions) =>
      (await import('./enroll.runner.js')).enrollDevice(context, options),
    );
}

const collected = (text: string, before: readonly string[] = []): string[] => [...before, text];

function defineSet(devices: CliCommand): void {
  define(devices, 'set', 'say what a device is: paths, roles, cards, names of your own; it wins over what it says', [
    'orrery devices set gpu-1 gpu.memory_gb=48 roles=training,batch',
    'orrery devices set db-1 paths.logs=/var/log/postgresql addresses.ip=10.0.0.7',
    'orrery devices set db-1 rack.row=7 --unset preferences.hours',
  ])
    .argument('<id>', 'as listed')
    .argument('[key=value...]', 'a number, true, false, JSON, or a text; known names: docs/operating.md')
    .option('--unset <key>', 'take a name away; may be said again', collected)
    .option('--revision <n>', 'only if the profile still has this revision', wholeFrom(0, Number.MAX_SAFE_INTEGER))
    .changing()
    .does(async (context, id: string, words: string[], options: SetOptions) =>
      (await import('./profile.runner.js')).setProfile(context, id, words, options),
    );
}

function defineOrders(devices: CliCommand): void {
  define(devices, 'hold', 'let nothing new start on devices; what runs there goes on', [
    'orrery devices hold web-1 db-1 --reason "new disks"',
    'orrery devices hold --all',
  ])
    .argument('[id...]', 'as listed')
    .option('--all', 'the whole fleet, with what is enrolled later')
    .option('--reason <text>', 'recorded with it')
    .changing()
    .does(async (context, ids: string[], words: HoldOptions) =>
      (await orders()).holdDevices(context, { ...words, ids }),
    );
  define(devices, 'release', 'let tasks start there again', [
    'orrery devices release web-1',
    'orrery devices release --all',
  ])
    .argument('[id...]', 'as listed')
    .option('--all', 'the whole fleet; what is held alone stays so')
    .changing()
    .does(async (context, ids: string[], words: HoldOptions) =>
      (await orders()).releaseDevices(context, { ...words, ids }),
    );
  define(devices, 'take-over', 'have the screen of a device to yourself; what agents want of it waits', [
    'orrery devices take-over desk-1 --reason "a dialog that nobody knows"',
  ])
    .argument('<id>', 'as listed')
    .option('--reason <text>', 'recorded with it')
    .changing()
    .does(async (context, id: string, words: { reason?: string }) =>
      (await orders()).takeOver(context, { ...words, id }),
    );
  define(devices, 'hand-back', 'give the screen back to agents, which look again before they act', [
    'orrery devices hand-back desk-1',
  ])
    .argument('<id>', 'as listed')
    .changing()
    .does(async (context, id: string) => (await orders()).handBack(context, { id }));
  define(devices, 'revoke', 'end every credential of devices at once, and their connections within two seconds', [
    'orrery devices revoke web-1 --reason "stolen"',
  ])
    .argument('<id...>', 'as listed')
    .option('--reason <text>', 'recorded with it')
    .changing()
    .does(async (context, ids: string[], words: RevokeOptions) =>
      (await orders()).revokeDevices(context, { ...words, ids }),
    );
}

export function defineClients(program: CliCommand): void {
  const clients = define(program, 'clients', 'list, enrol or revoke clients of other systems that send tasks', [
    'orrery clients --json',
  ]).does(async (context) => (await import('./clients.runner.js')).listClients(context));
  define(clients, 'enroll', 'let a client of another system send tasks over AIP, to some devices or to all', [
    'orrery clients enroll --id planner-1 --devices web-1,db-1',
    'orrery clients enroll --id planner-2 --token-file planner-2.token',
  ])
    .option('--id <id>', 'name of the client; one is made when absent')
    .option('--devices <a,b>', 'the devices that it may use; without it every one', commaList, [])
    .option('--url <url>', 'address of the gateway as the client sees it, ws://... or wss://...')
    .option('--token-file <file>', 'write the token there instead of printing it')
    .changing()
    .does(async (context, options: ClientOptions) =>
      (await import('./clients.runner.js')).enrollClient(context, options),
    );
  define(clients, 'revoke', 'end the credentials of clients at once, and their connections within two seconds', [
    'orrery clients revoke planner-1 --reason "not used any more"',
  ])
    .argument('<id...>', 'as listed')
    .option('--reason <text>', 'recorded with it')
    .changing()
    .does(async (context, ids: string[], words: RevokeOptions) =>
      (await orders()).revokeClients(context, { ...words, ids }),
    );
}
