import { randomInt, randomUUID } from 'node:crypto';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa, type Options } from 'execa';
import { SENSITIVE_PATHS } from '#libs/command-policy';
import type { CommandWall } from '#proto';
import { CANARY } from '../../libs/command-policy/testing/canary-world.js';
import {
  FILTER_PROGRAM,
  FILTER_PROGRAM_PATH,
  GROUPS,
  hiddenPlaces,
  type Sandbox,
  SANDBOX_PROGRAMS,
  type SandboxKind,
  SANDBOXES,
  unnamedFile,
  viewsBehind,
  WALL_LIMITS,
} from '../../services/device-client/sandbox/index.js';
import { findProgram } from '../../services/device-client/testing/programs.js';

export const isRoot = process.geteuid?.() === 0;

/** Who the client is: root, who gives its user away behind the wall, or somebody who is nobody special. */
export type Who = 'root' | 'unprivileged';
export interface ClientKind {
  readonly who: Who;
  readonly kind: SandboxKind;
}

/** Every client that can be tried here. */
export const CLIENTS: readonly ClientKind[] = (
  isRoot ? (['root', 'unprivileged'] as const) : (['unprivileged'] as const)
).flatMap((who) => (['bwrap', 'util-linux'] as const).map((kind) => ({ who, kind })));

export interface Places {
  /** What the client keeps for itself. */
  readonly data: string;
  readonly work: string;
  readonly home: string;
  /** Where its owner lets commands write as well. */
  readonly writable: readonly string[];
  /** Patterns of what holds secrets, beside the built-in ones. */
  readonly secrets: readonly string[];
  /** Who commands become, and who the client is that is not root. */
  readonly uid: number;
}

export interface Ended {
  readonly line: string;
  readonly stdout: string;
  readonly exitCode: number;
}

export interface Lines {
  readonly lines: readonly string[];
  readonly shell: string;
  /** Where errors go: with the output, or nowhere. */
  readonly errors: 'shown' | 'dropped';
  /** How long one line may take, in seconds. */
  readonly seconds: number;
}

/** How several lines ended; `undefined` where what they ran in ended before all of them had, and `why` in one sentence. */
export interface Run {
  readonly ended: readonly Ended[] | undefined;
  readonly why: string;
  /** All that was printed, also by what did not end. */
  readonly said: string;
}

/** Several lines in one sandbox, each in a shell of its own: what one does to its shell no other sees. */
export class Walled {
  private constructor(
    readonly sandbox: Sandbox,
    readonly client: ClientKind,
    readonly places: Places,
  ) {}

  static async open(client: ClientKind, places: Places): Promise<Walled> {
    const { data, work, home, writable, secrets, uid } = places;
    const programs: Record<string, string> = {};
    for (const name of SANDBOX_PROGRAMS[client.kind]) programs[name] = await findProgram(name);
    if (client.kind === 'util-linux') programs[FILTER_PROGRAM] = FILTER_PROGRAM_PATH;
    const isOther = client.who === 'root';
    const wallDir = join(data, `wall-${client.who}-${client.kind}`);
    mkdirSync(join(wallDir, 'root'), { recursive: true });
    const closedFile = join(wallDir, 'closed');
    writeFileSync(closedFile, '', { mode: 0o000 });
    if (isRoot && !isOther) for (const path of [wallDir, join(wallDir, 'root'), closedFile]) chownSync(path, uid, uid);
    const patterns = [...SENSITIVE_PATHS, ...secrets].flatMap((one) => [one, one.replace(/^~/u, home)]);
    const hidden = await hiddenPlaces({ patterns, own: [data], works: [work, ...writable], uid: isOther ? uid : null });
    const user = {
      name: 'nobody',
      uid: isRoot ? uid : (process.geteuid?.() ?? 0),
      gid: isRoot ? uid : (process.getegid?.() ?? 0),
      home,
      isOther,
    };
    const sandbox: Sandbox = {
      kind: client.kind,
      programs,
      commands: 'all',
      writable: [...writable],
      network: false,
      hidden,
      // The list of mounts is root's here: those in there that an unprivileged client would not reach it could not leave out.
      showsTmp: isOther || client.kind === 'bwrap' || !/ \/tmp\//u.test(readFileSync('/proc/self/mountinfo', 'utf8')),
      closedFile,
      rootDir: join(wallDir, 'root'),
      user,
      limits: WALL_LIMITS,
    };
    return new Walled(sandbox, client, places);
  }

  /** Whether everything that a line must see can be shown behind this wall; otherwise a person is asked. */
  shows({ views }: Pick<CommandWall, 'views'>): boolean {
    const shown = viewsBehind(this.sandbox);
    return views.every((view) => shown.includes(view));
  }

