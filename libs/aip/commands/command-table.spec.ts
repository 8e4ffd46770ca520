import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS, LIMITS } from '#proto';
import type { CommandOutcome, RunCommandRequest } from '#proto';
import type { CommandTableOptions, TableEffect } from './command-effects.js';
import { CommandTable } from './command-table.js';
import { withoutResult } from './outcome.js';

const DONE: CommandOutcome = { state: 'COMPLETED', result: 'ok', error: null, startedAt: null, durationMs: 1 };
const FINISHED = { state: 'finished', outcome: DONE };
const NOT_AFTER_MS = 1_000_000;

const table = (change: Partial<CommandTableOptions> = {}) =>
  new CommandTable({ sessionId: 's1', journalId: 'j1', tools: new Set(['T']), slots: 2, ...change });
const foreign = (change: Partial<CommandTableOptions> = {}) => table({ journalId: null, ...change });

/** `a` of run r1 unless said otherwise. */
function request(taskId = 'a', change: Partial<RunCommandRequest> = {}, runId = 'r1'): RunCommandRequest {
  return {
    kind: 'run',
    commandId: `${runId}.${taskId}`,
    attempt: { runId, taskId, attempt: 1 },
    deviceId: 'd',
    sessionId: 's1',
    journalId: 'j1',
    command: { tool: 'T', arguments: {} },
    priority: 0,
    notAfter: new Date(NOT_AFTER_MS).toISOString(),
    ...change,
  };
}

const admit = (to: CommandTable, what: RunCommandRequest, { nowMs = 0, digest = 'd1', bytes = 100 } = {}) =>
  to.admit({ request: what, digest, bytes }, nowMs);

const sent = (effects: TableEffect[]) =>
  effects.flatMap((effect) => (effect.kind === 'send' ? [effect.command.commandId] : []));

/** A table with `a` at the device. */
function running(to: CommandTable): CommandTable {
  expect(admit(to, request())).toBeNull();
  expect(sent(to.next(0))).toEqual(['r1.a']);
  return to;
}

describe('a command', () => {
  it('is sent, runs and is answered once', () => {
    const commands = running(table());
    expect(commands.stateOf('r1.a')).toEqual({ state: 'running' });
    commands.started('r1.a');
    expect(commands.finish('r1.a', { outcome: DONE, bytes: 10 }, 0)).toEqual([
      { kind: 'answered', commandId: 'r1.a', answer: FINISHED, sentAtMs: 0 },
    ]);
    expect(admit(commands, request())).toEqual(FINISHED);
    expect(commands.stateOf('r1.a')).toBeUndefined();
  });

  it('asked for again is not sent again', () => {
    const commands = running(table());
    expect(admit(commands, request())).toBeNull();
    expect(commands.next(0)).toEqual([]);
  });

  it('keeps its first result when the device reports another', () => {
    const commands = running(table());
    commands.finish('r1.a', { outcome: DONE, bytes: 10 }, 0);
    expect(commands.finish('r1.a', { outcome: withoutResult('FAILED', 'X', 'x'), bytes: 10 }, 0)).toEqual([]);
    expect(admit(commands, request())).toEqual(FINISHED);
  });

  it('with the same id and other content is refused, while it is open and when it is finished', () => {
    const commands = running(table());
    expect(admit(commands, request(), { digest: 'd2' })).toMatchObject({ code: 'COMMAND_CONFLICT' });
    commands.finish('r1.a', { outcome: DONE, bytes: 10 }, 0);
    expect(admit(commands, request(), { digest: 'd2' })).toMatchObject({ code: 'COMMAND_CONFLICT' });
  });

  it('that fits into no frame is refused', () =>
    expect(admit(table(), request(), { bytes: AIP_LIMITS.frameBytesMax })).toMatchObject({ code: 'TOO_LARGE' }));

  it('for a tool that the device does not have is refused, naming those it has', () => {
    const unknown = request('a', { command: { tool: 'RM', arguments: {} } });
    expect(admit(table({ tools: new Set(['B', 'A']) }), unknown)).toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: 'no tool RM on this device; it has: A, B',
    });
    expect(admit(table({ tools: undefined }), unknown)).toBeNull();
  });
});

