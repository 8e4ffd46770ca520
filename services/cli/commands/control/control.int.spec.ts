import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { verifyActorProof } from '#libs/keys';
import { startTestBus, type TestBus } from '#libs/testing';
import { sentenceOf, subjects, type ActorProof, type RunEvent, type VerbAnswer } from '#proto';
import { runProgram } from '../../run-program.js';
import { APPROVAL_ID } from '../../testing/sample-asks.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { SAMPLE_RUN, sampleEvents, sealRun } from '../../testing/sample-run.js';

const RUN = 'run-1';
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const ACCEPTED: VerbAnswer = { answer: 'accepted', sequence: 17 };

interface Received {
  readonly subject: string;
  readonly body: Record<string, unknown> & { id: string; actor: ActorProof };
}

let bus: TestBus;
let orchestrator: NatsConnection;
let directory: string;
let end = (): void => {};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  bus = await startTestBus();
  orchestrator = await bus.as('orchestrator');
});
afterEach(async () => {
  end();
  await orchestrator.flush(); // nobody may ask one that is gone
});
afterAll(async () => {
  await bus.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Somebody who serves runs; the last answer stays. */
async function owner(...answers: readonly (VerbAnswer | (() => Promise<VerbAnswer>))[]): Promise<Received[]> {
  const received: Received[] = [];
  const subscription = orchestrator.subscribe(subjects.anyVerb, {
    callback: (_, message) => {
      const answer = answers[Math.min(received.length, answers.length - 1)];
      received.push({ subject: message.subject, body: message.json() });
      const given = typeof answer === 'function' ? answer() : Promise.resolve(answer);
      void given.then((value) => message.respond(JSON.stringify(value)));
    },
  });
  end = () => subscription.unsubscribe();
  await orchestrator.flush();
  return received;
}

async function orrery(line: string, seedFile = bus.seedFile('cli'), terminal = fakeTerminal()) {
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: seedFile };
  const words = line.split(' ').map((word) => word.replace('DIR', directory).replaceAll('_', ' '));
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

describe('a command that changes a run', () => {
  it.each<[string, string, object, string]>([
    ['cancel RUN --reason wrong_device', 'CANCEL', { reason: 'wrong device' }, 'run RUN is being cancelled (event 17)'],
    ['pause RUN', 'PAUSE', {}, 'run RUN is paused (event 17)'],
    ['resume RUN', 'RESUME', {}, 'run RUN goes on (event 17)'],
    [
      'annotate RUN a_new_disk --task a',
      'ANNOTATE',
      { text: 'a new disk', taskId: 'a' },
      'note added to run RUN (event 17)',
    ],
    [
      'board set RUN freeGb 120 --revision 4',
      'BOARD_SET',
      { name: 'freeGb', value: 120, revision: 4 },
      'freeGb is on the board of run RUN (event 17)',
    ],
    [
      'board set RUN port 8443 --text',
      'BOARD_SET',
      { name: 'port', value: '8443' },
      'port is on the board of run RUN (event 17)',
    ],
    ['board delete RUN port', 'BOARD_DELETE', { name: 'port' }, 'port is off the board of run RUN (event 17)'],
    ['discard RUN web-1', 'DISCARD', { deviceId: 'web-1' }, 'web-1 removes the workspace of RUN (event 17)'],
    ['retry RUN a', 'RETRY', { taskId: 'a' }, 'task a of run RUN is tried again (event 17)'],
  ])('%s says what has happened', async (line, verb, fields, sentence) => {
    const received = await owner(ACCEPTED);
    const said = await orrery(line.replace('RUN', RUN));
    expect(said).toEqual({ exitCode: 0, out: [sentence.replace('RUN', RUN)], err: [] });
    const { id, actor, ...rest } = received[0]?.body ?? { id: '', actor: undefined };
    expect(rest).toEqual(fields);
    expect([received[0]?.subject, id]).toEqual([subjects.verb(RUN, verb), expect.stringMatching(/^[0-9A-Z]{26}$/u)]);
    const command = { subject: subjects.verb(RUN, verb), body: { ...rest, id }, now: NOW };
    expect(actor === undefined ? undefined : verifyActorProof(actor, command)).toMatchObject({ ok: true });
  });

  it('a write that has seen another value says what stands there now', async () => {
    const by = { kind: 'person', id: 'anna' } as const;
    const board = { name: 'port', revision: 7, by, writtenAt: '2026-11-20T12:00:00.000Z', bytes: 4, value: 8443 };
    const message = '"port" was seen at revision 4, and it is at revision 7 now; look at it before you write again';
    const reason = {
      code: 'CONFLICT',
      message: `revision: ${message}`,
      issues: [{ path: 'revision', message }],
    } as const;
    await owner({ answer: 'rejected', reason: { ...reason, issues: [...reason.issues] }, sequence: 9, board });
    const { exitCode, err } = await orrery(`board set ${RUN} port 1 --revision 4`);
    expect([exitCode, err.join('\n')]).toEqual([3, expect.stringContaining('now: 8443')]);
    expect(err.join('\n')).toContain('revision 7 now');
  });

  it.each<[string, string, object, string]>([
    [`approve ${APPROVAL_ID} --grant 10 --note go_on`, 'APPROVE', { grantMs: 600_000, note: 'go on' }, 'approved'],
    [`reject ${APPROVAL_ID} --note not_now`, 'REJECT', { note: 'not now' }, 'rejected'],
    [`answer ${APPROVAL_ID} port_8443`, 'ANSWER', { text: 'port 8443' }, 'answered'],
  ])('%s goes to the run that the approval names', async (line, verb, fields, word) => {
    const received = await owner(ACCEPTED);
    expect(await orrery(line)).toEqual({ exitCode: 0, out: [`${APPROVAL_ID} is ${word} (event 17)`], err: [] });
    expect(received.map(({ subject, body }) => [subject, body])).toEqual([
      [subjects.verb(RUN, verb), expect.objectContaining({ approvalId: APPROVAL_ID, ...fields })],
    ]);
  });

  it.each([
    ['approve web.1', 'orrery: "web.1" is no approval; it looks like'],
    [`approve ${APPROVAL_ID} --command ls --arguments {}`, 'orrery: Say --command or --arguments, not both.'],
    [`approve ${APPROVAL_ID} --grant 0`, 'orrery: Option'],
    [`answer ${APPROVAL_ID}`, 'orrery: Missing required argument'],
  ])('%s is bad input, said without asking anybody', async (line, sentence) => {
    const received = await owner(ACCEPTED);
    const { exitCode, err } = await orrery(line);
    expect([exitCode, err[0]]).toEqual([3, expect.stringContaining(sentence)]);
    expect(received).toEqual([]);
  });

  it('fork prints the new run', async () => {
    const received = await owner({ ...ACCEPTED, runId: 'run-2' });
    const { out } = await orrery(`fork ${RUN} --at 12`);
    expect(out).toEqual([`run run-2 forked from run ${RUN} at event 12`]);
    expect(received[0]?.body).toMatchObject({ at: 12 });
    expect(JSON.parse((await orrery(`fork ${RUN} --at 12 --json`)).out.join(''))).toEqual({
      runId: 'run-2',
      answer: 'accepted',
      sequence: 17,
    });
  });

  it('with nothing to do is no failure, and says why', async () => {
    const reason = { code: 'IGNORED' as const, message: 'The run is paused already.', issues: [] };
    await owner({ answer: 'ignored', reason, sequence: 9 });
    expect(await orrery(`pause ${RUN}`)).toEqual({
      exitCode: 0,
      out: [],
      err: ['nothing to do: The run is paused already.'],
    });
    const { exitCode, out } = await orrery(`pause ${RUN} --json`);
    expect([exitCode, JSON.parse(out.join(''))]).toEqual([0, { runId: RUN, answer: 'ignored', reason, sequence: 9 }]);
  });

  it.each<[string, number]>([
    ['INVALID_STATE', 3],
    ['NOT_FOUND', 3],
    ['UNAUTHORIZED', 1],
  ])('that is refused with %s ends with code %i', async (code, exitCode) => {
    const reason = { code, message: 'It has\u001B[2J ended.', issues: [] } as unknown as VerbAnswer['reason'];
    await owner({ answer: 'rejected', reason, sequence: 9 });
    expect(await orrery(`cancel ${RUN}`)).toEqual({ exitCode, out: [], err: ['orrery: It has ended.'] });
  });

  it('is refused to a user of the bus that may not send it, with a sentence', async () => {
    const received = await owner(ACCEPTED);
    const sentence = 'orrery: This user of the bus may not send this command.';
    expect(await orrery(`annotate ${RUN} hello`, bus.seedFile('auditor'))).toEqual({
      exitCode: 1,
      out: [],
      err: [sentence],
    });
    expect(received).toEqual([]);
  });

  it.each([1_001, 1_000_000])('is refused before anybody is asked when a text has %i characters', async (chars) => {
    const received = await owner(ACCEPTED);
    const { exitCode, err } = await orrery(`annotate ${RUN} ${'x'.repeat(chars)}`);
    expect([exitCode, err]).toEqual([3, [expect.stringMatching(/^orrery: text: .*1000 characters/u)]]);
    expect(received).toEqual([]);
  });

  it('goes on trying with the id that was given, and says so once', async () => {
    const why = { code: 'TRY_AGAIN' as const, message: 'It is not known yet.', issues: [] };
    const later: VerbAnswer = { answer: 'rejected', reason: why, sequence: 0 };
    const received = await owner(later, later, ACCEPTED);
    const { exitCode, err } = await orrery(`cancel ${RUN} --id mine`);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: ['It is not known yet. Trying again for up to 30 s.'] });
    expect(received.map(({ body }) => body.id)).toEqual(['mine', 'mine', 'mine']);
  });

  it('whose outcome nobody knows ends with code 4 and says how to say it again', async () => {
    const { exitCode, out, err } = await orrery(`retry ${RUN} a --timeout 3`);
    expect({ exitCode, out }).toEqual({ exitCode: 4, out: [] });
    // By what the last try came to: a busy machine may not be told in time that nobody is there.
    expect(err.at(-1)).toMatch(
      /^orrery: (?:Nobody serves the run at the moment|Whoever serves the run did not answer in time)\. Whether it was done is not known; say it again with --id \w{26}$/u,
    );
  });

  it('is not sent without a key', async () => {
    const received = await owner(ACCEPTED);
    const sentence =
      'orrery: This is signed with your key of the bus: set ORRERY_NATS_SEED_FILE to the file that holds it.';
    for (const seedFile of ['', join(directory, 'none.seed')]) {
      expect(await orrery(`cancel ${RUN}`, seedFile)).toEqual({ exitCode: 3, out: [], err: [sentence] });
    }
    expect(received).toEqual([]);
  });
});

