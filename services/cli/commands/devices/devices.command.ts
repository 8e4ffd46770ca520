// The words of `orrery devices` and `orrery clients`.
import type { Command } from 'commander';
import { commaList, define, type RunAction } from '../../terminal/index.js';

interface EnrollWords {
  id?: string;
  tags: string[];
  capabilities: string[];
  url?: string;
  tokenFile?: string;
  foreign?: boolean;
  agent?: string;
}

export function defineDevices(program: Command, run: RunAction): void {
  const devices = define(program, 'devices', 'list the devices; show, enrol, hold, release or revoke some', [
    'orrery devices --json',
  ]).action((_: object, command: Command) =>
    run(command, async (context) => (await import('./devices.runner.js')).listDevices(context)),
  );
  define(devices, 'show', 'all that is known of one: what it is, says and can do, and who said so', [
    'orrery devices show web-1',
  ])
    .argument('<id>', 'as listed')
    .action((id: string, _: object, command: Command) =>
      run(command, async (context) => (await import('./show.runner.js')).showDevice(context, id)),
    );
  defineEnroll(devices, run);
  defineOrders(devices, run);
}

function defineEnroll(devices: Command, run: RunAction): void {
  define(devices, 'enroll', 'admit a device, or give it a new credential; prints the one command to run there', [
    'orrery devices enroll --id web-1 --tags web,eu',
    'orrery devices enroll --id web-1 --url wss://orrery.example.org/ws --token-file web-1.token',
    'orrery devices enroll --id ufo-1 --foreign',
  ])
    .option('--id <id>', 'name of the device; one is made when absent')
    .option('--tags <a,b>', 'for selectors of tasks', commaList, [])
    .option('--capabilities <a,b>', 'beside those the device reports', commaList, [])
    .option('--agent <name>', 'kind of agent that does its tasks in words (default LinuxAgent)')
    .option('--url <url>', 'address of the gateway as the device sees it, ws://... or wss://...')
    .option('--token-file <file>', 'write the token there instead of printing it')
    .option('--foreign', 'a static token that never expires, for clients that can keep no key')
    .action((options: EnrollWords, command: Command) =>
      run(command, async (context) => {
        const { enrollDevice } = await import('./enroll.runner.js');
        const { foreign = false, ...rest } = options;
        const { id, tags, capabilities, url, tokenFile, agent } = rest;
        return enrollDevice(context, { id, tags, capabilities, url, tokenFile, foreign, agent });
      }),
    );
}

function defineOrders(devices: Command, run: RunAction): void {
  define(devices, 'hold', 'let nothing new start on devices; what runs there goes on', [
    'orrery devices hold web-1 db-1 --reason "new disks"',
    'orrery devices hold --all',
  ])
    .argument('[id...]', 'as listed')
    .option('--all', 'the whole fleet, with what is enrolled later')
    .option('--reason <text>', 'recorded with it')
    .action((ids: string[], options: { all?: boolean; reason?: string }, command: Command) =>
      run(command, async (context) => {
        const { holdDevices } = await import('./orders.runner.js');
        return holdDevices(context, { ids, all: options.all ?? false, reason: options.reason });
      }),
    );
  define(devices, 'release', 'let tasks start there again', [
    'orrery devices release web-1',
    'orrery devices release --all',
  ])
    .argument('[id...]', 'as listed')
    .option('--all', 'the whole fleet; what is held alone stays so')
    .action((ids: string[], options: { all?: boolean }, command: Command) =>
      run(command, async (context) => {
        const { releaseDevices } = await import('./orders.runner.js');
        return releaseDevices(context, { ids, all: options.all ?? false });
      }),
    );
  define(devices, 'revoke', 'end every credential of devices at once, and their connections within two seconds', [
    'orrery devices revoke web-1 --reason "stolen"',
  ])
    .argument('<id...>', 'as listed')
    .option('--reason <text>', 'recorded with it')
    .action((ids: string[], { reason }: { reason?: string }, command: Command) =>
      run(command, async (context) => {
        const { revokeDevices } = await import('./orders.runner.js');
        return revokeDevices(context, { ids, reason });
      }),
    );
}

export function defineClients(program: Command, run: RunAction): void {
  const clients = define(program, 'clients', 'list, enrol or revoke clients of other systems that send tasks', [
    'orrery clients --json',
  ]).action((_: object, command: Command) =>
    run(command, async (context) => (await import('./clients.runner.js')).listClients(context)),
  );
  define(clients, 'enroll', 'let a client of another system send tasks over AIP, to some devices or to all', [
    'orrery clients enroll --id planner-1 --devices web-1,db-1',
    'orrery clients enroll --id planner-2 --token-file planner-2.token',
  ])
    .option('--id <id>', 'name of the client; one is made when absent')
    .option('--devices <a,b>', 'the devices that it may use; without it every one', commaList, [])
    .option('--url <url>', 'address of the gateway as the client sees it, ws://... or wss://...')
    .option('--token-file <file>', 'write the token there instead of printing it')
    .action((options: { id?: string; devices: string[]; url?: string; tokenFile?: string }, command: Command) =>
      run(command, async (context) => {
        const { enrollClient } = await import('./clients.runner.js');
        const { id, devices, url, tokenFile } = options;
        return enrollClient(context, { id, devices, url, tokenFile });
      }),
    );
  define(clients, 'revoke', 'end the credentials of clients at once, and their connections within two seconds', [
    'orrery clients revoke planner-1 --reason "not used any more"',
  ])
    .argument('<id...>', 'as listed')
    .option('--reason <text>', 'recorded with it')
    .action((ids: string[], { reason }: { reason?: string }, command: Command) =>
      run(command, async (context) => {
        const { revokeClients } = await import('./orders.runner.js');
        return revokeClients(context, { ids, reason });
      }),
    );
}
