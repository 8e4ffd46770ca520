import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ToolAnswer } from '#libs/mcp';
import { AIP_LIMITS } from '#proto';
import type { ClientMessage, CommandCall, CommandId, CommandMessage, CommandOutcome, Judged } from '#proto';
import { JOURNAL_LIMITS } from './command-journal.js';
import { CommandHandler, type CommandHandlerOptions } from './command.handler.js';
import { JournalFile } from './journal-file.adapter.js';
import { endedWithout } from '../exec/outcome.js';
import { ATTEMPT } from '../testing/scripted-server.js';
import { until } from '../testing/until.js';
import type { ToolCall } from '../tools/toolbox.client.js';
import { WITHOUT_WORKSPACES } from '../testing/no-workspaces.js';

type Call = Pick<ToolCall, 'signal' | 'onOutput'> & { readonly end: (answer: ToolAnswer) => void };

const DONE: ToolAnswer = { kind: 'answered', isError: false, value: 'done' };

const MINUTE_MS = 60_000;
/** Files and promises go on as they are. */
const REAL = [
  'Date',
  'performance',
  'setImmediate',
  'nextTick',
  'queueMicrotask',
  'setTimeout',
  'clearTimeout',
] as const;

let dir: string;
let file: JournalFile;
let handler: CommandHandler | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-handler-'));
  file = await JournalFile.open(dir);
});
afterEach(async () => {
  await handler?.drain(0);
  await file.close();
  await rm(dir, { recursive: true, force: true });
});