describe('the queue', () => {
  it('keeps no more at the device than it has slots', () => {
    const commands = table({ slots: 2 });
    for (const task of ['a', 'b', 'c']) admit(commands, request(task));
    expect(sent(commands.next(0))).toEqual(['r1.a', 'r1.b']);
    expect(commands.stateOf('r1.c')).toEqual({ state: 'queued' });
    commands.finish('r1.b', { outcome: DONE, bytes: 10 }, 0);
    expect(sent(commands.next(0))).toEqual(['r1.c']);
  });

  it('takes back what could not be handed to the socket, and sends it again', () => {
    const commands = foreign({ slots: 1 });
    for (const task of ['a', 'b']) admit(commands, request(task));
    expect(sent(commands.next(0))).toEqual(['r1.a']);
    commands.unsent('r1.a');
    expect(commands.stateOf('r1.a')).toEqual({ state: 'queued' });
    expect(sent(commands.next(0))).toEqual(['r1.a']);
  });

  it('sends the higher priority first', () => {
    const commands = table({ slots: 1 });
    admit(commands, request('low'));
    admit(commands, request('high', { priority: 5 }));
    expect(sent(commands.next(0))).toEqual(['r1.high']);
  });

  it('lets a small run pass the thousandth task of a large one', () => {
    const commands = table({ slots: 1 });
    for (const task of ['a', 'b', 'c']) admit(commands, request(task, {}, 'large'));
    admit(commands, request('x', {}, 'small'));
    const order: string[] = [];
    for (let effects = commands.next(0); effects.length > 0; effects = commands.next(0)) {
      const [commandId] = sent(effects);
      order.push(commandId ?? '');
      commands.finish(commandId ?? '', { outcome: DONE, bytes: 1 }, 0);
    }
    expect(order).toEqual(['large.a', 'small.x', 'large.b', 'large.c']);
  });

  it('holds back what has no room instead of refusing it, and forgets results first', () => {
    const commands = table({ slots: 1 });
    for (let task = 0; task < AIP_LIMITS.commandsMax; task++) admit(commands, request(`t${task}`));
    expect(admit(commands, request('more'))).toEqual({ state: 'queued' });
    commands.next(0);
    commands.finish('r1.t0', { outcome: DONE, bytes: 1 }, 0);
    expect(admit(commands, request('more'))).toBeNull();
  });

  it('forgets the oldest result when the kept ones are too large; the journal gives it again', () => {
    const commands = running(table());
    commands.finish('r1.a', { outcome: DONE, bytes: AIP_LIMITS.resultBytesMax + 1 }, 0);
    expect(admit(commands, request('b'))).toBeNull();
    expect(admit(commands, request('a'))).toBeNull();
    expect(sent(commands.next(0))).toEqual(['r1.b', 'r1.a']);
  });

  it('keeps no more than so many bytes of results, even when nobody asks for anything any more', () => {
    const commands = table({ slots: 3 });
    for (const task of ['a', 'b', 'c']) admit(commands, request(task));
    commands.next(0);
    const half = AIP_LIMITS.resultBytesMax / 2;
    for (const id of ['r1.a', 'r1.b', 'r1.c']) {
      expect(commands.finish(id, { outcome: DONE, bytes: half }, 0)).toMatchObject([{ answer: FINISHED }]);
    }
    // The oldest is asked for at the device again, the others are still known.
    expect(admit(commands, request('a'))).toBeNull();
    expect(admit(commands, request('b'))).toEqual(FINISHED);
    expect(admit(commands, request('c'))).toEqual(FINISHED);
  });
});

