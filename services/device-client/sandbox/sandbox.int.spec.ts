import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execa } from 'execa';
import { moment } from '#libs/testing';
import { findProgram } from '../testing/programs.js';
import type { CommandWall } from '#proto';
import {
  FILTER_PROGRAM,
  FILTER_PROGRAM_PATH,
  GROUPS,
  type Sandbox,
  SANDBOX_PROGRAMS,
  type SandboxKind,
  SANDBOXES,
  unnamedFile,
  WALL_LIMITS,
} from './index.js';

/*
 * What every wall holds, whoever makes it and whoever the client is: what must not happen is tried for real, and looked at from outside.
 */
/** Limits count all processes of a user: nobody else's are wanted, nor those of another run of this file. */
const NOBODY = 20_000 + (process.pid % 40_000);
const isRoot = process.geteuid?.() === 0;
const CLIENTS = isRoot ? (['root', 'unprivileged'] as const) : (['unprivileged'] as const);
/** What makes it; without perl there is no filter of calls. */
const WAYS = ['bwrap', 'util-linux', 'util-linux without perl'] as const;
type Way = (typeof WAYS)[number];
const CASES = CLIENTS.flatMap((client) => WAYS.map((way) => [way, client] as const));
const READ: CommandWall = { kind: 'read', views: [] };
const WRITE: CommandWall = { kind: 'write', views: [] };
const seeing = (...views: CommandWall['views'][number][]): CommandWall => ({ kind: 'read', views });

/** The networks of this machine. */
const networks = (): string[] => readdirSync('/sys/class/net');
/** Without those that somebody else has taken away meanwhile. */
const stillThere = (before: readonly string[]): string[] => before.filter((name) => networks().includes(name));

