import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AIP_LIMITS } from '#proto';
import type { CommandId, CommandOutcome, DeviceAnswer, RunCommandRequest } from '#proto';
import type { TableEffect } from './command-effects.js';
import { CommandTable } from './command-table.js';
import { withoutResult } from './outcome.js';

const SEED = 20_261_121;
const RUNS = 1_000;
const TASKS = ['a', 'b', 'c', 'd', 'e'];
const NOT_AFTER_MS = 500;

type Op =
  | { readonly op: 'ask' | 'result' | 'stop' | 'stored' | 'started'; readonly task: string }
  | { readonly op: 'wait'; readonly ms: number };

const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ op: fc.constant('ask' as const), task: fc.constantFrom(...TASKS) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        op: fc.constantFrom('result' as const, 'stop' as const, 'stored' as const, 'started' as const),
        task: fc.constantFrom(...TASKS),
      }),
    },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 30_000 }) }) },
  ),
  { maxLength: 40 },
);

const idOf = (task: string): CommandId => `r.${task}.1.0.0`;
const taskOf = (commandId: CommandId): string => commandId.split('.')[1] ?? '';

function request(task: string): RunCommandRequest {
  return {
    kind: 'run',
    commandId: idOf(task),
    attempt: { runId: 'r', taskId: task, attempt: 1 },
    deviceId: 'd',
    sessionId: 's',
    journalId: 'j',
    command: { tool: 'T', arguments: {} },
    priority: 0,
    notAfter: new Date(NOT_AFTER_MS).toISOString(),
  };
}

/** Plays a history against a table and keeps what an observer sees. */
class Story {
  readonly sends: CommandId[] = [];
  readonly finals: { readonly commandId: CommandId; readonly answer: DeviceAnswer }[] = [];
  readonly #stored = new Set<CommandId>();
  readonly #asked = new Set<CommandId>();
  readonly #table: CommandTable;
  readonly slots: number;
  readonly #atDevice = new Set<CommandId>();
  maxAtDevice = 0;
  #nowMs = 0;
  #reports = 0;

  constructor(journalId: string | null, slots: number) {
    this.slots = slots;
    this.#table = new CommandTable({ sessionId: 's', journalId, tools: new Set(['T']), slots });
  }

  /** Commands whose result nobody has said to be stored: their end must be known and stay the same. */
  get unstored(): CommandId[] {
    return [...this.#asked].filter((commandId) => !this.#stored.has(commandId));
  }

  play(op: Op): void {
    if (op.op === 'wait') this.#nowMs += op.ms;
    else {
      const commandId = idOf(op.task);
      if (op.op === 'ask') this.#ask(op.task);
      if (op.op === 'started') this.#table.started(commandId);
      // A device reports what it has; an honest one has only what it was sent.
      if (op.op === 'result' && this.sends.includes(commandId)) this.#finish(commandId);
      if (op.op === 'stop') this.#see(this.#table.stop(request(op.task).attempt, this.#nowMs));
      if (op.op === 'stored' && this.#hasFinal(commandId)) {
        this.#stored.add(commandId);
        this.#see(this.#table.stored(commandId));
      }
    }
    this.#see(this.#table.tick(this.#nowMs));
    this.#see(this.#table.next(this.#nowMs));
  }

  end(): TableEffect[] {
    const effects = this.#table.close();
    this.#see(effects);
    return effects;
  }

  #ask(task: string): void {
    const asked = request(task);
    this.#asked.add(asked.commandId);
    const answer = this.#table.admit({ request: asked, digest: task, bytes: 1 }, this.#nowMs);
    if (answer !== null) this.#note(asked.commandId, answer);
  }