describe('notAfter', () => {
  it('refuses what comes too late and what waited too long, and tells the device how long it has', () => {
    const commands = table({ slots: 1 });
    expect(admit(commands, request('late'), { nowMs: NOT_AFTER_MS })).toMatchObject({ code: 'EXPIRED' });
    admit(commands, request('a'));
    admit(commands, request('b'));
    expect(commands.next(NOT_AFTER_MS - 7)).toMatchObject([{ kind: 'send', command: { startWithinMs: 7 } }]);
    expect(commands.tick(NOT_AFTER_MS - 1)).toEqual([]);
    expect(commands.tick(NOT_AFTER_MS)).toMatchObject([
      { commandId: 'r1.b', answer: { state: 'refused', code: 'EXPIRED' }, sentAtMs: null },
    ]);
    expect(commands.openCount).toBe(1);
  });

  it('does not keep a repeat from the journal that knows how it ended', () => {
    const commands = table({ sessionId: 's2' });
    expect(admit(commands, request(), { nowMs: NOT_AFTER_MS + 1 })).toBeNull();
    expect(commands.tick(NOT_AFTER_MS + 1)).toEqual([]);
    expect(commands.next(NOT_AFTER_MS + 1)).toMatchObject([{ command: { startWithinMs: 0 } }]);
  });
});

describe('a request for another session', () => {
  it('is sent again when the journal is the same', () =>
    expect(admit(table({ sessionId: 's2' }), request())).toBeNull());

  it('is OUTCOME_UNKNOWN when the journal is another', () =>
    expect(admit(table({ sessionId: 's2', journalId: 'j2' }), request())).toMatchObject({ code: 'OUTCOME_UNKNOWN' }));

  it('is OUTCOME_UNKNOWN at a device without a journal, now or then', () => {
    expect(admit(foreign({ sessionId: 's2' }), request('a', { journalId: null }))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(admit(table({ sessionId: 's2' }), request('a', { journalId: null }))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
  });
});

describe('stop', () => {
  const { attempt } = request();

  it('cancels what waits, and what comes later of the same attempt', () => {
    const commands = table();
    admit(commands, request());
    expect(commands.stop(attempt, 0)).toMatchObject([
      { kind: 'stop', attempt },
      { kind: 'answered', answer: { state: 'finished', outcome: { state: 'CANCELLED' } } },
    ]);
    const next = request('a', { commandId: 'r1.a.second' });
    expect(admit(commands, next)).toMatchObject({ outcome: { state: 'CANCELLED' } });
    expect(admit(commands, { ...next, commandId: 'r1.a.retry', attempt: { ...attempt, attempt: 2 } })).toBeNull();
  });

  it('leaves to the device what is there: its report decides, also a success', () => {
    const commands = running(table());
    expect(commands.stop(attempt, 0)).toEqual([{ kind: 'stop', attempt }]);
    expect(commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0)).toMatchObject([{ answer: FINISHED }]);
  });

  it('of an older session does not cancel a repeat: only the journal knows whether it ran', () => {
    const commands = table({ sessionId: 's2' });
    admit(commands, request());
    expect(commands.stop(attempt, 0)).toEqual([{ kind: 'stop', attempt }]);
    expect(sent(commands.next(0))).toEqual(['r1.a']);
  });

  it('does not lose a slot to a device that never answers', () => {
    const commands = running(table({ slots: 1 }));
    commands.stop(attempt, 0);
    admit(commands, request('b'));
    expect(commands.tick(2 * LIMITS.stopGraceMs - 1)).toEqual([]);
    expect(commands.tick(2 * LIMITS.stopGraceMs)).toMatchObject([{ answer: { state: 'running' } }]);
    expect(sent(commands.next(0))).toEqual(['r1.b']);
    // What the device tells after all is kept for who asks again.
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(admit(commands, request())).toEqual(FINISHED);
  });

  it('of a foreign client gives up after the grace: nothing can be stopped there', () => {
    const commands = running(foreign());
    expect(commands.stop(attempt, 0)).toEqual([]);
    expect(commands.tick(2 * LIMITS.stopGraceMs)).toMatchObject([
      { answer: { state: 'finished', outcome: { state: 'OUTCOME_UNKNOWN' } } },
    ]);
    expect(commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0)).toEqual([]);
  });
});