  async behind(lines: Lines, wall: CommandWall): Promise<Run> {
    const { work, uid } = this.places;
    const [command, mark] = script(lines);
    const group = randomInt(GROUPS.from, GROUPS.to);
    const { env: own, ...options } = this.#options(lines, this.client.who);
    const place = { command, cwd: work, jailDir: work, wall, group, env: own, given: [] };
    const { file, args, env, input } = await SANDBOXES[this.client.kind].confine(this.sandbox, place);
    const table = input && (await unnamedFile(join(this.sandbox.rootDir, '..'), input));
    const isOther = this.client.who === 'root';
    if (isRoot) await table?.chown(isOther ? 0 : uid, 0);
    const started = execa(file, args, {
      ...options,
      env,
      stdio: ['ignore', 'pipe', 'pipe', ...(table === undefined ? [] : [table.fd as 3])],
    });
    // What is printed before somebody listens is lost.
    const run = runOf(started, mark, lines.lines);
    await table?.close();
    return run;
  }

  /** As they would run without a wall: as who the client is, or as somebody else. */
  outside(lines: Lines, who: Who = this.client.who): Promise<Run> {
    const [command, mark] = script(lines);
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    return runOf(execa('/bin/sh', ['-c', command], { ...this.#options(lines, who), stdio }), mark, lines.lines);
  }

  #options({ lines, seconds }: Lines, who: Who) {
    const { work, home, uid } = this.places;
    return {
      cwd: work,
      env: {
        PATH: PROGRAMS,
        HOME: home,
        LC_ALL: 'C',
        USER: 'nobody',
        LOGNAME: 'nobody',
        ORRERY_CANARY: `${MARK} ${uid}`,
      },
      extendEnv: false,
      stripFinalNewline: false,
      reject: false,
      detached: true,
      buffer: false,
      // Each ends by itself; a machine that is busy may take a few times as long.
      timeout: STARTS_MS + lines.length * (seconds + 1) * 3_000,
      killSignal: 'SIGKILL',
      ...(isRoot && who === 'unprivileged' && { uid, gid: uid }),
    } as const satisfies Options;
  }
}

/** What every process of these commands has in its environment. */
export const MARK = randomUUID();
/** Of what is said about a sandbox that ended too early. */
const SAID_MAX = 300;
/** Of what one line prints. */
const KEPT_MAX = 8 * 1024 * 1024;
/** Until everything runs that is needed before a line does. */
const STARTS_MS = 60_000;
const PROGRAMS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function script({ lines, shell, errors, seconds }: Lines): [command: string, mark: string] {
  const mark = randomUUID();
  // Who shows the arguments of programs shows this text, and must not show the mark.
  const [before, behind] = [mark.slice(0, 8), mark.slice(8)];
  const to = errors === 'shown' ? '2>&1' : '2>/dev/null';
  const runs = lines.map(
    (line) =>
      `timeout -k 1 ${seconds} ${shell} -c ${quoted(line)} </dev/null ${to}; printf '%s' ${before}'${behind} '"$? "`,
  );
  return [runs.join('\n'), mark];
}

interface Started extends PromiseLike<{ readonly shortMessage?: string | undefined }> {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

async function runOf(started: Started, mark: string, lines: readonly string[]): Promise<Run> {
  const [heard, errors] = [new Heard(`${mark} `), new Heard(`${mark} `)];
  started.stdout.setEncoding('utf8').on('data', (text: string) => heard.hear(text));
  started.stderr.setEncoding('utf8').on('data', (text: string) => errors.hear(text));
  const { shortMessage = 'it ended by itself' } = await started;
  const parts = heard.end();
  const why = `${shortMessage.slice(0, SAID_MAX)}; after ${parts.length - 1} of ${lines.length}; ${errors.end().join('').slice(0, SAID_MAX)}`;
  return { ended: parts.length === lines.length + 1 ? endedOf(parts, lines) : undefined, why, said: parts.join('') };
}

/**
 * What was printed, in parts between marks. Some print without end, faster than anybody would want to keep: of such a part stay the
 * end and that a canary was in it.
 */
class Heard {
  readonly #parts: string[] = [];
  #own = '';

  constructor(readonly mark: string) {}

  hear(text: string): void {
    const from = Math.max(0, this.#own.length - this.mark.length);
    this.#own += text;
    for (let at = this.#own.indexOf(this.mark, from); at !== -1; at = this.#own.indexOf(this.mark)) {
      this.#parts.push(this.#own.slice(0, at));
      this.#own = this.#own.slice(at + this.mark.length);
    }
    if (this.#own.length < KEPT_MAX) return;
    this.#own = `${this.#own.includes(CANARY) ? CANARY : ''}${this.#own.slice(-this.mark.length)}`;
  }

  end(): string[] {
    return [...this.#parts, this.#own];
  }
}

const endedOf = (parts: readonly string[], lines: readonly string[]): Ended[] =>
  lines.map((line, index) => {
    const code = /^\d+ /u.exec(parts[index + 1] ?? '')?.[0] ?? '';
    const own = index === 0 ? (parts[0] ?? '') : (parts[index] ?? '').replace(/^\d+ /u, '');
    return { line, stdout: own, exitCode: Number(code) };
  });

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