describe('propose', () => {
  const EDITS = '[{ "tool": "remove_task", "taskId": "b" }]';

  it('hands in the edits of a file, for a round when the command line names one', async () => {
    await writeFile(join(directory, 'edits.json'), EDITS);
    const received = await owner(ACCEPTED);
    expect(await orrery(`propose ${RUN} -f DIR/edits.json`)).toEqual({
      exitCode: 0,
      out: [`edit of run ${RUN} accepted (event 17)`],
      err: [],
    });
    await orrery(`propose ${RUN} -f DIR/edits.json --edit-id e1 --try 2 --base-revision 0`);
    const edits = [{ tool: 'remove_task', taskId: 'b' }];
    expect(received.map(({ body }) => body['proposal'])).toEqual([
      { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits },
      { editId: 'e1', try: 2, baseRevision: 0, state: 'CONTINUE', edits },
    ]);
  });

  it('prints each violation on a line of its own, with its path', async () => {
    await writeFile(join(directory, 'edits.json'), EDITS);
    const issues = [
      { path: 'edits[0].taskId', message: 'task b is RUNNING; only a PENDING one can be removed' },
      { path: 'baseRevision', message: 'the revision is 3' },
    ];
    const [first] = issues.map(sentenceOf);
    const reason = { code: 'EDIT_REJECTED' as const, message: first ?? '', issues };
    await owner({ answer: 'rejected', reason, sequence: 9 });
    expect(await orrery(`propose ${RUN} -f DIR/edits.json`)).toEqual({
      exitCode: 3,
      out: [],
      err: [
        'orrery: Nothing was changed:',
        '  edits[0].taskId: task b is RUNNING; only a PENDING one can be removed',
        '  baseRevision: the revision is 3',
      ],
    });
    const { out } = await orrery(`propose ${RUN} -f DIR/edits.json --json`);
    expect(JSON.parse(out.join(''))).toMatchObject({ error: { exitCode: 3, issues } });
  });

  it('says a single violation in one line', async () => {
    await writeFile(join(directory, 'edits.json'), EDITS);
    const issues = [{ path: 'edits[0].taskId', message: 'there is no task b' }];
    const reason = { code: 'EDIT_REJECTED' as const, message: 'edits[0].taskId: there is no task b', issues };
    await owner({ answer: 'rejected', reason, sequence: 9 });
    const { err } = await orrery(`propose ${RUN} -f DIR/edits.json`);
    expect(err).toEqual(['orrery: edits[0].taskId: there is no task b']);
  });

  it('asks nobody about edits that are none', async () => {
    await writeFile(join(directory, 'bad.yaml'), '- { tool: remove_tusk, taskId: b }\n');
    const received = await owner(ACCEPTED);
    const { exitCode, err } = await orrery(`propose ${RUN} -f DIR/bad.yaml`);
    expect(exitCode).toBe(3);
    expect(err).toEqual([expect.stringMatching(/bad\.yaml: edits\[0\]\.tool: /u)]);
    expect(received).toEqual([]);
  });
});