describe('a result', () => {
  it('that nobody has asked for in this session is kept for the repeat', () => {
    const commands = table({ sessionId: 's2' });
    expect(commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0)).toEqual([]);
    expect(admit(commands, request())).toEqual(FINISHED);
  });

  it('for a waiting repeat ends it before it is sent', () => {
    const commands = table({ sessionId: 's2', slots: 0 });
    admit(commands, request());
    expect(commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0)).toMatchObject([
      { answer: FINISHED, sentAtMs: null },
    ]);
  });

  it('of a foreign client counts only for a command that was sent to it', () => {
    const commands = foreign({ slots: 1 });
    admit(commands, request('a'));
    admit(commands, request('b'));
    commands.next(0);
    expect(commands.finish('r1.b', { outcome: DONE, bytes: 1 }, 0)).toEqual([]);
    expect(commands.finish('made.up', { outcome: DONE, bytes: 1 }, 0)).toEqual([]);
    expect(admit(commands, request('b'))).toBeNull();
  });

  it('that is stored is forgotten here and at the device; its id is not', () => {
    const commands = running(table());
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(commands.stored('r1.a')).toEqual([{ kind: 'stored', commandId: 'r1.a' }]);
    // The device has missed it and repeats its result.
    expect(commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0)).toEqual([{ kind: 'stored', commandId: 'r1.a' }]);
    expect(admit(commands, request())).toBeNull();

    const client = running(foreign());
    client.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(client.stored('r1.a')).toEqual([]);
    expect(admit(client, request())).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });

  it('that is stored is passed on although this session has never heard of it', () =>
    expect(table().stored('r9.z')).toEqual([{ kind: 'stored', commandId: 'r9.z' }]));
});

describe('what runs at the device from before this connection', () => {
  const ID = 'r1.a.1.0.0';
  const asked = (change: Partial<RunCommandRequest> = {}) =>
    request('a', { commandId: ID, sessionId: 's1-before', ...change });
  const resumed = (change: Partial<CommandTableOptions> = {}): CommandTable => {
    const commands = table({ sessionId: 's2', ...change });
    commands.takeOver([ID]);
    return commands;
  };

  it('has its slot', () => {
    const commands = resumed({ slots: 1 });
    admit(commands, request('b'));
    expect(commands.next(0)).toEqual([]);
    commands.finish(ID, { outcome: DONE, bytes: 1 }, 0);
    expect(sent(commands.next(0))).toEqual(['r1.b']);
  });

  it('is not sent again to who asks for it, and answered with its end', () => {
    const commands = resumed();
    expect(admit(commands, asked())).toBeNull();
    expect(commands.stateOf(ID)).toEqual({ state: 'running' });
    expect(commands.next(0)).toEqual([]);
    expect(commands.finish(ID, { outcome: DONE, bytes: 1 }, 0)).toMatchObject([{ commandId: ID, answer: FINISHED }]);
    expect(admit(commands, asked())).toEqual(FINISHED);
  });

  it('is another command than one of another journal, whatever its id', () =>
    expect(admit(resumed(), asked({ journalId: 'j0' }))).toMatchObject({ code: 'OUTCOME_UNKNOWN' }));

  it('is stopped like what was sent here, and given up in time', () => {
    const commands = resumed({ slots: 1 });
    expect(commands.stop({ runId: 'r1', taskId: 'a', attempt: 1 }, 0)).toMatchObject([{ kind: 'stop' }]);
    admit(commands, request('b', { sessionId: 's2' }));
    commands.tick(2 * LIMITS.stopGraceMs);
    expect(sent(commands.next(0))).toEqual(['r1.b']);
  });

  it('is open, but nobody has said yet that it was given to this device', () => {
    const commands = resumed();
    expect(commands.openCommand(ID)).toEqual({ command: null });
    admit(commands, asked());
    expect(commands.openCommand(ID)).toEqual({ command: { tool: 'T', arguments: {} } });
  });

  it('counts once, and not at all under an id that nobody gives', () => {
    const commands = table({ slots: 1 });
    commands.takeOver(['..', 'r1', 'r1.a.0.0.0']);
    expect(commands.openCount).toBe(0);
    commands.takeOver([ID, ID]);
    commands.takeOver([ID]);
    commands.finish(ID, { outcome: DONE, bytes: 1 }, 0);
    admit(commands, request('b'));
    admit(commands, request('c'));
    expect(sent(commands.next(0))).toEqual(['r1.b']);
  });

  it('is left to the journal again when the connection ends', () =>
    expect(resumed().close()).toMatchObject([{ commandId: ID, answer: { state: 'running' } }]));
});

