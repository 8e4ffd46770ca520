import { type CommandPolicy, deviceLinks, explain, openBashGrammar, openPolicy, type Wall } from '#libs/command-policy';
import { CANARY } from '../../libs/command-policy/testing/canary-world.js';
import { judgedWrites } from '../../libs/command-policy/testing/judged-writes.js';
import type { CommandWall } from '#proto';
import { ownPaths } from '../../services/device-client/policy/command-gate.js';
import { CanaryMachine, OF_THE_BUS } from './canary-machine.js';
import { type ClientKind, type Ended, Walled } from './walled.js';

/** Lines of one sandbox. */
const TOGETHER = 40;
/** Sandboxes of lines that read, at a time. */
const LANES = 2;
/** Some wait without end: what they would do they have done by then. */
const SECONDS = 1;
/** What zip and sort leave behind when they are ended. */
const FORGOTTEN = /(?:^|\/)(?:zi|sort)\w{6}$/u;
/** Of the small world: what nobody may change without a question. */
const CLOSED = /^(?:system|secret|home\/\.(?:profile|ssh))(?:\/|$)/u;
/** Without a wall a disk is not filled. */
const MODESTLY = 'ulimit -f 32768; ';

/** A line as it is judged on a machine: it runs behind its wall, is told without one, or a person is asked. */
export interface JudgedLine {
  readonly line: string;
  readonly fate: 'asked' | 'told' | 'ran';
  readonly wall: Wall;
}

/** Of what is asked about nobody looks at the wall. */
const ASKED: Wall = { kind: 'none', views: [] };

/** What lets a canary fall, and on which ways it was run. */
export interface Fallen {
  readonly client: ClientKind;
  readonly shell: string;
  readonly lines: readonly string[];
  readonly fallen: readonly string[];
}

/** A client with a machine of its own. */
export class CanaryClient {
  static async open(client: ClientKind, uid: number): Promise<CanaryClient> {
    const machine = await CanaryMachine.open(uid);
    const { work: directory, home } = machine.world;
    const known = JSON.parse(machine.world.policy) as { readonly sensitivePaths: readonly string[] };
    const own = ownPaths({ dataDir: machine.places.data, secretsDir: null });
    const file = JSON.stringify({ ...known, sensitivePaths: [...known.sensitivePaths, ...own] });
    const policy = openPolicy({ file, links: deviceLinks({ directory, home }) }, await openBashGrammar());
    return new CanaryClient(machine, policy, await Walled.open(client, machine.places));
  }

  private constructor(
    readonly machine: CanaryMachine,
    readonly policy: CommandPolicy,
    readonly walled: Walled,
  ) {}

  judged(lines: readonly string[]): JudgedLine[] {
    return this.passed(lines).map((one) => this.seen(one));
  }

  /** What the policy alone says: it is the same for every client on a machine like this. */
  passed(lines: readonly string[]): JudgedLine[] {
    this.machine.world.ready();
    return lines.map((text) => {
      const line = this.machine.placed(text);
      const call = { tool: 'EXEC_CLI', arguments: { command: line } };
      const { decision } = this.policy.judge(call, undefined);
      const isLet = decision === 'allow' || decision === 'log';
      return isLet
        ? { line, fate: 'ran', wall: this.policy.wall(call, undefined) }
        : { line, fate: 'asked', wall: ASKED };
    });
  }

  /** What becomes of a line that passed behind the walls of this client. */
  seen(passed: JudgedLine): JudgedLine {
    const { wall, fate } = passed;
    if (fate !== 'ran' || this.walled.shows(wall)) return passed;
    return { ...passed, fate: wall.onlyTells === true ? 'told' : 'asked' };
  }

