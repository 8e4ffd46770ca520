import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Judge, judgeLine } from '#libs/constellation';
import type { CommandCall, Json, TaskConstellation, TaskStar } from '#proto';

/** What became of a task. `text`: what its successors read on standard input. */
export interface Ended {
  readonly status: 'COMPLETED' | 'FAILED' | 'SKIPPED';
  readonly text: string;
  readonly stderr: string;
  readonly exitCode: number;
}

const COMMAND_MS_MAX = 20_000;
/** What the runbooks may count on: everything else is missing unless a test puts it there. */
const TOOLS =
  'sh awk sed grep head tail tr cut sort uniq wc cat ls env id date nproc printf touch true false sleep expr test';

/** A machine of a test: a directory to work in and the programs that it has. */
export class Machine {
  readonly #root = mkdtempSync(join(tmpdir(), 'orrery-runbooks-'));
  readonly directory = join(this.#root, 'work');
  readonly #bin = join(this.#root, 'bin');

  constructor(programs: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.directory);
    mkdirSync(this.#bin);
    const found = spawnSync('/bin/sh', ['-c', `for tool in ${TOOLS}; do command -v -- "$tool"; done`], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
    for (const path of found.stdout.split('\n').filter((line) => line.startsWith('/'))) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (programs[name] === undefined) symlinkSync(path, join(this.#bin, name));
    }
    for (const [name, script] of Object.entries(programs)) this.write(join(this.#bin, name), `#!/bin/sh\n${script}\n`);
  }

  write(path: string, text: string): string {
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  }

  /** EXEC_CLI as a device runs it, as far as a command can tell. */
  exec({ arguments: given }: CommandCall, input = '', shell = '/bin/sh'): Ended {
    const { command, env = {}, stdin } = given as { command: string; env?: Record<string, string>; stdin?: Json };
    const ran = spawnSync(shell, ['-c', command], {
      cwd: this.directory,
      env: { PATH: this.#bin, HOME: this.directory, TZ: 'UTC', ...env },
      input: typeof stdin === 'string' ? stdin : input,
      encoding: 'utf8',
      timeout: COMMAND_MS_MAX,
    });
    const exitCode = ran.status ?? 124;
    return { status: exitCode === 0 ? 'COMPLETED' : 'FAILED', text: ran.stdout, stderr: ran.stderr, exitCode };
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** A machine for each device of a plan; a task of a selector runs on `any`. */
export interface Machines {
  readonly any: Machine;
  readonly of?: Readonly<Record<string, Machine>>;
  /** Answers of SYS_INFO. */
  readonly sysInfo?: Json;
  /** Devices that give no answer. */
  readonly silent?: readonly string[];
}

/** Runs a plan as a run would, one task after another. */
export function runPlan({ tasks, lines }: TaskConstellation, machines: Machines): Map<string, Ended> {
  const ended = new Map<string, Ended>();
  while (ended.size < tasks.length) {
    const ready = tasks.find(
      ({ id }) => !ended.has(id) && lines.every((line) => line.to !== id || ended.has(line.from)),
    );
    if (ready === undefined) throw new Error('the plan has a cycle');
    const holds = lines
      .filter(({ to }) => to === ready.id)
      .every((line) => {
        const { status, text, exitCode } = endedOf(ended, line.from);
        const result = { value: { stdout: text, exit_code: exitCode } };
        return judgeLine(line, { status, result }, new Judge(undefined))?.satisfied === true;
      });
    ended.set(ready.id, holds ? runTask(ready, ended, machines) : SKIPPED);
  }
  return ended;
}

const SKIPPED: Ended = { status: 'SKIPPED', text: '', stderr: '', exitCode: -1 };

function runTask({ target, command, verify }: TaskStar, ended: ReadonlyMap<string, Ended>, machines: Machines): Ended {
  const device = 'device' in target ? target.device : undefined;
  if (device !== undefined && machines.silent?.includes(device) === true) return { ...SKIPPED, status: 'FAILED' };
  if (command === undefined) throw new Error('a task without a command needs a model');
  if (command.tool === 'SYS_INFO') {
    return { status: 'COMPLETED', text: `${JSON.stringify(machines.sysInfo ?? {})}\n`, stderr: '', exitCode: 0 };
  }
  const machine = (device === undefined ? undefined : machines.of?.[device]) ?? machines.any;
  const { from = [] } = (command.arguments['stdin'] ?? {}) as { from?: string[] };
  const done = machine.exec(command, from.map((id) => endedOf(ended, id).text).join(''));
  if (done.status === 'FAILED' || verify?.command === undefined) return done;
  const checked = machine.exec(verify.command);
  return checked.status === 'COMPLETED' ? done : { ...checked, status: 'FAILED' };
}

function endedOf(ended: ReadonlyMap<string, Ended>, id: string): Ended {
  const found = ended.get(id);
  if (found === undefined) throw new Error(`${id} has not ended`);
  return found;
}