describe('a result that nobody asks for', () => {
  const { unclaimedMs } = AIP_LIMITS;
  const brought = (): CommandTable => {
    const commands = table({ sessionId: 's2' });
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    return commands;
  };
  const deliver = { kind: 'deliver', commandId: 'r1.a', outcome: DONE };

  it('is handed over after a while', () => {
    const commands = brought();
    expect(commands.isIdle).toBe(false);
    expect(commands.tick(unclaimedMs - 1)).toEqual([]);
    expect(commands.tick(unclaimedMs)).toEqual([deliver]);
    expect(commands.tick(1_000_000)).toEqual([]);
  });

  it.each(['stored', 'unknown'] as const)('is forgotten at the device when it is %s', (state) => {
    const commands = brought();
    commands.tick(unclaimedMs);
    expect(commands.delivered('r1.a', state, unclaimedMs)).toEqual([{ kind: 'stored', commandId: 'r1.a' }]);
    expect(commands.isIdle).toBe(true);
  });

  it.each(['wanted', null] as const)('is kept and handed over again when the answer is %s', (state) => {
    const commands = brought();
    commands.tick(unclaimedMs);
    expect(commands.delivered('r1.a', state, unclaimedMs)).toEqual([]);
    expect(admit(commands, request('a', { sessionId: 's1' }), { nowMs: unclaimedMs })).toEqual(FINISHED);
    expect(commands.tick(100 * unclaimedMs)).toEqual([deliver]);
  });

  it('is not handed over behind the back of who asks for it just then', () => {
    const commands = brought();
    admit(commands, request('a', { sessionId: 's1' }), { nowMs: unclaimedMs - 1 });
    expect(commands.tick(unclaimedMs)).toEqual([]);
  });

  it('is left to who has asked, until that one should have stored it', () => {
    const commands = running(table());
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(commands.tick(unclaimedMs)).toEqual([]);
    expect(commands.tick(6 * unclaimedMs)).toEqual([deliver]);
    expect(commands.stored('r1.a')).toEqual([{ kind: 'stored', commandId: 'r1.a' }]);
    expect(commands.delivered('r1.a', null, 7 * unclaimedMs)).toEqual([]);
    expect(commands.isIdle).toBe(true);
  });

  it('of a foreign client is nobody’s: it keeps no journal', () => {
    const commands = running(foreign());
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(commands.tick(1_000_000)).toEqual([]);
    expect(commands.isIdle).toBe(true);
  });
});