describe.each(CASES)('the wall by %s, of a client that is %s', (way, client) => {
  let world: World;
  const ifFiltered = way === 'util-linux without perl' ? it.skip : it;
  beforeAll(async () => {
    world = await canaryWorld(way, client);
  });
  afterAll(() => world.end());

  it('lets a command that reads write nothing but to a place of its own', async () => {
    const { jail, app, outside } = world;
    const lines = [...[jail, app, outside, '/etc', '/var/tmp', '/dev'].map((at) => `: > ${at}/fallen`), 'mkdir fallen'];
    const { stdout } = await world.run(
      `${tries(lines)}; echo mine > /tmp/x && cat /tmp/x; cat ${jail}/given; echo x > /dev/null && pwd; exit 7`,
      READ,
    );
    expect(stdout).toBe(`mine\ngiven\n${jail}\n`);
    expect(await world.run('exit 7', READ)).toMatchObject({ exitCode: 7 });
    expect(await world.fallen()).toEqual([]);
  });

  it('lets a command that writes write where commands work, and nowhere else', async () => {
    const { jail, app, outside } = world;
    const lines = [outside, '/etc', '/var/tmp', '/usr/bin'].map((at) => `: > ${at}/fallen`);
    const { stdout } = await world.run(
      `${tries(lines)}; echo a > made && echo b > ${app}/made && cat made ${app}/made`,
      WRITE,
    );
    expect(stdout).toBe('a\nb\n');
    expect(await readFile(join(jail, 'made'), 'utf8')).toBe('a\n');
    expect(await world.fallen()).toEqual([]);
  });

  it.each([
    ['reads', READ],
    ['writes', WRITE],
    ['sees the machine', seeing('host-processes')],
  ])('shows a command that %s no secret, no key, and none of the data of the client', async (_, wall) => {
    const { data, home, outside } = world;
    const secrets = [`${data}/identity.json`, `${home}/.ssh/id_ed25519`, `${outside}/bus.seed`, '/etc/shadow'];
    const lines = [
      ...secrets.map((path) => `cat ${path}`),
      ...[data, `${home}/.ssh`].map((path) => `ls ${path}`),
      ...secrets.map((path) => `cat /proc/1/root${path}; cat /proc/$PPID/root${path}`),
      `cat /proc/${world.other.pid}/environ; cat /proc/${world.other.pid}/root${outside}/bus.seed`,
      `umount ${home}/.ssh; umount -l ${outside}/bus.seed; chmod 777 ${data} ${home}/.ssh; ls ${data} ${home}/.ssh`,
    ];
    const { stdout, stderr } = await world.run(`${lines.join('; ')}; true`, wall);
    expect(stdout).toBe('');
    expect(stderr).toContain('Permission denied');
  });

  it('lets a command that sees processes look into none: not into the client, a service of its own user, or one of root', async () => {
    const { others, outside } = world;
    const of = (pid: number | undefined): string[] => {
      const at = `/proc/${pid}`;
      const reads = [`${at}/environ`, `${at}/fd/5`, `${at}/root${outside}/bus.seed`, `${at}/cwd/bus.seed`, `${at}/mem`];
      return [
        ...reads.map((path) => `cat ${path}`),
        `readlink ${at}/fd/5`,
        `cat ${at}/maps ${at}/io`,
        `readlink ${at}/exe ${at}/root`,
      ];
    };
    const pids = [process.pid, ...others.map(({ pid }) => pid)];
    const { stdout } = await world.run(
      `${pids.flatMap(of).join('; ')}; ls -d ${pids.map((pid) => `/proc/${pid}`).join(' ')}`,
      seeing('host-processes'),
    );
    expect(stdout.trim().split('\n').sort()).toEqual(pids.map((pid) => `/proc/${pid}`).sort());
  });

  const isBubblewrapOfRoot = client === 'root' && way === 'bwrap';
  (isBubblewrapOfRoot ? it : it.skip)(
    'gives its user away behind the mounts: a uid of bubblewrap is none, and one given before shows wrong owners',
    async () => {
      const { outside } = world;
      const bwrap = await findProgram('bwrap');
      const own = `${outside}/of-root`;
      await writeFile(own, 'SECRET', { mode: 0o600 });
      const line = `cat ${own}; stat -c %u ${own}`;
      const by = (args: readonly string[], user: object): string =>
        spawnSync(bwrap, ['--ro-bind', '/', '/', ...args, '/bin/sh', '-c', line], user).stdout.toString();
      expect(by(['--unshare-user', '--uid', String(NOBODY), '--gid', String(NOBODY)], {})).toMatch(/^SECRET/u);
      expect(by([], asNobody)).toBe('65534\n');
      expect((await world.run(line, READ)).stdout).toBe('0\n');
    },
  );

  it('gives no privileges, and no way to get any', async () => {
    const { stdout } = await world.run(
      'id -u; grep -E "^(CapPrm|CapEff|CapAmb|NoNewPrivs)" /proc/self/status | tr -d "\\t"',
      WRITE,
    );
    const none = '0'.repeat(16);
    expect(stdout).toBe(`${NOBODY}\nCapPrm:${none}\nCapEff:${none}\nCapAmb:${none}\nNoNewPrivs:1\n`);
    const remount = 'mount -o remount,bind,rw /';
    const out = `${world.outside}/fallen`;
    for (const way of [
      `${remount} && : > ${out}`,
      `unshare -Urm sh -c '${remount}; : > ${out}'`,
      `nsenter -t 1 -m -- sh -c ': > ${out}'`,
      `unshare -Urm sh -c 'umount ${world.home}/.ssh; cat ${world.home}/.ssh/id_ed25519 > /tmp/x; ! grep -q . /tmp/x'`,
    ])
      expect((await world.run(`(${way}) 2>/dev/null && echo through`, WRITE)).stdout).not.toContain(
        way.includes('! grep') ? 'SECRET' : 'through',
      );
    expect(await world.fallen()).toEqual([]);
  });

  it('reaches nobody: no listener, no process outside', async () => {
    const { other, port } = world;
    const { stdout } = await world.run(
      `tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "; ls /proc | grep -cx ${other.pid}; kill -9 ${other.pid} 2>/dev/null && echo killed; ` +
        `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo connected; true`,
      WRITE,
    );
    expect(stdout).toBe('lo\n0\n');
    expect({ connections: world.connections(), alive: other.exitCode === null && other.signalCode === null }).toEqual({
      connections: 0,
      alive: true,
    });
  });

  it('shows the processes of the machine to a command that has to see them, and lets it harm none', async () => {
    const { other } = world;
    const seen = await world.run(`ps -p ${other.pid} -o args=; kill -9 ${other.pid} 2>/dev/null && echo killed`, {
      kind: 'read',
      views: ['host-processes'],
    });
    expect(seen.stdout).toBe(spawnSync('ps', ['-p', String(other.pid), '-o', 'args=']).stdout.toString());
    expect(other.signalCode).toBeNull();
  });

  ifFiltered('shows the network of the machine without speaking in it', async () => {
    const { port } = world;
    const hex = port.toString(16).toUpperCase().padStart(4, '0');
    const before = networks();
    const { stdout } = await world.run(
      `ls /sys/class/net; grep -c ":${hex} 00000000:0000 0A" /proc/net/tcp; ` +
        `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo connected; true`,
      seeing('host-network'),
    );
    const [count, ...shown] = stdout.trimEnd().split('\n').toReversed();
    expect(shown).toEqual(expect.arrayContaining(stillThere(before)));
    expect(count).toBe('1');
    expect(world.connections()).toBe(0);
  });

  it('lets a command speak in the network of the machine where somebody has widened its wall so', async () => {
    const [before, connected] = [networks(), world.connections()];
    const { stdout } = await world.run(
      `ls /sys/class/net; bash -c 'exec 3<>/dev/tcp/127.0.0.1/${world.port}' && echo connected; : > fallen`,
      { ...READ, internet: true },
    );
    const [said, ...shown] = stdout.trimEnd().split('\n').toReversed();
    expect(shown).toEqual(expect.arrayContaining(stillThere(before)));
    expect(said).toBe('connected');
    // A program that only looks is let speak as well: one widening does not undo the other.
    await world.run(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${world.port}'`, {
      ...seeing('host-network'),
      internet: true,
    });
    // What the kernel has taken for the listener it hears of in its own time.
    while (world.connections() - connected < 2) await moment();
    expect(await world.fallen()).toEqual([]);
  });

  it('lets one command write to what was added for it, and the next one not', async () => {
    const { outside, app, jail } = world;
    const line = `echo more >> ${outside}/file; echo more >> ${app}/dir/made; cat ${outside}/file ${app}/dir/made; : > ${jail}/fallen; : > ${app}/fallen; : > ${outside}/fallen`;
    const writable = [`${outside}/file`, `${app}/dir`, `${outside}/no/such`];
    expect((await world.run(line, { ...READ, writable })).stdout).toBe('file\nmore\nmore\n');
    expect((await world.run(line, READ)).stdout).toBe('file\nmore\nmore\n');
    expect(await world.fallen()).toEqual([]);
  });

  it.each([
    ['around what is hidden', (at: World) => [at.root, at.outside]],
    ['at what is hidden', (at: World) => [`${at.outside}/bus.seed`, `${at.home}/.ssh`, at.data]],
    ['in what is hidden', (at: World) => [`${at.home}/.ssh/id_ed25519`, `${at.data}/identity.json`, `${at.data}/deep`]],
    [
      'that leads to what is hidden',
      (at: World) => [`${at.outside}/link`, `${at.outside}/../data`, `${at.data}/./deep/`],
    ],
    ['that is the machine', () => ['/', '/proc', '/sys', '/dev', '/tmp', '/dev/shm/..']],
  ])('uncovers nothing with a place to write %s', async (_, placesOf) => {
    const { data, home, outside, root } = world;
    const secrets = [`${data}/identity.json`, `${home}/.ssh/id_ed25519`, `${outside}/bus.seed`, '/etc/shadow'];
    const lines = [
      ...secrets.map((path) => `cat ${path}`),
      `cat ${outside}/link/identity.json; ls ${data} ${home}/.ssh; mv ${home}/.ssh ${home}/ssh; rm -rf ${outside}/bus.seed`,
      `mv ${home} ${root}/house; mv ${data} ${root}/information; mv ${data}/deep ${data}/shallow; ln ${outside}/bus.seed ${outside}/seed`,
      `cat ${home}/ssh/* ${root}/house/.ssh/* ${root}/information/*.json ${outside}/seed; echo x > ${data}/fallen`,
    ];
    const wall = { ...WRITE, writable: placesOf(world) };
    expect(await world.run(lines.join('; '), wall)).toMatchObject({ stdout: '' });
    // What was moved would be uncovered for who comes next.
    expect(await world.run(lines.join('; '), wall)).toMatchObject({ stdout: '' });
    expect((await readdir(root)).sort()).toEqual(['app', 'data', 'home', 'outside']);
    expect(await world.fallen()).toEqual([]);
  });

  it('ends everything that a command has started, also what left its session and its environment', async () => {
    const mark = `6${process.pid}${way.length}${client.length}`;
    await world.run(`env -i setsid -f sleep ${mark}; (setsid sleep ${mark} &) ; sleep 0.05`, WRITE);
    expect(spawnSync('pgrep', ['-fx', `sleep ${mark}`]).stdout.toString()).toBe('');
  });

  it('ends what grows without end', async () => {
    const { jail } = world;
    const { stdout } = await world.run(
      `head -c 3000000 /dev/zero > big 2>/dev/null; stat -c %s big; rm big; ` +
        `head -c 3000000 /dev/zero > /tmp/big 2>/dev/null; test "$(stat -c %s /tmp/big)" -le 1048576 && echo small; ulimit -t`,
      WRITE,
    );
    expect(stdout).toBe('1048576\nsmall\n60\n');
    // The bomb is lit beside the shell that counts: what the kernel refuses that one is always heard.
    const bomb = await world.run(
      `f() { f | f & }; (f) 2>/dev/null; i=0; while [ $i -lt 120 ]; do sleep 30 & i=$((i+1)); done`,
      WRITE,
    );
    expect(bomb.stderr).toMatch(/fork|Resource/u);
    expect((await readdir(jail)).includes('big')).toBe(false);
  });

  ifFiltered('kills who calls the kernel for a way out', async () => {
    expect(await world.run('mount -t tmpfs none /tmp', WRITE)).toMatchObject({ exitCode: 159 });
  });

  it('starts nothing of its own with what was given to the command', async () => {
    const { outside, jail } = world;
    const wrote = async (): Promise<string[]> =>
      (await Promise.all([outside, jail].map((path) => readdir(path))))
        .flat()
        .filter((name) => name.startsWith('loaded'));
    // The loader of programs writes there as whom it works for: before the wall stands, that is the client.
    const given = { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: `${outside}/loaded`, LD_PRELOAD: `${jail}/no.so` };
    const { stdout } = await world.run('echo "$LD_DEBUG $LD_PRELOAD"', READ, { given });
    // Where it may not write there, it says on the output of the command what it says.
    expect(stdout.endsWith(`libs ${jail}/no.so\n`)).toBe(true);
    expect(await wrote()).toEqual([]);
    await world.run(':', WRITE, { given: { ...given, LD_DEBUG_OUTPUT: `${jail}/loaded` } });
    expect(await wrote()).not.toEqual([]);
  });

  it('passes input, environment and output on, and nothing of its own', async () => {
    const names = 'env | cut -d= -f1 | grep -v "^PWD$\\|^OLDPWD$\\|^_$" | sort; test -e /proc/self/fd/3 || echo none';
    const { stdout, stderr } = await world.run(`cat; echo "$GIVEN"; echo err >&2; ${names}`, READ, { input: 'in\n' });
    expect({ stdout, stderr }).toEqual({
      stdout: ['in', 'value', ...Object.keys(ENVIRONMENT), 'none', ''].join('\n'),
      stderr: 'err\n',
    });
  });
});