  #finish(commandId: CommandId): void {
    // Each report differs, so that a second one counting would be seen.
    const outcome = withoutResult('FAILED', 'X', `report ${++this.#reports}`);
    this.#see(this.#table.finish(commandId, { outcome, bytes: 1 }, this.#nowMs));
    this.#atDevice.delete(commandId);
  }

  #see(effects: readonly TableEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') {
        this.sends.push(effect.command.commandId);
        this.#atDevice.add(effect.command.commandId);
        this.maxAtDevice = Math.max(this.maxAtDevice, this.#atDevice.size);
      } else if (effect.kind === 'answered') {
        this.#atDevice.delete(effect.commandId);
        this.#note(effect.commandId, effect.answer);
      }
    }
  }

  #note(commandId: CommandId, answer: DeviceAnswer): void {
    if (answer.state === 'finished' || answer.state === 'refused') this.finals.push({ commandId, answer });
  }

  #hasFinal(commandId: CommandId): boolean {
    return this.finals.some((final) => final.commandId === commandId && final.answer.state === 'finished');
  }
}

const check = <T>(property: fc.IProperty<T>): void => fc.assert(property, { seed: SEED, numRuns: RUNS });

describe('whatever the order of asking, progress, results, stops, time and the end', () => {
  it.each([
    ['a journal', 'j'],
    ['no journal', null],
  ])('a command of a device with %s has one outcome, the same for everybody who asks', (_, journalId) =>
    check(
      fc.property(ops, fc.integer({ min: 1, max: 3 }), (history, slots) => {
        const story = new Story(journalId, slots);
        for (const op of history) story.play(op);
        story.end();
        for (const commandId of story.unstored) {
          const outcomes = story.finals.filter((final) => final.commandId === commandId).map(({ answer }) => answer);
          expect(new Set(outcomes.map((answer) => JSON.stringify(answer))).size).toBeLessThanOrEqual(1);
        }
      }),
    ),
  );

  it('a device without a journal gets no command twice, and every end is known when the connection is', () =>
    check(
      fc.property(ops, fc.integer({ min: 1, max: 3 }), (history, slots) => {
        const story = new Story(null, slots);
        for (const op of history) story.play(op);
        story.end();
        expect(new Set(story.sends).size).toBe(story.sends.length);
        expect(story.maxAtDevice).toBeLessThanOrEqual(slots);
        const ended = new Set(story.finals.map(({ commandId }) => commandId));
        for (const commandId of story.unstored) expect(ended).toContain(commandId);
      }),
    ));

  it('a device with a journal gets no command twice before its result is stored or given up, and no more at once than it has slots', () =>
    check(
      fc.property(ops, fc.integer({ min: 1, max: 3 }), (history, slots) => {
        const story = new Story('j', slots);
        const gaveUp = history.some(({ op }) => op === 'stop');
        for (const op of history) story.play(op);
        expect(story.maxAtDevice).toBeLessThanOrEqual(slots);
        if (gaveUp) return;
        for (const commandId of story.unstored) {
          expect(story.sends.filter((sent) => sent === commandId).length).toBeLessThanOrEqual(1);
        }
      }),
    ));
});

/** A device with a journal over many connections: what it runs and what it has finished outlives each of them. */
class Journal {
  readonly running = new Set<CommandId>();
  readonly started: CommandId[] = [];
  /** Tasks whose results are stored. */
  readonly settled = new Set<string>();
  readonly #stopped = new Set<CommandId>();
  #nowMs = 0;
  readonly #finished = new Map<CommandId, ReturnType<typeof withoutResult>>();
  readonly #asked = new Map<CommandId, string>();
  readonly #slots: number;
  #connections = 0;
  #table: CommandTable;

  constructor(slots: number) {
    this.#slots = slots;
    this.#table = this.#connect();
  }

  ask(task: string): DeviceAnswer | null {
    const commandId = idOf(task);
    // A task is started for the session of then; its repeats name the same.
    const sessionId = this.#asked.get(commandId) ?? `s${this.#connections}`;
    this.#asked.set(commandId, sessionId);
    const asked = { ...request(task), sessionId, notAfter: '2099-01-01T00:00:00.000Z' };
    const answer = this.#table.admit({ request: asked, digest: task, bytes: 1 }, 0);
    this.#see(this.#table.next(0));
    return answer;
  }

  /** The device kills what runs of it, and refuses what comes later: both are ends. */
  stop(task: string): void {
    this.#stopped.add(idOf(task));
    this.#see(this.#table.stop(request(task).attempt, 0));
    this.finish(task);
  }

