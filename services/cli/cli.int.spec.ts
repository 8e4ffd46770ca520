import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { createUser } from '@nats-io/nkeys';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { attentionIdOf, NO_COMMITS, openAttemptLog, openPlanLog, openRunLog, sealNext } from '#libs/event-log';
import { verifyActorProof } from '#libs/keys';
import { connectBus, QueryRefusedError, serveQueries } from '#libs/messaging';
import {
  askedOnce,
  notAsked,
  ANYBODY,
  forkHistory,
  generateEditedHistory,
  runCommitsOf,
  startTestNats,
  type HistoryStep,
  type TestNats,
} from '#libs/testing';
import { AttemptCommit, RunCommit, subjects, type RunSummary } from '#proto';
import type { ActorProof, DeadLetter } from '#proto';
import type { ExportRecord } from '#libs/audit';
import { withBusAt } from './bus/bus.client.js';
import { runProgram } from './run-program.js';
import { fakeTerminal, surroundings, type FakeTerminal } from './testing/fake-terminal.js';
import { sampleRecords, SAMPLE_RUN } from './testing/sample-run.js';

let server: TestNats;
let nc: NatsConnection;
let directory: string;

const [first, second, third, ...attempts] = sampleRecords();

async function append(record: ExportRecord | undefined): Promise<void> {
  const commit = RunCommit.parse(record?.commit);
  const log = openRunLog(nc);
  expect(await log.append(SAMPLE_RUN, commit, await log.endsAt(SAMPLE_RUN))).toMatchObject({ kind: 'appended' });
}

/** A run that is not in the log. */
const other = generateEditedHistory({ seed: 6 });

async function appendAll(steps: readonly HistoryStep[]): Promise<void> {
  let end = 0;
  let planned = 0;
  for (const step of steps) {
    if (step.kind === 'attempt') {
      const { runId, taskId, attempt } = step.commit;
      await openAttemptLog(nc).append({ runId, taskId, attempt, kind: step.subject }, step.commit, 0);
      continue;
    }
    if (step.kind === 'plan') {
      const plan = await openPlanLog(nc).append(step.commit.runId, step.commit, planned);
      if (plan.kind === 'appended') planned = plan.sequence;
      continue;
    }
    const appended = await openRunLog(nc).append(step.commit.runId, step.commit, end);
    if (appended.kind === 'appended') end = appended.sequence;
  }
}

