import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { CommandPolicy } from '#libs/command-policy';
import type { CommandCall, Judged } from '#proto';
import { CommandGate, type CommandGateOptions } from './command-gate.runner.js';

const exec = (command: string, more: object = {}): CommandCall => ({
  tool: 'EXEC_CLI',
  arguments: { command, ...more },
});
const allowed: Judged = { class: 'read', decision: 'allow', rule: 'r' };
const approved: Judged = { class: 'write', decision: 'approve', rule: 'r', approvalId: 'r1.a.1.1.0' };
const LOCAL = `version: 1
rules:
  - { id: no-uptime, match: { program: uptime }, decision: deny, reason: The owner says so. }
tools: { DEPLOY: destructive }
`;

function gate(more: Partial<CommandGateOptions> = {}) {
  let log = '';
  const logger = pino({ level: 'debug' }, { write: (line: string) => void (log += line) });
  const made = new CommandGate({ localPolicy: undefined, secrets: undefined, logger, ...more });
  const code = async (call: CommandCall, judged?: Judged): Promise<string | undefined> =>
    (await made.refusal(call, judged))?.error?.code;
  return { code, made, log: () => log };
}

describe('a command at the gate of a device', () => {
  it('of an agent is judged again, by what is built in', async () => {
    const { code } = gate();
    expect(await code(exec('uptime'), allowed)).toBeUndefined();
    expect(await code(exec('rm -rf --no-preserve-root /'), allowed)).toBe('POLICY_DENIED');
    expect(await code(exec('rm -rf --no-preserve-root /'), approved)).toBe('POLICY_DENIED');
    expect(await code(exec('rm -rf /srv/data'), allowed)).toBe('APPROVAL_REQUIRED');
    expect(await code(exec('rm -rf /srv/data'), approved)).toBeUndefined();
  });

  it('of an agent does not read what the client keeps for itself, wherever that lies', async () => {
    const { code } = gate({ own: { dataDir: '/opt/device', secretsDir: '/opt/keys' } });
    for (const path of ['/opt/keys/db-password', '/opt/keys', '/opt/device/identity.json', '/opt/device/outputs/1'])
      expect(await code(exec(`rev ${path}`), allowed)).toBe('APPROVAL_REQUIRED');
    expect(await code(exec('grep -r . /opt'), allowed)).toBe('APPROVAL_REQUIRED');
    expect(await code(exec('cp identity.json x', { working_directory: '/opt/device' }), allowed)).toBe(
      'APPROVAL_REQUIRED',
    );
    expect(await code({ tool: 'FILE_GET', arguments: { path: '/opt/device/commands.journal' } }, allowed)).toBe(
      'APPROVAL_REQUIRED',
    );
    expect(await code(exec('rev /opt/device/jail/notes'), allowed)).toBeUndefined();
    expect(await code(exec('rev /opt/keys/db-password'))).toBeUndefined();
  });

  it('that a person wrote is not judged where there is no local policy', async () => {
    const { code } = gate({ open: () => Promise.reject(new Error('not needed')) });
    expect(await code(exec('rm -rf --no-preserve-root /'))).toBeUndefined();
  });

  it('meets the local policy, whoever wrote it, and whatever the tool', async () => {
    const { code, made } = gate({ localPolicy: LOCAL });
    expect(await code(exec('uptime'))).toBe('POLICY_DENIED');
    expect(await code(exec('uptime'), approved)).toBe('POLICY_DENIED');
    expect((await made.refusal(exec('uptime'), allowed))?.error?.message).toContain('The owner says so.');
    expect(await code({ tool: 'DEPLOY', arguments: {} }, allowed)).toBe('APPROVAL_REQUIRED');
    expect(await code({ tool: 'DEPLOY', arguments: {} })).toBeUndefined();
  });

  it('acts unasked in the windows that the device lists, by what its agent has seen', async () => {
    const click = (application: string, name = 'File'): CommandCall => ({
      tool: 'click_input',
      arguments: { id: '3', name },
      on: {
        agent: 'AppAgent',
        application,
        window: 'notes',
        control: { id: '3', type: 'MenuItem', name },
        snapshot: 'k.1',
      },
    });
    const { on: _, ...blind } = click('mousepad');
    const { code } = gate({ applications: ['mousepad'] });
    expect(await code(click('mousepad'), allowed)).toBeUndefined();
    expect(await code(blind, allowed)).toBe('APPROVAL_REQUIRED');
    expect(await code(click('mousepad', 'Delete all'), allowed)).toBe('APPROVAL_REQUIRED');
    expect(await code(click('gimp'), allowed)).toBe('APPROVAL_REQUIRED');
    expect(await gate().code(click('mousepad'), allowed)).toBe('APPROVAL_REQUIRED');
    // What its owner has written counts, and not what the screen has beside it.
    const strict = gate({ applications: ['mousepad'], localPolicy: 'version: 1\napplications: []\n' });
    expect(await strict.code(click('mousepad'), allowed)).toBe('APPROVAL_REQUIRED');
  });

  it('sets a path in a dialog unasked where that lies in the directory of its run, and no link leads out of it', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-dialog-')));
    const run = join(root, 'run');
    for (const folder of ['run/out', 'other']) mkdirSync(join(root, folder), { recursive: true });
    symlinkSync(join(root, 'other'), join(run, 'way'));
    symlinkSync(join(root, 'other/target'), join(run, 'link.txt'));
    symlinkSync(join(root, 'other/target'), join(run, 'sum.fods'));
    symlinkSync(run, join(root, 'alias'));
    const { made } = gate({ applications: ['mousepad'], starts: { directory: root, home: root } });
    const code = async (text: string, runDirectory = run, workspace = run): Promise<string | undefined> => {
      const control = { id: '1', type: 'Edit', name: 'Name:' };
      const call: CommandCall = {
        tool: 'set_edit_text',
        arguments: { id: '1', name: 'Name:', text, clear_current_text: true },
        on: { agent: 'AppAgent', application: 'mousepad', window: 'Save As', control, snapshot: 'k.1', runDirectory },
      };
      return (await made.refusal(call, allowed, workspace))?.error?.code;
    };
    expect(await code(`${run}/new.txt`)).toBeUndefined();
    expect(await code(`${run}/out/new.txt`)).toBeUndefined();
    // The device calls its directory by another name, and has said where it lies.
    expect(await code(`${run}/new.txt`, run, join(root, 'alias'))).toBeUndefined();
    for (const name of ['way/new.txt', 'link.txt', 'sum', 'way', '../other/x'])
      expect(await code(`${run}/${name}`)).toBe('APPROVAL_REQUIRED');
    // What its agent says of another directory is nothing.
    expect(await code(`${root}/other/x`, `${root}/other`)).toBe('APPROVAL_REQUIRED');
    expect(await code(`${root}/alias/x`, `${root}/alias`, join(root, 'alias'))).toBe('APPROVAL_REQUIRED');
    rmSync(root, { recursive: true });
  });

  it('is refused when it cannot be judged', async () => {
    const throws: CommandPolicy = {
      hash: 'h',
      judge: () => {
        throw new Error('a bug');
      },
      wall: () => ({ kind: 'none', views: [] }),
    };
    expect(await gate({ open: () => Promise.resolve(throws) }).code(exec('uptime'), allowed)).toBe('POLICY_DENIED');
    expect(await gate({ open: () => Promise.reject(new Error('no grammar')) }).code(exec('uptime'), allowed)).toBe(
      'POLICY_DENIED',
    );
  });

  it('opens of the places that were approved those that are there and lie where they are said to', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-places-')));
    for (const folder of ['app/logs', 'keys']) mkdirSync(join(root, folder), { recursive: true });
    symlinkSync(join(root, 'keys'), join(root, 'way'));
    symlinkSync('logs', join(root, 'app/same'));
    const { made } = gate({ views: [] });
    const writable = ['app', 'way', 'app/same', 'not-there'].map((name) => join(root, name));
    const wall = { kind: 'write', views: [], writable } as const;
    const opened = await made.wallOf(exec('rm -r /srv/data'), { ...approved, wall });
    expect(opened?.writable).toEqual([join(root, 'app'), join(root, 'app/logs')]);
    expect(await made.wallOf(exec('uptime'), { ...allowed, wall })).toEqual({ kind: 'read', views: [] });
    rmSync(root, { recursive: true });
  });

  it('that wants a secret which is not here learns nothing of the others', async () => {
    const secrets = { names: ['db-password'], refresh: () => Promise.resolve(undefined) };
    const { made, code, log } = gate({ secrets });
    const wants = (name: string): CommandCall => exec('true', { env: { A: { secret: name } } });
    expect(await code(wants('db-password'))).toBeUndefined();
    const refusal = await made.refusal(wants('db-pasword'), undefined);
    expect(refusal?.error?.code).toBe('UNKNOWN_SECRET');
    expect(JSON.stringify(refusal)).not.toContain('db-password');
    expect(log()).toContain('"known":["db-password"]');
    expect(await gate().code(wants('any'))).toBe('UNKNOWN_SECRET');
  });
});
