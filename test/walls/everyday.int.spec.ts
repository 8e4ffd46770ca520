import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type CommandPolicy, openBashGrammar, openPolicy, type Wall } from '#libs/command-policy';
import { ownPort } from '#libs/testing';
import { parseEveryday } from '../../libs/command-policy/testing/corpus.js';
import { EverydayMachine } from './everyday-machine.js';
import { CLIENTS, type ClientKind, type Ended, type Walled } from './walled.js';

/*
 * A diagnosis must be true: what administrators type all day says the same behind the wall as outside, or it asks. Programs that are not on
 * this machine are not found on both sides.
 */

/** `./orrery test canary` looks behind every wall of every client for each line: by default behind one, in turn. */
const isWhole = process.env['ORRERY_TEST_SUITE'] === 'canary';

const TEXT = readFileSync(join(import.meta.dirname, '../../libs/command-policy/testing/everyday.txt'), 'utf8');
/** What the list does not have, and what a wall could tell wrongly. */
const MORE = [
  'whoami',
  'hostname',
  'ls -l /root',
  'ls -la /',
  'ls /tmp',
  'ls -la /tmp',
  'cat /tmp/orrery-everyday.log',
  'stat /tmp/orrery-everyday.log',
  'ls /dev',
  'ls -l /dev/tty',
  'df /tmp',
  'ps',
  'ps -e',
  'ps -el',
  'ps -u root',
  'pgrep -u root',
  'id',
  'groups',
  'umask',
  'ulimit -a',
  'ulimit -u',
  'cat /proc/mounts',
  'cat /proc/self/mountinfo',
  'cat /proc/net/tcp',
  'cat /proc/sys/kernel/pid_max',
  'sysctl kernel.pid_max',
  'ipcs',
  'netstat -i',
  'stat -c %U /etc/passwd',
  'stat -c %s /etc/passwd',
  'find /etc -maxdepth 1 -user root',
  'find /etc/init.d -ls',
  'du -sh /etc',
  'namei -l /etc/passwd',
  'test -w /etc/passwd',
  'cat /etc/hostname',
  'tty',
  'date +%Y',
];
/** Nobody's number. */
const UID = 65_240 + (process.pid % 50);
/** Lines of one sandbox. */
const TOGETHER = 25;
/** What differs so often does not differ by chance. */
const TIMES = 3;
/** A limit for what hangs: hundreds of lines are run one by one, twice and more, and each ends by itself. */
const HANGS_MS = 900_000;
/** A limit for one line, in seconds: apt takes one of the processor, which can be ten of a busy machine. What ends too early on one side looks like a lie. */
const ENDS_S = 30;
/** Lines that can be shown behind each wall, of all clients at least. */
const LEAST = isWhole ? 120 : 20;

/** Behind root's wall it is somebody else who asks, and that is said truly. */
const OF_ONESELF = /^(?:whoami|id|groups|ps|ls -l \/root)$|^ip route get /u;
/** Programs, connections and files come and go between two looks: of these lists counts what stays. */
const LISTS = /^(?:ps|top|pgrep|pstree|ss|netstat|cat \/proc\/net\/tcp|find \/tmp|ls (?:-la )?\/(?:tmp|dev)$)/u;
/** Of a process that goes on meanwhile. */
const COUNTERS = /^(?:SigQ|(?:non)?voluntary_ctxt_switches):/u;
/** What nobody else on this machine has among the arguments of a process. */
const RESIDENT = String(9_000_000_000 + process.pid);
/** What such a list has for as long as this file is at work. */
let stays: RegExp;

interface Line {
  readonly command: string;
  readonly wall: Wall;
}

const resident = spawn('sleep', [RESIDENT], { stdio: 'ignore' });
const listener = createServer();
let policy: CommandPolicy;
beforeAll(async () => {
  const port = await ownPort();
  await new Promise<void>((resolve) => void listener.listen(port, '127.0.0.1', resolve));
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  stays = new RegExp(`${RESIDENT}|\\bkthreadd\\b|:(?:${port}|${hex})\\b|orrery-everyday-\\w+$|\\b(?:null|shm)$`, 'u');
  policy = openPolicy({}, await openBashGrammar());
});
afterAll(() => {
  resident.kill('SIGKILL');
  listener.close();
});

/** Judged as it stands. */
function unasked(command: string): Line[] {
  const call = { tool: 'EXEC_CLI', arguments: { command } };
  const { decision } = policy.judge(call, undefined);
  if (decision !== 'allow' && decision !== 'log') return [];
  return [{ command, wall: policy.wall(call, undefined) }];
}

/** A client, and the machine on which it is tried. */
interface Tried {
  readonly machine: EverydayMachine;
  readonly walled: Walled;
}

interface Told extends Ended {
  readonly made: string;
}

/** What lines say outside, or behind their wall. */
async function told(
  { machine, walled }: Tried,
  commands: readonly string[],
  wall: Wall | undefined,
): Promise<readonly Told[]> {
  const lines = {
    lines: commands.map((line) => machine.placed(line)),
    shell: '/bin/sh',
    errors: 'dropped',
    seconds: ENDS_S,
  } as const;
  if (wall?.kind !== 'read') machine.make();
  const { ended } = wall === undefined ? await walled.outside(lines) : await walled.behind(lines, wall);
  const made = commands.length === 1 ? machine.now() : '';
  return commands.map((line, at) => ({ ...(ended?.[at] ?? { stdout: 'did not end', exitCode: -1 }), line, made }));
}

