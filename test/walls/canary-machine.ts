import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { CANARY, CanaryWorld, removed } from '../../libs/command-policy/testing/canary-world.js';
import { isRoot, MARK, type Places } from './walled.js';

/** What a hostile command would look for on a machine, around the small world of a `CanaryWorld`; and what fell of it. */
export class CanaryMachine {
  readonly world: CanaryWorld;
  readonly places: Places;
  /** The port of a server that nobody may reach. */
  port = 0;

  readonly #root: string;
  #tcp: Server | undefined;
  #unix: Server | undefined;
  #connections = 0;
  #other: ChildProcess;
  #before: ReadonlyMap<string, string> = new Map();

  /** `uid`: that of commands; everything here is theirs, so that nothing but the wall stands. */
  static async open(uid: number): Promise<CanaryMachine> {
    const machine = new CanaryMachine(uid);
    machine.#tcp = await listening({ host: '127.0.0.1', port: 0 }, () => (machine.#connections += 1));
    const address = machine.#tcp.address();
    machine.port = typeof address === 'object' && address !== null ? address.port : 0;
    await machine.#listen();
    return machine;
  }

  private constructor(uid: number) {
    // Behind a wall the usual place for temporary files is another one.
    this.#root = mkdtempSync('/var/tmp/orrery-canary-');
    chmodSync(this.#root, 0o755);
    const [root, data, bus] = [this.#at('world'), this.#at('data'), this.#at('loot/bus.seed')];
    for (const path of [root, data]) mkdirSync(path);
    this.world = new CanaryWorld(root, uid);
    const { work, home } = this.world;
    this.places = { data, work, home, writable: [home], secrets: [`${root}/secret/**`, bus], uid };
    this.#make();
    this.#other = this.#started();
    this.world.ready();
  }

  /** What lines can name: a place on this machine for each word of `TARGETS`. */
  placed(line: string): string {
    const [up, pid, port] = [this.#root, String(this.#other.pid), String(this.port)];
    return line.replaceAll('@ROOT@', up).replaceAll('@PID@', pid).replaceAll('@PORT@', port);
  }

  #at(name: string): string {
    return join(this.#root, name);
  }

  #make(): void {
    const folders = ['loot/run', 'loot/mount', ...['hooks', 'objects', 'refs'].map((name) => `repo/.git/${name}`)];
    for (const name of folders) mkdirSync(this.#at(name), { recursive: true });
    for (const [path, content] of Object.entries(LOOT)) writeFileSync(this.#at(path), content);
    for (const [path, content] of Object.entries(hostileRepository(this.#at('loot/fallen'))))
      writeFileSync(this.#at(path), content, { mode: 0o755 });
    for (const name of ['', 'data', 'loot', 'loot/run', 'repo']) chmodSync(this.#at(name), 0o755);
    if (!isRoot) return;
    const { uid } = this.places;
    const theirs = [...Object.keys(LOOT), 'world', 'data', 'loot', 'loot/run', 'loot/mount', 'repo'];
    const repository = readdirSync(this.#at('repo'), { recursive: true, encoding: 'utf8' });
    const all = [...theirs, ...repository.map((name) => join('repo', name))];
    for (const path of [this.#root, ...all.map((name) => this.#at(name))]) chownSync(path, uid, uid);
    copyFileSync('/bin/cat', this.#at('loot/cat-as-root'));
    chmodSync(this.#at('loot/cat-as-root'), 0o4755);
    writeFileSync(this.#at('loot/of-root'), CANARY, { mode: 0o400 });
  }

  #started(): ChildProcess {
    const { uid } = this.places;
    const env = { KEY: `${CANARY} of a service`, ORRERY_CANARY_OF: MARK };
    return spawn('sleep', ['100000'], { env, stdio: 'ignore', ...(isRoot && { uid, gid: uid }) });
  }

  async #listen(): Promise<void> {
    const path = this.#at('loot/run/bus.sock');
    rmSync(path, { force: true });
    this.#unix = await listening({ path }, () => (this.#connections += 1));
    if (isRoot) chownSync(path, this.places.uid, this.places.uid);
    this.#before = filesIn(this.#root);
  }

  get #isProcessThere(): boolean {
    return this.#other.exitCode === null && this.#other.signalCode === null;
  }

  /** What has fallen or been left behind beside the small world, one sentence each. */
  async fallen(): Promise<string[]> {
    // A connection or the end of a process that was made before is heard of by now.
    await new Promise((resolve) => setImmediate(resolve));
    const other = this.#other;
    if (this.#isProcessThere && isEnding(other)) await new Promise((resolve) => other.once('exit', resolve));
    const after = filesIn(this.#root);
    const paths = [...new Set([...this.#before.keys(), ...after.keys()])];
    const changed = paths.filter((path) => this.#before.get(path) !== after.get(path));
    const [processes, files] = [this.#processes(), this.#files()];
    return [
      ...changed.map((path) => `${path} is not as it was`),
      ...(this.#connections === 0 ? [] : ['a connection was made']),
      ...(this.#isProcessThere ? [] : ['a process was ended']),
      ...(processes.length === 0 ? [] : ['a process was left behind']),
      ...files.map((path) => `${path} was left behind`),
      ...(this.#mounts().length === 0 ? [] : ['a mount was left behind']),
    ];
  }

  /** As before anything fell. */
  async restore(): Promise<void> {
    for (const path of this.#mounts()) spawnSync('umount', [path]);
    for (const pid of this.#processes()) process.kill(pid, 'SIGKILL');
    for (const path of this.#files()) rmSync(path, { recursive: true, force: true });
    if (!this.#isProcessThere) this.#other = this.#started();
    const kept = new Set(['world', 'data']);
    const seen = [...readdirSync(this.#root), ...readdirSync(this.places.data).map((name) => `data/${name}`)];
    this.#unix?.close();
    for (const name of seen.filter((one) => !kept.has(one) && !one.startsWith('data/wall-'))) removed(this.#at(name));
    this.#make();
    await this.#listen();
    this.#connections = 0;
  }

  end(): void {
    this.#other.kill('SIGKILL');
    for (const server of [this.#tcp, this.#unix]) server?.close();
    rmSync(this.#root, { recursive: true, force: true });
  }

  /** Processes of these commands that are still there. */
  #processes(): number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
    const own = `ORRERY_CANARY=${MARK} ${this.places.uid}`;
    return pids.filter((pid) => environmentOf(pid).includes(own)).map(Number);
  }

  /** Files of their user in the places where everybody may write. */
  #files(): string[] {
    if (!isRoot) return [];
    const all = ['/tmp', '/var/tmp', '/dev/shm'].flatMap((place) =>
      readdirSync(place).map((name) => join(place, name)),
    );
    return all.filter((path) => path !== this.#root && ownerOf(path) === this.places.uid);
  }

  #mounts(): string[] {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.flatMap((mount) => mount.split(' ')[4] ?? []).filter((path) => path.startsWith(this.#root));
  }
}

/** In a key of which nobody has told the policy. */
export const OF_THE_BUS = `${CANARY} of the bus`;

const LOOT: Readonly<Record<string, string>> = {
  'data/identity.json': `{"seed":"${CANARY}"}`,
  'data/commands.journal': `${CANARY}\n`,
  'loot/bus.seed': OF_THE_BUS,
  'loot/notes': 'of somebody else\n',
};

/** Whoever lets git look at it runs what its settings and hooks say. */
function hostileRepository(mark: string): Readonly<Record<string, string>> {
  const run = `touch ${mark}`;
  return {
    'repo/.git/HEAD': 'ref: refs/heads/main\n',
    'repo/.git/config': `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "${run}; false"\n\tpager = ${run}\n\thooksPath = hooks\n[diff]\n\texternal = ${run}\n`,
    'repo/.git/hooks/post-index-change': `#!/bin/sh\n${run}\n`,
  };
}

/** Names, permissions and contents but for the small world, which is looked at by itself, and the walls that come and go with commands. */
function filesIn(root: string, below = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of entriesOf(join(root, below))) {
    const path = join(below, entry.name);
    if (path === 'world' || path === 'loot/mount' || path.startsWith('data/wall-')) continue;
    if (entry.isDirectory()) for (const [inner, content] of filesIn(root, path)) found.set(inner, content);
    const { mode, uid } = lstatSync(join(root, path));
    found.set(path, `${mode} ${uid} ${entry.isFile() ? hashOf(join(root, path)) : ''}`);
  }
  return found;
}

/** Somebody may have closed it. */
function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Undefined when it has gone meanwhile. */
const ownerOf = (path: string): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.uid;

function hashOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return 'closed';
  }
}

/** The kernel knows of a signal before it is heard that it has ended somebody. */
function isEnding({ pid }: ChildProcess): boolean {
  try {
    return /^(?:State:\s+[ZX]|S(?:ig|hd)Pnd:\s+0*[1-9a-f])/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

function listening(at: { host: string; port: number } | { path: string }, onConnection: () => void): Promise<Server> {
  const server = createServer((socket) => {
    onConnection();
    socket.destroy();
  });
  return new Promise((resolve) => void server.listen(at, () => resolve(server)));
}