async function orrery(line: string, terminal: FakeTerminal = fakeTerminal()) {
  const env = {
    ORRERY_NATS_URL: server.url,
    ORRERY_NATS_SEED_FILE: join(directory, 'cli.seed'),
    ORRERY_HOME: join(directory, 'home'),
  };
  const words = line.split(' ').map((word) => word.replace('DIR', directory));
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  await writeFile(join(directory, 'cli.seed'), createUser().getSeed(), { mode: 0o600 });
  server = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  for (const { commit } of attempts) {
    const parsed = AttemptCommit.parse(commit);
    const { runId, taskId, attempt } = parsed;
    await openAttemptLog(nc).append({ runId, taskId, attempt, kind: 'end' }, parsed, 0);
  }
  await append(first);
});
afterAll(async () => {
  await nc.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

it('a server that does not answer in time is one that cannot be reached', async () => {
  const slow = withBusAt({ url: server.url, seedFile: undefined }, () => Promise.reject(new errors.TimeoutError()));
  await expect(slow).rejects.toMatchObject({ exitCode: 4, message: `NATS at ${server.url} did not answer in time.` });
});

it('a run is named by the beginning of its id, or to look at it as the latest; the next page as the next command', async () => {
  const run = {
    requestId: 'r',
    name: 'one',
    status: 'COMPLETED',
    outcome: 'succeeded',
    sequence: 3,
    tasks: 1,
  } as const;
  const times = { requestedAt: '2026-11-20T10:00:00.000Z', endedAt: null };
  const listed: RunSummary[] = [SAMPLE_RUN, 'b'.repeat(26), `bbbb${'c'.repeat(22)}`].map((runId) => ({
    runId,
    ...run,
    ...times,
  }));
  const served = await serveQueries(
    nc,
    'logging',
    {
      ...notAsked('logging'),
      runs: async ({ id = '', limit = 1 }) => {
        const found = listed.filter(({ runId }) => runId.startsWith(id));
        return { runs: found.slice(0, limit), ...(found.length > limit && { more: true as const }) };
      },
    },
    { authority: ANYBODY },
  );
  const status = async (line: string) => {
    const { exitCode, out } = await orrery(line);
    return [exitCode, (JSON.parse(out[0] ?? '') as { runId?: string }).runId];
  };
  expect(await status('show latest --json')).toEqual([0, SAMPLE_RUN]);
  expect(await status(`show ${SAMPLE_RUN.slice(0, 4)} --json`)).toEqual([0, SAMPLE_RUN]);
  const refused = async (line: string): Promise<[number, string]> => {
    const { exitCode, err } = await orrery(line);
    return [exitCode, err.join('\n')];
  };
  const ambiguous = await refused('cancel bbbb');
  expect(ambiguous).toEqual([3, expect.stringContaining(`\n  ${'b'.repeat(26)}  COMPLETED`)]);
  expect(await refused('cancel latest')).toEqual([3, expect.stringContaining(`It is ${SAMPLE_RUN} now.`)]);
  expect(await refused('mcp revoke --run latest')).toEqual([3, expect.stringContaining(`It is ${SAMPLE_RUN} now.`)]);
  expect(await refused('show zzzz')).toEqual([3, 'orrery: There is no run zzzz.']);
  expect((await orrery('runs --label team=db --since 90m --by anna --limit 2')).err).toEqual([
    `there are older ones: orrery runs --label team=db --by anna --since 90m --limit 2 --before ${'b'.repeat(26)}`,
  ]);
  await served.stop();
  // A whole id is asked of nobody; the rest is, and never taken for something that is not there because nobody answers.
  expect((await orrery(`show ${SAMPLE_RUN}`)).exitCode).toBe(0);
  expect(await refused('show aaaa')).toEqual([4, expect.stringContaining('The whole id of a run needs no list')]);
});

describe('over a log', () => {
  it('watch shows what is there and what comes, each event once, and ends with the run', async () => {
    const terminal = fakeTerminal();
    const { promise: shown, resolve } = Promise.withResolvers<void>();
    const watched = orrery(`watch ${SAMPLE_RUN}`, {
      ...terminal,
      out: (text) => {
        terminal.out(text);
        if (text.includes('TASK_STARTED a')) resolve();
      },
    });
    await shown; // it has caught up: what follows comes live
    await append(second);
    await append(third);
    expect(await watched).toEqual({
      exitCode: 0,
      err: [],
      out: [
        '12:00:00Z RUN_REQUESTED sample by operator: sample',
        '12:00:00Z CONSTELLATION_MODIFIED revision 1: 2 tasks, 1 line',
        '12:00:00Z TASK_STARTED a on web-1',
        '12:00:00Z TASK_COMPLETED a',
        '12:00:00Z TASK_STARTED b on web-1',
        '12:00:00Z TASK_COMPLETED b',
        '12:00:00Z RUN_COMPLETED succeeded (2 completed)',
      ],
    });
  });

  it('watch of a run that has ended shows it once more, as JSON one event per line', async () => {
    const { exitCode, out } = await orrery(`watch ${SAMPLE_RUN} --json`);
    expect(exitCode).toBe(0);
    expect(out.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      'RUN_REQUESTED',
      'CONSTELLATION_MODIFIED',
      'TASK_STARTED',
      'TASK_COMPLETED',
      'TASK_STARTED',
      'TASK_COMPLETED',
      'RUN_COMPLETED',
    ]);
  });

  it('show folds the stored commits', async () => {
    const { out } = await orrery(`show ${SAMPLE_RUN} --at 3 --json`);
    expect(JSON.parse(out.join(''))).toMatchObject({ status: 'RUNNING', sequence: 3 });
  });

  it('an exported run is verified without the log, and equals what the log gives', async () => {
    expect((await orrery(`export ${SAMPLE_RUN} -o DIR/run.jsonl`)).out).toEqual([
      `5 commits of run ${SAMPLE_RUN} written to ${directory}/run.jsonl`,
    ]);
    const fromFile = await orrery('verify DIR/run.jsonl');
    const fromLog = await orrery(`verify ${SAMPLE_RUN}`);
    expect(fromFile.exitCode).toBe(0);
    expect(fromFile.out).toEqual([...fromLog.out, expect.stringContaining('the file is consistent in itself')]);
    const { out } = await orrery(`export ${SAMPLE_RUN}`);
    expect(`${out.join('\n')}\n`).toBe(await readFile(join(directory, 'run.jsonl'), 'utf8'));
  });

  it('a report that is larger than a message is made out of the log', async () => {
    const refusal = { code: 'TOO_LARGE' as const, message: 'too large', issues: [] };
    const refuse = () => Promise.reject(new QueryRefusedError(refusal));
    const served = await serveQueries(
      nc,
      'logging',
      {
        ...notAsked('logging'),
        runs: refuse,
        run: refuse,
        approvals: refuse,
        report: refuse,
        search: refuse,
      },
      { authority: ANYBODY },
    );
    const { exitCode, out } = await orrery(`report ${SAMPLE_RUN}`);
    await served.stop();
    expect([exitCode, out[0]]).toEqual([0, '# Report of run `sample`']);
  });

  it('verify compares a forked run with its parent in the log, and says so when it is not there', async () => {
    const parent = generateEditedHistory({ seed: 4 });
    const [fork, orphan] = [1, 2].map((seed) => forkHistory(seed === 1 ? parent : other, { at: 12, seed }));
    for (const steps of [parent, fork ?? [], orphan ?? []]) await appendAll(steps);
    const [known, unknown] = [fork, orphan].map((steps) => runCommitsOf(steps ?? [])[0]?.runId ?? '');
    const [compared, alone] = [await orrery(`verify ${known}`), await orrery(`verify ${unknown}`)];
    expect([compared.exitCode, compared.out.length]).toEqual([0, 1]);
    expect(alone.out[1]).toMatch(/forked from event \d+ of run \w+, which is not there/u);
  });

  it('verify --all finds the one run that somebody wrote into', async () => {
    expect((await orrery('verify --all')).exitCode).toBe(0);
    const forged = JSON.stringify({ ...(third?.commit as object), runId: 'forged', number: 1 });
    await jetstream(nc).publish(subjects.run('forged'), forged);
    const { exitCode, out } = await orrery('verify --all');
    expect(exitCode).toBe(1);
    expect(out.filter((line) => line.startsWith('BAD'))).toEqual([expect.stringMatching(/^BAD forged {2}/u)]);
    expect(out.join('\n')).toContain('run forged, RUNS commit 1: its hash is not the hash of its content');
    expect(out.at(-1)).toBe('1 of 5 runs bad');
  });

  it('verify --all finds what somebody wrote into the inbox or the fleet', async () => {
    const by = { service: 'logging', instance: 'one' };
    const stamp = { commit: '01JD4Q6Z8W3V5X7Y9A0B1C2D00', now: Date.parse('2026-11-20T12:00:00.000Z'), by };
    const key = `run ${SAMPLE_RUN} failed`;
    const about = { kind: 'failed', key, runId: SAMPLE_RUN } as const;
    const attentionId = attentionIdOf(key);
    const data = { about, by: { kind: 'person', id: 'anna' }, at: '2026-11-20T12:00:00.000Z' } as const;
    const taken = { type: 'ATTENTION_TAKEN', data } as const;
    const word = sealNext(NO_COMMITS, { attentionId }, [taken], { ...stamp, causes: [{ kind: 'request', id: 'w' }] });
    await jetstream(nc).publish(subjects.attention(attentionId), JSON.stringify(word));
    await jetstream(nc).publish(subjects.fleet('web-1'), JSON.stringify({ ...word, attentionId: undefined }));
    const { exitCode, out } = await orrery('verify --all');
    expect(exitCode).toBe(1);
    // Of the run that it is about: nobody has signed it. Of the stream: it is a sound chain.
    expect(out.join('\n')).toContain(
      `run ${SAMPLE_RUN}, ATTENTION ${attentionId} commit 1: ATTENTION_TAKEN by anna: nothing in this commit proves it`,
    );
    expect(out).toContain('ok  ATTENTION  1 chain, 1 commit');
    expect(out).toContain('BAD FLEET  1 chain, 1 commit');
    expect(out.join('\n')).toMatch(
      /BAD FLEET orrery\.fleet\.web-1, commit 1: its hash is not the hash of its content/u,
    );
    expect(out.at(-1)).toMatch(/runs bad, FLEET bad$/u);
    const exported = await orrery(`export ${SAMPLE_RUN}`);
    expect(exported.out.filter((line) => line.includes('"stream":"ATTENTION"'))).toHaveLength(1);
  });

  it('a run that nobody knows is bad input', async () => {
    const unknown = 'u'.repeat(26);
    const { exitCode, err } = await orrery(`show ${unknown}`);
    expect({ exitCode, err }).toEqual({ exitCode: 3, err: [`orrery: There is no run ${unknown}.`] });
  });
});

describe('submit', () => {
  it('says that nobody takes requests', async () => {
    const { exitCode, err } = await orrery('submit goal');
    expect(exitCode).toBe(4);
    expect(err).toEqual(['orrery: The orchestrator is not running: nobody takes requests on this bus.']);
  });

  it('sends the same request again until it is answered, and gives a refusal in its words', async () => {
    const seen: string[] = [];
    const answers = [
      { error: { code: 'TRY_AGAIN', message: 'not now', issues: [] } },
      {
        error: {
          code: 'NO_PLANNER',
          message: 'a goal needs a planner',
          issues: [{ path: 'goal', message: 'a goal needs a planner' }],
        },
      },
    ];
    const service = nc.subscribe(subjects.submit, {
      callback: (_, message) => {
        seen.push(message.json<{ requestId: string }>().requestId);
        message.respond(JSON.stringify(answers.shift()));
      },
    });
    await nc.flush();
    const { exitCode, err } = await orrery('submit goal --request-id mine');
    service.unsubscribe();
    expect(seen).toEqual(['mine', 'mine']);
    expect({ exitCode, err }).toEqual({ exitCode: 3, err: ['orrery: a goal needs a planner'] });
  });

  it('with --wait and --json prints the run at its end and nothing else', async () => {
    const service = nc.subscribe(subjects.submit, {
      callback: (_, message) => void message.respond(JSON.stringify({ runId: SAMPLE_RUN, requestId: 'mine' })),
    });
    await nc.flush();
    const { exitCode, out, err } = await orrery('submit goal --wait --json');
    service.unsubscribe();
    expect({ exitCode, err, lines: out.length }).toEqual({ exitCode: 0, err: [], lines: 1 });
    expect(JSON.parse(out.join(''))).toMatchObject({ runId: SAMPLE_RUN, status: 'COMPLETED', outcome: 'succeeded' });
  });
});

/** What no client library would send: bytes as they are, with any header. Resolves when the server has taken or refused it. */
async function poison(subject: string, payload: string, header?: string): Promise<void> {
  const socket = connect(server.port, '127.0.0.1');
  const head = header ?? '';
  const sizes =
    header === undefined ? `${Buffer.byteLength(payload)}` : `${head.length} ${head.length + payload.length}`;
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  let said = '';
  socket.on('data', (data) => {
    said += data.toString('latin1');
    if (/PONG|-ERR/u.test(said)) resolve();
  });
  socket.write('CONNECT {"verbose":false,"headers":true}\r\n');
  socket.write(`${header === undefined ? 'PUB' : 'HPUB'} ${subject} ${sizes}\r\n${head}${payload}\r\nPING\r\n`);
  await taken;
  socket.destroy();
}

describe('dlq', () => {
  const letter: DeadLetter = {
    service: 'orchestrator',
    stream: 'ATTEMPTS',
    sequence: 7,
    durable: 'orchestrator-attempts-1',
    subject: 'orrery.attempt.1.r.a.1.end',
    headers: { 'Orrery-Types': ['ATTEMPT_FINISHED'] },
    payloadBase64: Buffer.from('{"bad": "\u001B[2Jclears the screen"}').toString('base64'),
    reason: 'it does not parse',
    deliveries: 1,
    at: '2026-11-20T12:00:00.000Z',
  };

  it('is empty at first', async () => expect((await orrery('dlq ls')).err).toEqual(['There are no dead letters.']));

  it('lists and shows what was buried, without the escape sequences in it', async () => {
    await jetstream(nc).publish(subjects.dlq('orchestrator'), JSON.stringify(letter));
    expect((await orrery('dlq ls')).out).toEqual([
      '1\torchestrator\t2026-11-20 12:00:00Z\tATTEMPTS 7\torrery.attempt.1.r.a.1.end\tit does not parse',
    ]);
    const { out } = await orrery('dlq show 1');
    expect(out.at(-1)).toBe('{"bad": "clears the screen"}');
    expect(out).toContain('Orrery-Types: ATTEMPT_FINISHED');
  });

  it('retry hands the input to its service by stream and sequence', async () => {
    expect((await orrery('dlq retry 1')).exitCode).toBe(4);
    const asked: unknown[] = [];
    const service = nc.subscribe(subjects.query('orchestrator', 'dlq-retry'), {
      callback: (_, message) => {
        const { actor, ...body } = message.json<{ actor: ActorProof }>();
        expect(
          verifyActorProof(actor, { subject: message.subject, body, now: Date.parse('2026-11-20T12:00:00.000Z') }).ok,
        ).toBe(true);
        asked.push(body);
        message.respond('{"handled":true}');
      },
    });
    await nc.flush();
    const { exitCode } = await orrery('dlq retry 1');
    service.unsubscribe();
    expect(exitCode).toBe(0);
    expect(askedOnce(asked)).toEqual([{ stream: 'ATTEMPTS', sequence: 7 }]);
  });

  it('drop deletes one, and nothing that is not there', async () => {
    expect((await orrery('dlq drop 1 2')).err).toEqual(['orrery: There is no dead letter 2; see: orrery dlq ls']);
    expect((await orrery('dlq drop 1')).out).toEqual(['dropped 1']);
    expect((await orrery('dlq ls --json')).out).toEqual(['{"letters":[]}']);
  });

  it('of one message that several could not handle are one: listed, handed in again and dropped together', async () => {
    const services = ['device-agent', 'logging', 'device-agent', 'planner'];
    for (const service of services)
      await jetstream(nc).publish(subjects.dlq(service), JSON.stringify({ ...letter, service }));
    const asked: string[] = [];
    const subscriptions = ['device-agent', 'logging', 'planner'].map((service) =>
      nc.subscribe(subjects.query(service, 'dlq-retry'), {
        callback: (_, message) => {
          asked.push(service);
          message.respond('{"handled":true}');
        },
      }),
    );
    await nc.flush();
    const lines = (await orrery('dlq ls')).out.map((line) => line.split('\t'));
    expect(lines.map(([, service, , from]) => [service, from])).toEqual([
      ['device-agent, logging, planner', 'ATTEMPTS 7'],
    ]);
    const id = Number(lines[0]?.[0]);
    expect((await orrery(`dlq retry ${id + 1}`)).exitCode).toBe(0);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(askedOnce(asked)).toEqual(['device-agent', 'planner']);
    expect((await orrery(`dlq drop ${id + 2}`)).out).toEqual([
      `dropped ${[0, 1, 2, 3].map((at) => id + at).join(', ')}`,
    ]);
    expect((await orrery('dlq ls')).err).toEqual(['There are no dead letters.']);
  });

  it('lists, shows and drops whatever stands there, however poisonous, beside the letters', async () => {
    await poison(subjects.dlq('planner'), 'no JSON \u001B[2J');
    await poison(subjects.dlq('planner'), '\u0000\u00FF');
    await poison(subjects.dlq('planner'), '{"service":"planner","payloadBase64":7}');
    await poison(subjects.dlq('planner'), JSON.stringify(letter)); // speaks for another service
    await poison(subjects.dlq('planner'), '{"a":'.repeat(100_000));
    await poison(subjects.dlq('odd\u001B]0;title\u0007"name'), JSON.stringify(letter));
    await poison(subjects.dlq('planner'), '', 'NATS/1.0 999999 \u001B[2J\r\n: \r\nno colon\r\n\r\n');
    await poison(subjects.dlq('planner'), '', 'no header at all');
    await poison(subjects.dlq('planner'), 'x'.repeat(2 * 1024 * 1024));
    await jetstream(nc).publish(subjects.dlq('orchestrator'), JSON.stringify(letter));
    const another = { ...letter, sequence: 8, reason: 'the newest' };
    await jetstream(nc).publish(subjects.dlq('orchestrator'), JSON.stringify(another));
    const { letters } = JSON.parse((await orrery('dlq ls --json')).out.join('')) as { letters: { id: number }[] };
    const newest = letters.at(-1)?.id ?? 0;
    expect((await orrery(`dlq drop ${newest}`)).exitCode).toBe(0);
    const { exitCode, out } = await orrery('dlq ls');
    expect(exitCode).toBe(0);
    expect(out.at(-1)).toContain('it does not parse');
    expect(out.slice(0, -1).map((line) => line.split('\t').at(-1)?.slice(0, 22))).toEqual(
      out.slice(0, -1).map(() => 'this is no dead letter'),
    );
    expect(out.join('')).not.toMatch(/[\u0000-\u0008\u000B-\u001F]/u);
    for (const { id } of letters.slice(0, -2)) {
      expect((await orrery(`dlq show ${id}`)).exitCode).toBe(0);
      const retried = await orrery(`dlq retry ${id}`);
      expect(retried).toMatchObject({
        exitCode: 3,
        err: [`orrery: Message ${id} is no dead letter; it cannot be retried, only dropped.`],
      });
    }
    const ids = letters
      .slice(0, -1)
      .map(({ id }) => id)
      .join(' ');
    expect((await orrery(`dlq drop ${ids}`)).exitCode).toBe(0);
    expect((await orrery('dlq ls')).err).toEqual(['There are no dead letters.']);
  });
});