/** A handler whose tools answer when the test says so, or at once. */
function handling(more: Partial<CommandHandlerOptions> & { readonly answer?: ToolAnswer } = {}) {
  const sent: ClientMessage[] = [];
  const output: ClientMessage[] = [];
  const calls: Call[] = [];
  const { answer, ...options } = more;
  handler = new CommandHandler({
    file,
    tools: {
      has: () => true,
      screenUse: () => undefined,
      call: (_tool, _args, { signal, onOutput }) => {
        if (answer !== undefined) return Promise.resolve(answer);
        const { promise, resolve: end } = Promise.withResolvers<ToolAnswer>();
        signal.addEventListener('abort', () => end({ kind: 'cancelled', value: 'so far' }));
        calls.push({ signal, onOutput, end });
        return promise;
      },
    },
    gate: { refusal: () => Promise.resolve(undefined) },
    ...WITHOUT_WORKSPACES,
    stdin: { collect: () => Promise.resolve({ kind: 'aborted' }), remove: () => Promise.resolve() },
    commandsMax: 4,
    disconnectGraceMs: null,
    send: (message) => sent.push(message),
    sendOutput: (message) => output.push(message),
    sendResults: () => undefined,
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    logger: pino({ level: 'silent' }),
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
  return { handler, sent, output, calls };
}

function arrives(id: CommandId, more: Partial<Of> = {}): void {
  handler?.onCommand({
    type: 'command',
    status: 'continue',
    response_id: id,
    actions: [{ tool_name: 't', parameters: {}, tool_type: 'action', call_id: id }],
    orrery: { command_id: id, attempt: ATTEMPT, digest: 'd', not_after_ms: 60_000, ...more },
  });
}

type Of = NonNullable<CommandMessage['orrery']>;

const resultOf = (message: ClientMessage | undefined): { id: CommandId; outcome: CommandOutcome } | undefined =>
  message?.type === 'command_results' && message.orrery
    ? { id: message.orrery.command_id, outcome: message.orrery.outcome }
    : undefined;
const fetched = (): { id: CommandId; outcome: CommandOutcome }[] => {
  const results = [];
  for (let next = resultOf(handler?.nextResult()); next !== undefined; next = resultOf(handler?.nextResult())) {
    results.push(next);
  }
  return results;
};
const inJournal = (count: number): Promise<true> =>
  until(() => (file.journal.undelivered().length >= count ? true : undefined));

it('where on a screen it is to act goes to who judges it, and to who does it', async () => {
  const on = {
    agent: 'AppAgent',
    application: 'mousepad',
    window: 'notes',
    control: { id: '3', type: 'Button', name: 'Save' },
    snapshot: 'k.1',
  };
  const judged: unknown[] = [];
  const done: unknown[] = [];
  handling({
    gate: {
      refusal: ({ on: place }) => {
        judged.push(place);
        return Promise.resolve(undefined);
      },
    },
    tools: {
      has: () => true,
      screenUse: () => undefined,
      call: (_tool, _args, { on: place }) => {
        done.push(place);
        return Promise.resolve(DONE);
      },
    },
  });
  arrives('c1', { on });
  arrives('c2');
  await inJournal(2);
  expect([judged, done]).toEqual([
    [on, undefined],
    [on, undefined],
  ]);
});

describe('results', () => {
  it('are fetched once per connection, the oldest first, until they are acknowledged', async () => {
    handling({ answer: DONE });
    handler?.onConnected();
    for (const id of ['c1', 'c2', 'c3']) arrives(id);
    await inJournal(3);
    expect(fetched().map(({ id }) => id)).toEqual(['c1', 'c2', 'c3']);
    expect(fetched()).toEqual([]);
    handler?.onStored('c2');
    arrives('c4');
    await inJournal(3);
    // Whoever comes next may be no server of ours.
    handler?.onDisconnected();
    expect(fetched()).toEqual([]);
    handler?.onConnected();
    expect(handler?.holdings()).toEqual({ running: [], finished: ['c1', 'c3', 'c4'] });
    expect(fetched().map(({ id }) => id)).toEqual(['c1', 'c3', 'c4']);
  });

  it('that were acknowledged before they were fetched again are not', async () => {
    handling({ answer: DONE });
    handler?.onConnected();
    arrives('c1');
    await inJournal(1);
    handler?.onStored('c1');
    expect(fetched()).toEqual([]);
  });

  it('are fetched again when they are asked for again, with the ids of the question', async () => {
    handling({ answer: DONE });
    handler?.onConnected();
    arrives('c1');
    await inJournal(1);
    fetched();
    arrives('c1');
    expect(handler?.nextResult()).toMatchObject({ prev_response_id: 'c1', orrery: { command_id: 'c1' } });
  });
});

describe('a result that no server acknowledges', () => {
  afterEach(() => void jest.useRealTimers());

  it('is fetched again after minutes, on the same connection: a full table may have dropped it', async () => {
    jest.useFakeTimers({ now: Date.now(), doNotFake: [...REAL] });
    const sendResults = jest.fn();
    handling({ answer: DONE, sendResults });
    handler?.onConnected();
    for (const id of ['c1', 'c2']) arrives(id);
    await inJournal(2);
    expect(fetched()).toHaveLength(2);
    handler?.onStored('c1');
    jest.advanceTimersByTime(10 * MINUTE_MS);
    expect(sendResults).toHaveBeenCalled();
    expect(fetched().map(({ id }) => id)).toEqual(['c2']);
    handler?.onDisconnected();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a full device', () => {
  it('refuses commands with a reason while too many results wait, and takes them when one is acknowledged', async () => {
    const { sent } = handling({ answer: DONE, commandsMax: 256 });
    handler?.onConnected();
    for (let n = 0; n < JOURNAL_LIMITS.resultsMax; n++) arrives(`c${n}`);
    await inJournal(JOURNAL_LIMITS.resultsMax);
    arrives('one-more');
    expect(resultOf(sent.at(-1))).toMatchObject({
      id: 'one-more',
      outcome: {
        state: 'FAILED',
        error: { code: 'JOURNAL_FULL', message: expect.stringContaining('too many results') },
      },
    });
    handler?.onStored('c0');
    arrives('one-more');
    await inJournal(JOURNAL_LIMITS.resultsMax);
    expect(file.journal.outcomeOf('one-more')).toMatchObject({ state: 'COMPLETED' });
  });

  it('lets what waits already wait until there is room for its result', async () => {
    const { calls } = handling({ commandsMax: 2 });
    handler?.onConnected();
    const large = 'x'.repeat(1_000_000);
    const count = Math.ceil(JOURNAL_LIMITS.resultBytesMax / 1_000_000);
    for (let n = 0; n < count + 10; n++) arrives(`c${n}`);
    for (let n = 0; n < count + 1; n++) {
      (await until(() => calls[n])).end({ kind: 'answered', isError: false, value: large });
    }
    await inJournal(count + 1);
    expect(calls).toHaveLength(count + 1);
    handler?.onStored('c0');
    handler?.onStored('c1');
    await until(() => calls[count + 1]);
  });

  it('never has more open than a server takes over when it comes back', () => {
    const { sent } = handling();
    for (let n = 0; n < AIP_LIMITS.commandsMax; n++) arrives(`c${n}`);
    arrives('one-more');
    expect(resultOf(sent.at(-1))).toMatchObject({ id: 'one-more', outcome: { error: { code: 'DEVICE_BUSY' } } });
    expect(handler?.holdings().running).toHaveLength(AIP_LIMITS.commandsMax);
  });
});

describe('without a server', () => {
  it('commands go on to their ends, unless the configuration says otherwise', async () => {
    const { calls } = handling();
    handler?.onConnected();
    arrives('c1');
    await until(() => calls[0]);
    handler?.onDisconnected();
    calls[0]?.end(DONE);
    await inJournal(1);
    handler?.onConnected();
    expect(fetched()).toMatchObject([{ id: 'c1', outcome: { state: 'COMPLETED' } }]);
  });

  it('for longer than the grace all open commands end, whether they run or wait', async () => {
    const { calls } = handling({ disconnectGraceMs: 1 });
    handler?.onConnected();
    for (let n = 0; n < 6; n++) arrives(`c${n}`);
    await until(() => calls[3]);
    handler?.onDisconnected();
    await inJournal(6);
    expect(calls).toHaveLength(4);
    handler?.onConnected();
    const ended = { state: 'CANCELLED', error: { code: 'DISCONNECTED' } };
    const results = new Map(fetched().map(({ id, outcome }) => [id, outcome]));
    for (let n = 0; n < 6; n++)
      expect(results.get(`c${n}`)).toMatchObject({ ...ended, result: n < 4 ? 'so far' : null });
  });

  it('for shorter times, nothing ends: the clock starts anew each time', async () => {
    const { calls } = handling({ disconnectGraceMs: 60_000 });
    handler?.onConnected();
    arrives('c1');
    const { signal } = await until(() => calls[0]);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'Date', 'queueMicrotask'] });
    try {
      for (let times = 0; times < 3; times++) {
        handler?.onDisconnected();
        jest.advanceTimersByTime(59_999);
        // A connection that ended without having been ours changes nothing.
        handler?.onDisconnected();
        handler?.onConnected();
        jest.advanceTimersByTime(60_000);
      }
      expect(signal.aborted).toBe(false);
      handler?.onDisconnected();
      jest.advanceTimersByTime(60_000);
      expect(signal.aborted).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('live output', () => {
  it('is said with the id of its command', async () => {
    const { calls, output } = handling();
    arrives('c1');
    const call = await until(() => calls[0]);
    call.onOutput?.({ stream: 'stderr', offset: 7, text: 'hello' });
    expect(output).toMatchObject([
      { type: 'command_output', orrery: { command_id: 'c1', stream: 'stderr', offset: 7, text: 'hello' } },
    ]);
  });
});

describe('a command that the device itself refuses', () => {
  const judged: Judged = { class: 'read', decision: 'allow', rule: 'r' };

  it('is answered at every repeat and never stands in the journal', async () => {
    const asked: [CommandCall, Judged | undefined][] = [];
    const refused = endedWithout('FAILED', 'POLICY_DENIED', 'the policy of this device denies it, rule r');
    const gate = {
      refusal: (call: CommandCall, how: Judged | undefined) => {
        asked.push([call, how]);
        return Promise.resolve(asked.length < 3 ? refused : undefined);
      },
    };
    const { sent, calls } = handling({ gate });
    handler?.onConnected();
    const answers = (): CommandOutcome[] => sent.flatMap((message) => resultOf(message)?.outcome ?? []);
    for (const count of [1, 2]) {
      arrives('c1', { judged });
      await until(() => (answers().length === count ? true : undefined));
    }
    expect(answers()).toEqual([refused, refused]);
    expect(asked).toEqual(Array.from({ length: 2 }, () => [{ tool: 't', arguments: {} }, judged]));
    expect(calls).toEqual([]);
    expect(await readFile(join(dir, 'commands.journal'), 'utf8')).not.toContain('"c1"');
    expect(handler?.holdings()).toEqual({ running: [], finished: [] });
    // Nothing of it is remembered: what it is judged by may change, and then it runs.
    arrives('c1', { judged });
    await until(() => calls[0]);
    expect(handler?.holdings().running).toEqual(['c1']);
  });

  it('gives its place to the next one', async () => {
    const gate = {
      refusal: ({ arguments: args }: CommandCall) =>
        Promise.resolve(args['no'] === true ? endedWithout('FAILED', 'POLICY_DENIED', 'no') : undefined),
    };
    const { calls } = handling({ gate, commandsMax: 1 });
    handler?.onCommand({
      type: 'command',
      status: 'continue',
      actions: [{ tool_name: 't', parameters: { no: true }, tool_type: 'action' }],
      orrery: { command_id: 'c1', attempt: ATTEMPT, digest: 'd', not_after_ms: 60_000 },
    });
    arrives('c2');
    await until(() => calls[0]);
    expect(handler?.holdings().running).toEqual(['c2']);
  });
});