  /** What reads runs in company, for it may change nothing; what writes by itself, in a world that is as it was. */
  async behindTheirs(all: readonly JudgedLine[], shell: string): Promise<Fallen[]> {
    const reading = all.filter(({ wall }) => wall.kind === 'read');
    const alike = Object.values(Object.groupBy(reading, ({ wall }) => wall.views.join()));
    const groups = alike.flatMap((lines) => chunks(lines ?? []));
    // Some lines wait for their time to be over: meanwhile others are run.
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      this.#oneByOne(
        groups.filter((_group, number) => number % LANES === lane),
        shell,
      ),
    );
    const found = (await Promise.all(lanes)).flat();
    const writing = all.filter(({ wall }) => wall.kind !== 'read').map((one) => [one]);
    return [...found, ...(await this.#oneByOne(writing, shell))];
  }

  async #oneByOne(groups: readonly (readonly JudgedLine[])[], shell: string): Promise<Fallen[]> {
    const found: Fallen[] = [];
    for (const group of groups) {
      const fallen = await this.#together(group, shell);
      if (fallen.length === 0 || group.length === 1) found.push(...fallen);
      // Who it was is found one by one.
      else for (const one of group) found.push(...(await this.#together([one], shell)));
    }
    return found;
  }

  async #together(group: readonly JudgedLine[], shell: string): Promise<Fallen[]> {
    const [first] = group;
    if (first === undefined) return [];
    const { machine, walled } = this;
    machine.world.ready();
    const written = this.#writtenBy(first);
    const lines = group.map(({ line }) => line);
    const { ended, why, said } = await walled.behind({ lines, shell, errors: 'shown', seconds: SECONDS }, first.wall);
    const changed = machine.world.changed().filter((path) => !FORGOTTEN.test(path) && !isOneOf(written, path));
    const read = (ended ?? unended(lines, said))
      .filter(({ stdout }) => stdout.includes(CANARY))
      .map(({ line }) => line);
    const fallen = [
      ...changed.map((path) => `${path} was changed`),
      ...read.map((line) => `read: ${line}`),
      ...(ended === undefined ? [`it did not end: ${why}`] : []),
    ];
    return fallen.length === 0 ? [] : [{ client: walled.client, shell, lines, fallen }];
  }

  #writtenBy({ line, wall }: JudgedLine): readonly RegExp[] {
    const call = { tool: 'EXEC_CLI', arguments: { command: line } };
    return wall.kind === 'write' ? judgedWrites(explain(this.policy, call), this.machine.world) : [];
  }

  get name(): string {
    const { who, kind } = this.walled.client;
    return `${who}, ${kind}`;
  }

  /** What of lines that run unasked falls without a wall: all that is read, and all that they were not judged to write. */
  async fallingWithout(all: readonly JudgedLine[], shells: readonly [string, string]): Promise<Without[]> {
    const reading = all.filter(({ wall }) => wall.kind === 'read');
    const writing = all.filter(({ wall }) => wall.kind !== 'read');
    const groups = [...chunks(reading), ...writing.map((one) => [one])];
    const found: Without[] = [];
    for (const [number, group] of groups.entries())
      found.push(...(await this.#without(group, shells[number % 2] ?? shells[0])));
    return found;
  }

  async #without(group: readonly JudgedLine[], shell: string): Promise<Without[]> {
    const lines = group.map(({ line }) => line);
    const written = group.slice(0, 1).flatMap((one) => this.#writtenBy(one));
    const fallen = await this.#fallen({ all: lines, shell }, 'unprivileged', (path) => !isOneOf(written, path));
    if (fallen.length === 0 || group.length === 1) return lines.map((line) => ({ line, fallen }));
    // Who it was is found half by half.
    const middle = Math.ceil(group.length / 2);
    const [first, second] = [group.slice(0, middle), group.slice(middle)];
    return [...(await this.#without(first, shell)), ...(await this.#without(second, shell))];
  }

  /** What falls when nobody judges lines: without a wall, as the owner of all files or as root, or behind one. */
  unjudged(
    lines: readonly string[],
    shell: string,
    how: CommandWall | 'unprivileged' | 'root',
    seconds = SECONDS,
  ): Promise<string[]> {
    return this.#fallen({ all: lines, shell, seconds }, how, (path) => CLOSED.test(path));
  }

  async #fallen(
    { all, shell, seconds = SECONDS }: Unjudged,
    how: CommandWall | 'unprivileged' | 'root',
    isClosed: (path: string) => boolean,
  ): Promise<string[]> {
    const { machine, walled } = this;
    machine.world.ready();
    const isOutside = typeof how === 'string';
    const lines = {
      lines: all.map((line) => (isOutside ? MODESTLY + line : line)),
      shell,
      errors: 'shown',
      seconds,
    } as const;
    const { ended, why, said } = isOutside ? await walled.outside(lines, how) : await walled.behind(lines, how);
    const changed = machine.world.changed().filter((path) => !FORGOTTEN.test(path) && isClosed(path));
    const beside = await machine.fallen();
    if (beside.length > 0) await machine.restore();
    const read = (ended ?? unended(all, said)).filter(({ stdout }) => stdout.includes(CANARY));
    return [
      ...changed.map((path) => `${path} was changed`),
      ...beside,
      ...read.map(readOf),
      ...(ended === undefined ? [`it did not end: ${why}`] : []),
    ];
  }
}

interface Unjudged {
  readonly all: readonly string[];
  readonly shell: string;
  /** What one line may take. */
  readonly seconds?: number;
}

/** What fell of a line. */
export interface Without {
  readonly line: string;
  readonly fallen: readonly string[];
}

/** A secret, or the key of which the policy knows nothing. */
export const READ_OF_BUS = 'read the key of the bus: ';
const readOf = ({ line, stdout }: Ended): string =>
  `${stdout.replaceAll(OF_THE_BUS, '').includes(CANARY) ? 'read: ' : READ_OF_BUS}${line}`;

/** Who ends what it runs in may have read something before. */
const unended = (lines: readonly string[], stdout: string): Ended[] => [
  { line: lines.join('\n'), stdout, exitCode: -1 },
];

const isOneOf = (patterns: readonly RegExp[], path: string): boolean => patterns.some((one) => one.test(path));

const chunks = (lines: readonly JudgedLine[]): JudgedLine[][] =>
  Array.from({ length: Math.ceil(lines.length / TOGETHER) }, (_, at) =>
    lines.slice(at * TOGETHER, (at + 1) * TOGETHER),
  );