describe('with --wait', () => {
  const at = '2026-11-20T12:00:00.000Z';
  const by = { kind: 'person' as const, id: 'cli' };
  const counts = { completed: 2, failed: 0, skipped: 0, cancelled: 0 };
  const groups = sampleEvents({ a: '0'.repeat(64), b: '0'.repeat(64) });

  async function append(runId: string, groups: readonly (readonly RunEvent[])[], from: number): Promise<void> {
    const js = jetstream(orchestrator, { checkAPI: false });
    for (const { subject, commit } of sealRun(groups, runId).slice(from)) {
      await js.publish(subject, JSON.stringify(commit));
    }
  }

  it('shows the run until it ends, and the exit code says how', async () => {
    await append(SAMPLE_RUN, groups.slice(0, 1), 0);
    await owner(async () => {
      await append(SAMPLE_RUN, groups, 1);
      return { ...ACCEPTED, sequence: 7 };
    });
    const { exitCode, out, err } = await orrery(`cancel ${SAMPLE_RUN} --wait`);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: [`run ${SAMPLE_RUN} is being cancelled (event 7)`] });
    expect(out.at(-1)).toBe('12:00:00Z RUN_COMPLETED succeeded (2 completed)');
    const { out: lines } = await orrery(`cancel ${SAMPLE_RUN} --wait --json`);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines.join(''))).toMatchObject({ runId: SAMPLE_RUN, status: 'COMPLETED' });
  });

  const reopened: RunEvent[] = [
    { type: 'RUN_REOPENED', data: { by, reopenedAt: at, deadlineAt: '2026-11-21T12:00:00.000Z' } },
  ];
  const again: RunEvent[] = [{ type: 'RUN_COMPLETED', data: { outcome: 'partially_failed', counts, completedAt: at } }];
  const lastWord = [2, '12:00:00Z RUN_COMPLETED partially_failed (2 completed)'];

  it('does not take the end before a retry for the end of it', async () => {
    const runId = 'run-retried';
    await append(runId, groups, 0);
    await owner({ ...ACCEPTED, sequence: 8 });
    const terminal = fakeTerminal();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const out = (text: string): void => {
      terminal.out(text);
      if (text.includes('RUN_COMPLETED')) resolve();
    };
    const waiting = orrery(`retry ${runId} a --wait`, bus.seedFile('cli'), { ...terminal, out });
    await Promise.race([ended, waiting]); // what the log has says that the run is over
    await append(runId, [...groups, reopened, again], groups.length);
    const { exitCode } = await waiting;
    expect([exitCode, terminal.outLines.at(-1)]).toEqual(lastWord);
  });

  it('nor does whoever watches a run that was taken up again', async () => {
    const runId = 'run-reopened';
    await append(runId, [...groups, reopened, again], 0);
    const { exitCode, out } = await orrery(`watch ${runId}`);
    expect([exitCode, out.at(-1)]).toEqual(lastWord);
  });
});