/** Undefined: it says the same in one of a few times. What differs from itself outside is compared without its figures. */
async function lieOf(by: Tried, { command, wall }: Line): Promise<unknown> {
  const seen: unknown[] = [];
  for (let time = 0; time < TIMES; time++) {
    const [before] = await told(by, [command], undefined);
    const [inside] = await told(by, [command], wall);
    const [behind] = await told(by, [command], undefined);
    if (before === undefined || inside === undefined || behind === undefined) return command;
    const isChanging = factsOf(before, false) !== factsOf(behind, false);
    const facts = [before, inside, behind].map((one) => factsOf(one, isChanging));
    if (facts[1] === facts[0] || facts[1] === facts[2]) return undefined;
    seen.push({ client: by.walled.client, command, ...differing(facts[0] ?? '', facts[1] ?? '') });
  }
  return seen[0];
}

/** The first lines that only one side has. */
function differing(one: string, other: string): { readonly outside: string[]; readonly inside: string[] } {
  const [outside, inside] = [one.split('\n'), other.split('\n')];
  return {
    outside: outside.filter((line) => !inside.includes(line)).slice(0, 3),
    inside: inside.filter((line) => !outside.includes(line)).slice(0, 3),
  };
}

function factsOf({ line, stdout, exitCode, made }: Told, isChanging: boolean): string {
  const lines = stdout
    .split('\n')
    .filter((one) => !COUNTERS.test(one))
    .map((one) => one.trim().replace(/\s+/gu, ' '));
  const kept = LISTS.test(line)
    ? lines.filter((one) => stays.test(one)).map((one) => one.replace(/ \d+\.\d+(?= )| \d+:\d+(?= )/gu, ''))
    : lines;
  const text = `${exitCode}\n${kept.join('\n')}\n${made}`;
  return isChanging ? text.replaceAll(/[\d.,]+/gu, '#') : text;
}

interface Compared {
  readonly client: ClientKind;
  /** How many lines could be compared. */
  shown: number;
}

/** Of all clients of one user, that share a machine: what is said outside is asked once. Comes back with the lines that say something else behind a wall each time. */
async function compared(
  clients: readonly ClientKind[],
  at: number,
  users: number,
): Promise<{ all: Compared[]; lies: unknown[] }> {
  const machine = new EverydayMachine(UID + at);
  const by: (Tried & Compared)[] = [];
  for (const client of clients) by.push({ machine, client, shown: 0, walled: await machine.walled(client) });
  const lines = [...parseEveryday(TEXT).map(({ command }) => command), ...MORE]
    .flatMap(unasked)
    .filter(({ command }, index) => {
      const isOfOneself = OF_ONESELF.test(command);
      if (clients[0]?.who === 'root' && isOfOneself) return false;
      return isWhole || isOfOneself || index % users === at;
    });
  const showing = (wall: Wall) => by.filter(({ walled }) => walled.shows(wall));
  const alike = Object.groupBy(lines, ({ wall, command }) =>
    wall.kind === 'read' ? wall.views.join() : `write ${command}`,
  );
  const lies: unknown[] = [];
  for (const [index, group] of Object.values(alike)
    .flatMap((some) => chunks(some ?? []))
    .entries()) {
    const [first] = group;
    const all = first === undefined ? [] : showing(first.wall);
    const who = isWhole ? all : all.filter((_, number) => number === index % all.length);
    if (who.length > 0) lies.push(...(await liesOf(who, group)));
  }
  machine.end();
  return { all: by, lies };
}

/** Lines alike that all of these clients show. */
async function liesOf(by: readonly (Tried & Compared)[], group: readonly Line[]): Promise<unknown[]> {
  const [first] = by;
  if (first === undefined) return [];
  const commands = group.map(({ command }) => command);
  const outside = await told(first, commands, undefined);
  const lies: unknown[] = [];
  for (const one of by) {
    one.shown += group.length;
    const inside = await told(one, commands, group[0]?.wall);
    for (const [index, line] of group.entries()) {
      const [before, behind] = [outside[index], inside[index]];
      if (before === undefined || behind === undefined || factsOf(before, false) !== factsOf(behind, false))
        lies.push(await lieOf(one, line));
    }
  }
  return lies.filter((lie) => lie !== undefined);
}

const chunks = (lines: readonly Line[]): Line[][] =>
  Array.from({ length: Math.ceil(lines.length / TOGETHER) }, (_, at) =>
    lines.slice(at * TOGETHER, (at + 1) * TOGETHER),
  );

it(
  'an everyday line that runs unasked says behind a wall what it says outside, to every client',
  async () => {
    const byUser = Object.values(Object.groupBy(CLIENTS, ({ who }) => who));
    const found = await Promise.all(byUser.map((clients, at) => compared(clients, at, byUser.length)));
    expect(found.flatMap(({ lies }) => lies)).toEqual([]);
    const all = found.flatMap((one) => one.all);
    // How many are shown is said by the page about the policy.
    if (process.env['ORRERY_EVERYDAY'] === 'told')
      console.info(all.map(({ client: { kind, who }, shown }) => `${kind}, ${who}: ${shown}`).join('\n'));
    for (const { shown } of all) expect(shown).toBeGreaterThan(LEAST);
  },
  HANGS_MS,
);