describe('what is open at the device', () => {
  it('is what was sent and has no end: not what waits, not what is over, not what somebody made up', () => {
    const commands = running(table({ slots: 1 }));
    admit(commands, request('b'));
    expect(commands.openCommand('r1.a')).toEqual({ command: { tool: 'T', arguments: {} } });
    expect([commands.openCommand('r1.b'), commands.openCommand('made.up')]).toEqual([undefined, undefined]);
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(commands.openCommand('r1.a')).toBeUndefined();
  });

  it('follows the profile: more slots take more, fewer take nothing back', () => {
    const commands = table({ slots: 1 });
    for (const task of ['a', 'b', 'c', 'd']) admit(commands, request(task));
    expect(sent(commands.next(0))).toEqual(['r1.a']);
    commands.slots = 3;
    expect(sent(commands.next(0))).toEqual(['r1.b', 'r1.c']);
    commands.slots = 1;
    commands.finish('r1.a', { outcome: DONE, bytes: 1 }, 0);
    expect(commands.next(0)).toEqual([]);
  });
});

describe('the end of the connection', () => {
  it('leaves the outcome to the journal', () => {
    const commands = running(table({ slots: 1 }));
    admit(commands, request('b'));
    expect(commands.close()).toMatchObject([{ answer: { state: 'running' } }, { answer: { state: 'queued' } }]);
    expect(commands.close()).toEqual([]);
  });

  it('leaves nobody who knows when there is no journal, except for what was never sent', () => {
    const commands = running(foreign({ slots: 1 }));
    admit(commands, request('b'));
    expect(commands.close()).toMatchObject([
      { answer: { state: 'finished', outcome: { state: 'OUTCOME_UNKNOWN' } } },
      { answer: { state: 'refused', code: 'NOT_SENT' } },
    ]);
  });

  it('is no end of knowing what was sent, where there is no journal', () => {
    const commands = running(foreign({ slots: 1 }));
    commands.finish('r1.a', { outcome: DONE, bytes: 10 }, 0);
    for (const task of ['b', 'c', 'd']) admit(commands, request(task));
    expect(sent(commands.next(0))).toEqual(['r1.b']);
    commands.finish('r1.b', { outcome: DONE, bytes: 10 }, 0);
    commands.stored('r1.b');
    expect(sent(commands.next(0))).toEqual(['r1.c']);
    commands.close();
    const said = ['a', 'b', 'c', 'd', 'never-asked'].map((task) => commands.answerAfterEnd(`r1.${task}`, NOT_AFTER_MS));
    expect(said.map((answer) => ('code' in answer ? answer.code : answer.state))).toEqual([
      'done',
      'done',
      'done',
      'NOT_SENT',
      'NOT_SENT',
    ]);
  });

  it('knows nothing any more of what it has forgotten', () => {
    const commands = foreign({ slots: 1 });
    for (let task = 0; task <= AIP_LIMITS.sentIdsMax; task++) {
      admit(commands, request(`t${task}`, { notAfter: new Date(NOT_AFTER_MS + task).toISOString() }));
      commands.next(0);
      commands.finish(`r1.t${task}`, { outcome: DONE, bytes: 1 }, 0);
      commands.stored(`r1.t${task}`);
    }
    commands.close();
    expect(commands.answerAfterEnd('r1.t0', NOT_AFTER_MS)).toEqual({ state: 'done' });
    expect(commands.answerAfterEnd('r1.other', NOT_AFTER_MS + 1)).toMatchObject({ code: 'NOT_SENT' });
  });
});

describe('ids without end', () => {
  it('are not all remembered, but a forgotten one is never taken for new', () => {
    const commands = foreign();
    const ids = Array.from({ length: AIP_LIMITS.sentIdsMax + 1 }, (_, index) => `t${index}`);
    for (const task of ids) {
      admit(commands, request(task));
      commands.next(0);
      commands.finish(`r1.${task}`, { outcome: DONE, bytes: 1 }, 0);
      commands.stored(`r1.${task}`);
    }
    expect(admit(commands, request('t1'))).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(admit(commands, request('t0'))).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    const later = new Date(NOT_AFTER_MS + 1).toISOString();
    expect(admit(commands, request('new', { notAfter: later }))).toBeNull();
  });
});
