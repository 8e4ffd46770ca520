import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { ToolAnswer } from '#libs/mcp';
import type { AttemptKey, CommandOutcome } from '#proto';
import { WITHOUT_WORKSPACES } from '../testing/no-workspaces.js';
import { until } from '../testing/until.js';
import { CommandHandler } from './command.handler.js';
import { JournalFile } from './journal-file.adapter.js';
import { SCREEN_IDLE_MS } from './screen-lease.js';

const of = (taskId: string, attempt = 1): AttemptKey => ({ runId: 'r1', taskId, attempt });
const DONE: ToolAnswer = { kind: 'answered', isError: false, value: 'done' };
const USES: Readonly<Record<string, 'looks' | 'acts'>> = { list: 'looks', click: 'acts' };
const LONG_MS = 600_000;

let dir: string;
let now: number;
let device: Device;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-screen-'));
  now = Date.now();
  device = await Device.start();
});
afterEach(async () => {
  await device.end();
  await rm(dir, { recursive: true, force: true });
});

/** The commands of a device client, with a desktop that does what it is told at once, or when a test says so. */
class Device {
  /** What was done, in order. */
  readonly done: string[] = [];
  readonly #file: JournalFile;
  readonly #handler: CommandHandler;
  readonly #acts: { readonly id: string; readonly end: () => void }[] = [];
  readonly #answered = new Map<string, CommandOutcome>();
  holds = false;

