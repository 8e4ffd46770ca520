import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { ClientMessage, Json } from '#proto';
import { CommandHandler, type CommandHandlerOptions } from '../commands/command.handler.js';
import { JournalFile } from '../commands/journal-file.adapter.js';
import { until } from '../testing/until.js';
import { WITHOUT_WORKSPACES } from '../testing/no-workspaces.js';

/* A command whose standard input comes as files: until they are there, it has not begun. */

const PARTS = [{ text: 'x' }];

let dir: string;
let file: JournalFile;
let called: { args: Readonly<Record<string, Json>>; stdinFile: string | undefined }[];
let sent: ClientMessage[];
let removed: string[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-stdin-'));
  file = await JournalFile.open(dir);
  [called, sent, removed] = [[], [], []];
});
afterEach(async () => {
  await file.close();
  await rm(dir, { recursive: true, force: true });
});

function arriving(collect: CommandHandlerOptions['stdin']['collect'], notAfterMs = 60_000): CommandHandler {
  const handler = new CommandHandler({
    file,
    tools: {
      has: () => true,
      screenUse: () => undefined,
      call: async (_tool, args, { stdinFile }) => {
        called.push({ args, stdinFile });
        return { kind: 'answered', isError: false, value: 'done' };
      },
    },
    gate: { refusal: () => Promise.resolve(undefined) },
    ...WITHOUT_WORKSPACES,
    stdin: { collect, remove: async (name) => void removed.push(name) },
    commandsMax: 4,
    disconnectGraceMs: null,
    send: (message) => sent.push(message),
    sendOutput: () => undefined,
    sendResults: () => undefined,
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    logger: pino({ level: 'silent' }),
    onFatal: (error) => {
      throw error;
    },
  });
  handler.onCommand({
    type: 'command',
    status: 'continue',
    response_id: 'c1',
    actions: [
      {
        tool_name: 'EXEC_CLI',
        parameters: { command: 'cat', stdin: { parts: PARTS } },
        tool_type: 'action',
        call_id: 'c',
      },
    ],
    orrery: {
      command_id: 'c1',
      attempt: { runId: 'r', taskId: 't', attempt: 1 },
      digest: 'd',
      not_after_ms: notAfterMs,
    },
  });
  return handler;
}
const aborted: CommandHandlerOptions['stdin']['collect'] = (_, { signal }) =>
  new Promise((settle) => signal.addEventListener('abort', () => settle({ kind: 'aborted' })));
const answered = () =>
  until(() => {
    const results = sent.flatMap((message) => (message.type === 'command_results' ? [message.orrery?.outcome] : []));
    return results.length > 0 ? results : undefined;
  });

it('is called with the file, which is removed afterwards', async () => {
  arriving(async () => ({ kind: 'file', name: 'f' }));
  await until(() => (removed.length > 0 ? true : undefined));
  expect([called, removed]).toEqual([[{ args: { command: 'cat' }, stdinFile: 'f' }], ['f']]);
  expect(file.journal.undelivered()).toEqual(['c1']);
});

it('has not begun when they cannot be had, and leaves no record', async () => {
  arriving(async () => ({ kind: 'unavailable', code: 'INPUT_UNAVAILABLE', message: 'it is damaged' }));
  expect(await answered()).toMatchObject([
    { state: 'FAILED', startedAt: null, error: { code: 'INPUT_UNAVAILABLE', message: 'it is damaged' } },
  ]);
  expect([called, file.journal.undelivered()]).toEqual([[], []]);
});

it('is too late when its time to start is over on their way', async () => {
  arriving(aborted, 30);
  expect(await answered()).toMatchObject([{ error: { code: 'EXPIRED' } }]);
  expect([called, file.journal.undelivered()]).toEqual([[], []]);
});

it('is left for the next start when the client is stopped on their way', async () => {
  await arriving(aborted).drain(0);
  expect([called, sent.filter(({ type }) => type === 'command_results')]).toEqual([[], []]);
  expect(file.journal.undelivered()).toEqual([]);
});