  /** The result is in the log: the device forgets it when it is told, and nobody asks any more. */
  stored(task: string): void {
    const commandId = idOf(task);
    if (!this.#finished.has(commandId)) return;
    this.settled.add(task);
    this.#see(this.#table.stored(commandId));
  }

  /** Results that nobody asked for are handed over after a while, and then they are stored. */
  wait(): void {
    this.#nowMs += AIP_LIMITS.unclaimedMs * 10;
    for (const effect of this.#table.tick(this.#nowMs)) {
      if (effect.kind !== 'deliver') continue;
      this.settled.add(taskOf(effect.commandId));
      this.#see(this.#table.delivered(effect.commandId, 'stored', this.#nowMs));
    }
  }

  finish(task: string): void {
    const commandId = idOf(task);
    if (!this.running.delete(commandId)) return;
    const outcome = withoutResult('FAILED', 'X', 'x');
    this.#finished.set(commandId, outcome);
    this.#see(this.#table.finish(commandId, { outcome, bytes: 1 }, 0));
    this.#see(this.#table.next(0));
  }

  reconnect(): void {
    this.#table.close();
    this.#table = this.#connect();
    this.#table.takeOver([...this.running]);
    for (const [commandId, outcome] of this.#finished) this.#table.finish(commandId, { outcome, bytes: 1 }, 0);
    this.#see(this.#table.next(0));
  }

  #connect(): CommandTable {
    const sessionId = `s${++this.#connections}`;
    return new CommandTable({ sessionId, journalId: 'j', tools: new Set(['T']), slots: this.#slots });
  }

  #see(effects: readonly TableEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'stored') this.#finished.delete(effect.commandId);
      if (effect.kind !== 'send') continue;
      const { commandId } = effect.command;
      expect(this.running).not.toContain(commandId);
      const outcome = this.#finished.get(commandId) ?? this.#refusalOf(commandId);
      if (outcome === undefined) {
        this.running.add(commandId);
        this.started.push(commandId);
      } else this.#see(this.#table.finish(commandId, { outcome, bytes: 1 }, 0));
    }
  }

  /** What a journal says without executing anything. */
  #refusalOf(commandId: CommandId): CommandOutcome | undefined {
    if (this.started.includes(commandId)) return withoutResult('OUTCOME_UNKNOWN', 'RESULT_FORGOTTEN', 'it was stored');
    return this.#stopped.has(commandId) ? withoutResult('CANCELLED', 'ATTEMPT_STOPPED', 'stopped') : undefined;
  }
}

describe('whatever connections come and go', () => {
  const EVENTS = ['ask', 'finish', 'reconnect', 'stop', 'stored', 'wait'] as const;
  type Event = { readonly event: (typeof EVENTS)[number]; readonly task: string };
  const events: fc.Arbitrary<Event[]> = fc.array(
    fc.record({
      event: fc.constantFrom('ask' as const, 'finish' as const, ...EVENTS),
      task: fc.constantFrom(...TASKS),
    }),
    { maxLength: 50 },
  );

  it.each([
    ['has room', AIP_LIMITS.commandsMax],
    ['is full', 2],
  ])('a device executes nothing twice and no more at once than it has slots, when a table %s', (_, commandsMax) => {
    const before = AIP_LIMITS.commandsMax;
    Object.assign(AIP_LIMITS, { commandsMax });
    try {
      check(
        fc.property(events, fc.integer({ min: 1, max: 3 }), (history, slots) => {
          const device = new Journal(slots);
          for (const { event, task } of history) {
            if (event === 'wait' || event === 'reconnect') device[event]();
            else device[event](task);
            expect(device.running.size).toBeLessThanOrEqual(slots);
          }
          for (const task of TASKS) device.finish(task);
          // What it has finished is known in the last session as well, at the latest when it is asked again.
          for (const task of TASKS) {
            if (!device.started.includes(idOf(task)) || device.settled.has(task)) continue;
            device.ask(task);
            device.finish(task);
            expect(device.ask(task)).toMatchObject({ state: 'finished', outcome: { state: 'FAILED' } });
          }
          expect(new Set(device.started).size).toBe(device.started.length);
        }),
      );
    } finally {
      Object.assign(AIP_LIMITS, { commandsMax: before });
    }
  });
});