  private constructor(file: JournalFile, handOverMs: number) {
    this.#file = file;
    this.#handler = new CommandHandler({
      file,
      tools: {
        has: () => true,
        screenUse: (tool) => USES[tool],
        call: (_tool, _args, { commandId }) => {
          const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
          const end = (): void => {
            this.done.push(String(commandId));
            resolve(DONE);
          };
          this.#acts.push({ id: String(commandId), end });
          if (!this.holds) end();
          return promise;
        },
      },
      gate: { refusal: () => Promise.resolve(undefined) },
      ...WITHOUT_WORKSPACES,
      stdin: { collect: () => Promise.resolve({ kind: 'aborted' }), remove: () => Promise.resolve() },
      commandsMax: 4,
      disconnectGraceMs: null,
      handOverMs,
      send: (message) => {
        if (message.type !== 'command_results' || !message.orrery) return;
        this.#answered.set(message.orrery.command_id, message.orrery.outcome);
      },
      sendOutput: () => undefined,
      sendResults: () => undefined,
      now: () => now,
      monotonicMs: () => performance.now(),
      logger: pino({ level: 'silent' }),
      onFatal: (error) => {
        throw error;
      },
    });
  }

  /** `handOverMs`: how long who comes second waits. */
  static async start(handOverMs = 0): Promise<Device> {
    return new Device(await JournalFile.open(dir), handOverMs);
  }

  arrives(id: string, tool: string, attempt: AttemptKey): void {
    this.#handler.onCommand({
      type: 'command',
      status: 'continue',
      response_id: id,
      actions: [{ tool_name: tool, parameters: {}, tool_type: 'action', call_id: id }],
      orrery: { command_id: id, attempt, digest: 'd', not_after_ms: LONG_MS },
    });
  }

  /** What became of a command, in the words of its device. */
  async asks(id: string, tool: string, attempt: AttemptKey): Promise<string> {
    this.arrives(id, tool, attempt);
    return this.outcome(id);
  }

  outcome(id: string): Promise<string> {
    return until(() => {
      const { state, error } = this.#answered.get(id) ?? this.#file.journal.outcomeOf(id) ?? {};
      return state && (error ? `${error.code}: ${error.message}` : state);
    });
  }

  isDoing(id: string): Promise<true> {
    return until(() => (this.#acts.some((act) => act.id === id) ? true : undefined));
  }

  finishes(id: string): void {
    this.#acts.find((act) => act.id === id)?.end();
  }

  stops(attempt: AttemptKey): void {
    this.#handler.onStop(attempt);
  }

  async end(): Promise<void> {
    await this.#handler.drain(0);
    await this.#file.close();
  }

  /** Its process ends, and another one has its directory. */
  async restarts(): Promise<Device> {
    await this.end();
    return Device.start();
  }
}

const HELD = /^SCREEN_BUSY: attempt 1 of the task t1 of r1 has this screen until it ends, or until \S+Z if it does/u;

it('lets nobody else look or act while an attempt has the screen, and says who has it and until when', async () => {
  expect(await device.asks('c1', 'click', of('t1'))).toBe('COMPLETED');
  expect(await device.asks('c2', 'click', of('t2'))).toMatch(HELD);
  expect(await device.asks('c3', 'list', of('t2'))).toContain(new Date(now + SCREEN_IDLE_MS).toISOString());
  // What has no screen goes on, and so does who has it.
  expect(await device.asks('c4', 'read_file', of('t2'))).toBe('COMPLETED');
  expect(await device.asks('c5', 'click', of('t1'))).toBe('COMPLETED');
  expect(device.done).toEqual(['c1', 'c4', 'c5']);
});

it('keeps it for the attempt over a restart, and refuses an attempt that a later one has replaced', async () => {
  await device.asks('c1', 'click', of('t1'));
  device = await device.restarts();
  expect(await device.asks('c2', 'click', of('t2'))).toMatch(HELD);
  await device.asks('c3', 'list', of('t1', 2));
  device = await device.restarts();
  const over = /^SCREEN_BUSY: attempt 2 of the task t1 of r1 has been at this screen since/u;
  expect(await device.asks('c4', 'click', of('t1'))).toMatch(over);
  expect(await device.asks('c5', 'list', of('t1'))).toMatch(over);
  expect(device.done).toEqual([]);
});

it('gives it to the next when the attempt has ended, and when it has done nothing for long', async () => {
  await device.asks('c1', 'click', of('t1'));
  device.stops(of('t1'));
  expect(await device.asks('c2', 'click', of('t2'))).toBe('COMPLETED');
  device = await device.restarts();
  now += SCREEN_IDLE_MS - 1;
  expect(await device.asks('c3', 'click', of('t3'))).toMatch(/^SCREEN_BUSY: attempt 1 of the task t2/u);
  now += 1;
  expect(await device.asks('c4', 'click', of('t3'))).toBe('COMPLETED');
});

it('lets who comes next wait for an end that is told a moment later', async () => {
  await device.end();
  device = await Device.start(LONG_MS);
  await device.asks('c1', 'click', of('t1'));
  device.arrives('c2', 'click', of('t2'));
  // All that came before is done: it waits, and nobody waits for it.
  expect(await device.asks('c3', 'click', of('t1'))).toBe('COMPLETED');
  expect(device.done).toEqual(['c1', 'c3']);
  device.stops(of('t1'));
  expect(await device.outcome('c2')).toBe('COMPLETED');
});

it('refuses who has waited for an end that does not come', async () => {
  await device.end();
  device = await Device.start(100);
  await device.asks('c1', 'click', of('t1'));
  expect(await device.asks('c2', 'click', of('t2'))).toMatch(HELD);
  expect(device.done).toEqual(['c1']);
});

it('keeps everybody out while an act goes on, however long it takes, and counts from its end', async () => {
  device.holds = true;
  device.arrives('c1', 'click', of('t1'));
  await device.isDoing('c1');
  now += 2 * SCREEN_IDLE_MS;
  expect(await device.asks('c2', 'click', of('t2'))).toBe(
    'SCREEN_BUSY: attempt 1 of the task t1 of r1 has this screen until its command ends',
  );
  device.finishes('c1');
  expect(await device.outcome('c1')).toBe('COMPLETED');
  device.holds = false;
  now += SCREEN_IDLE_MS - 1;
  expect(await device.asks('c3', 'click', of('t2'))).toMatch(HELD);
});

it('does nothing of what is stopped while it waits', async () => {
  await device.end();
  device = await Device.start(LONG_MS);
  await device.asks('c1', 'click', of('t1'));
  device.arrives('c2', 'click', of('t2'));
  device.stops(of('t2'));
  expect(await device.outcome('c2')).toMatch(/^ATTEMPT_STOPPED/u);
  expect(device.done).toEqual(['c1']);
});