/** With what would have a program of the wall say or load something. */
const ENVIRONMENT = {
  GIVEN: 'value',
  LC_ALL: 'xx_YY.UTF-8',
  PATH: process.env['PATH'] ?? '',
  PERL5OPT: '-Mnonesuch',
} as const;

/** Each by itself: what fails must not keep the next from being tried. */
const tries = (lines: readonly string[]): string => lines.map((line) => `(${line}) 2>/dev/null`).join('; ');

interface World {
  readonly root: string;
  readonly jail: string;
  readonly app: string;
  readonly outside: string;
  readonly data: string;
  readonly home: string;
  readonly other: ChildProcess;
  /** Of the user of the commands, and of who runs the tests; each holds a secret open, and has one in its environment. */
  readonly others: readonly ChildProcess[];
  readonly port: number;
  run(command: string, wall: CommandWall, more?: More): Promise<Ended>;
  fallen(): Promise<string[]>;
  connections(): number;
  end(): Promise<void>;
}

interface More {
  readonly input?: string;
  /** Variables that come with the command. */
  readonly given?: Readonly<Record<string, string>>;
}

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

/** A machine in small: what a hostile command would look for. */
async function canaryWorld(way: Way, client: 'root' | 'unprivileged'): Promise<World> {
  const kind: SandboxKind = way === 'bwrap' ? 'bwrap' : 'util-linux';
  // Behind a wall the usual places for temporary files are other ones.
  const root = await realpath(await mkdtemp('/var/tmp/orrery-wall-'));
  await chmod(root, 0o755);
  const dir = (name: string): string => join(root, name);
  const [data, home, app, outside] = [dir('data'), dir('home'), dir('app'), dir('outside')];
  const jail = join(data, 'deep', 'jail');
  for (const directory of [jail, join(data, 'wall', 'root'), join(home, '.ssh'), app, outside]) {
    await mkdir(directory, { recursive: true });
  }
  const files = [join(data, 'identity.json'), join(home, '.ssh', 'id_ed25519'), join(outside, 'bus.seed')];
  for (const file of files) await writeFile(file, 'SECRET');
  await writeFile(join(jail, 'given'), 'given\n');
  await writeFile(join(outside, 'file'), 'file\n');
  await mkdir(join(app, 'dir'));
  await symlink(data, join(outside, 'link'));
  const closedFile = join(data, 'wall', 'closed');
  await writeFile(closedFile, '', { mode: 0o000 });
  // An enemy gets every permission that the wall does not take: only the wall stands.
  if (isRoot) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, root]);
  await chmod(outside, 0o777);
  if (isRoot && client === 'root') await chown(closedFile, 0, 0);
  const other = spawn('sleep', ['1000'], { env: { KEY: 'SECRET' }, stdio: 'ignore', ...asNobody });
  const holding = ['-c', `exec 5<bus.seed; exec sleep 1000`];
  const others = [asNobody, {}].map((as) =>
    spawn('/bin/sh', holding, { env: { KEY: 'SECRET' }, cwd: outside, stdio: 'ignore', ...as }),
  );
  let connections = 0;
  const server = await listening(() => connections++);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const programs: Record<string, string> = {};
  for (const name of SANDBOX_PROGRAMS[kind]) programs[name] = await findProgram(name);
  if (way === 'util-linux') programs[FILTER_PROGRAM] = FILTER_PROGRAM_PATH;
  const isOther = client === 'root';
  const sandbox: Sandbox = {
    kind,
    programs,
    commands: 'all',
    writable: [app],
    network: false,
    closedFile,
    rootDir: join(data, 'wall', 'root'),
    user: { name: 'nobody', uid: isRoot ? NOBODY : (process.geteuid?.() ?? 0), gid: NOBODY, home: jail, isOther },
    limits: { ...WALL_LIMITS, processes: 40, fileMb: 1, cpuSeconds: 60, tmpMb: 1 },
    hidden: [
      { path: data, is: 'passage' },
      { path: join(home, '.ssh'), is: 'directory' },
      { path: join(outside, 'bus.seed'), is: 'file' },
    ],
  };
  return {
    root,
    jail,
    app,
    outside,
    data,
    home,
    other,
    others,
    port,
    async run(command, wall, { input = '', given = {} } = {}) {
      const {
        file,
        args,
        env,
        input: bytes,
      } = await SANDBOXES[kind].confine(sandbox, {
        command,
        cwd: jail,
        jailDir: jail,
        wall,
        group: GROUPS.from + Math.trunc(performance.now()),
        env: { ...ENVIRONMENT, ...given },
        given: ['GIVEN', 'PERL5OPT', ...Object.keys(given)],
      });
      const table = bytes && (await unnamedFile(join(data, 'wall'), bytes));
      if (isRoot) await table?.chown(isOther ? 0 : NOBODY, 0);
      const ended = execa(file, args, {
        cwd: jail,
        env,
        extendEnv: false,
        stdio: [Buffer.from(input), 'pipe', 'pipe', ...(table === undefined ? [] : [table.fd as 3])],
        stripFinalNewline: false,
        reject: false,
        detached: true,
        timeout: 20_000,
        ...(!isOther && asNobody),
      });
      await table?.close();
      const { stdout, stderr, exitCode } = await ended;
      return { stdout, stderr, exitCode };
    },
    async fallen() {
      const places = [root, jail, app, outside, '/etc', '/var/tmp', '/dev', '/usr/bin'];
      const names = await Promise.all(places.map((place) => readdir(place)));
      return names.flat().filter((name) => name === 'fallen');
    },
    connections: () => connections,
    async end() {
      for (const one of [other, ...others]) one.kill('SIGKILL');
      server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const asNobody = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

function listening(onConnection: () => void): Promise<Server> {
  const server = createServer((socket) => {
    onConnection();
    socket.destroy();
  });
  return new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(server)));
}
