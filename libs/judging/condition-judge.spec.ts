import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Question } from '#libs/constellation';
import { ArtifactError } from '#libs/messaging';
import type { ArtifactRef, Json } from '#proto';
import { ConditionJudge, type JudgeLimits } from './condition-judge.adapter.js';

const MIB = 1024 * 1024;
const stored = new Map<string, Uint8Array>();
const open: ConditionJudge[] = [];

afterAll(() => Promise.all(open.map((judge) => judge.end())));

function judgeWith(limits: Partial<JudgeLimits> = {}, artifact = fetched): ConditionJudge {
  const judge = new ConditionJudge({ artifact, limits: { processes: 1, heapMb: 512, ms: 20_000, ...limits } });
  open.push(judge);
  return judge;
}

async function fetched(sha256: string): Promise<Uint8Array> {
  const content = stored.get(sha256);
  if (content === undefined) throw new ArtifactError(sha256, 'is not stored');
  return Uint8Array.from(content);
}

function store(content: string): ArtifactRef {
  const bytes = new TextEncoder().encode(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  stored.set(sha256, bytes);
  return { sha256, bytes: bytes.length };
}

const over = (condition: string, result: Question['result'], streams: Question['streams'] = {}): Question => ({
  condition,
  status: 'COMPLETED',
  result,
  streams,
});
const whole = (value: Json) => ({ artifact: store(JSON.stringify(value)) });

/** Takes seconds over a text of this length, whatever is judged beside it. */
const SLOW = 'result.stdout.lines().all(l, result.stdout.contains(l + "!") || size(l) < 100)';
const slow = { stdout: `${'x'.repeat(90)}\n`.repeat(30_000) };

describe('a condition over a whole value', () => {
  /** Nothing here ends its process: it is started once. */
  const patient = judgeWith();

  it('is judged on what no event holds', async () => {
    const stdout = `${'1\n'.repeat(2 * MIB)}NEEDLE\n${'2\n'.repeat(2 * MIB)}`;
    const result = whole({ exit_code: 0, stdout });
    const truths = await patient.judge([
      over('result.stdout.contains("NEEDLE")', result),
      over('result.stdout.lines().size() == 3', result),
      over('result.stdout.matches("NEED(LE)+\\n")', result),
      over('result.exit_cod == 0', result),
    ]);
    expect(truths).toEqual([
      { truth: 'satisfied' },
      { truth: 'undecided', reason: 'there are more than 1000000 parts' },
      { truth: 'satisfied' },
      { truth: 'undecided', reason: 'No such key: exit_cod' },
    ]);
  });

  it('has the whole output of a command where its device cut it', async () => {
    const value = { exit_code: 0, stdout: 'head [...] tail', stdout_bytes: 2 * MIB + 6 };
    const stdout = store(`${'.'.repeat(MIB)}NEEDLE${'.'.repeat(MIB)}`);
    const [truth] = await patient.judge([over('result.stdout.contains("NEEDLE")', { value }, { stdout })]);
    expect(truth).toEqual({ truth: 'satisfied' });
  });

  it.each<[string, Question['result'], string]>([
    ['is gone', { artifact: { sha256: 'a'.repeat(64), bytes: 10 } }, 'is not stored'],
    ['has another size', { artifact: { ...store('"x"'), bytes: 5 } }, 'has 3 bytes, not 5'],
    ['is no JSON', { artifact: store('{') }, 'is no JSON'],
    ['has too many values', { artifact: store(`[${'0,'.repeat(1_000_001)}0]`) }, 'more than 1000000 values'],
  ])('is undecided when the value %s', async (_, result, reason) => {
    const [truth] = await patient.judge([over('result == 1', result)]);
    expect(truth).toMatchObject({ truth: 'undecided', reason: expect.stringContaining(reason) });
  });

  it('says nothing when the infrastructure is away', async () => {
    const judge = judgeWith({}, () => Promise.reject(new Error('no responders')));
    await expect(judge.judge([over('true', { artifact: { sha256: 'b'.repeat(64), bytes: 1 } })])).rejects.toThrow(
      'no responders',
    );
  });
});

describe('a hostile condition', () => {
  it('is ended at its time: those beside it are judged all the same, this process goes on, and who comes next has a process', async () => {
    const judge = judgeWith({ ms: 2_500, processes: 2 });
    const result = { value: slow };
    const quick = 'result.stdout.startsWith("xxx")';
    let turns = 0;
    const turning = setInterval(() => turns++, 5);
    const [hostile, other] = await Promise.all([
      judge.judge([over(quick, result), over(SLOW, result), over(quick, result)]),
      judge.judge([over('result.list.exists(x, x == 2)', { value: { list: [1, 2] } })]),
    ]);
    clearInterval(turning);
    expect(hostile).toEqual([
      { truth: 'satisfied' },
      { truth: 'undecided', reason: 'judging it takes longer than 2.5 s' },
      { truth: 'satisfied' },
    ]);
    expect(other).toEqual([{ truth: 'satisfied' }]);
    expect(turns).toBeGreaterThan(10);
  });

  it('has as much memory as a process of its own has, and no more', async () => {
    const judge = judgeWith({ heapMb: 64 });
    const value = { stdout: 'line\n'.repeat(200_000) };
    const greedy = 'result.stdout.lines().map(l, result.stdout.lines()).size() > 1';
    const [truth, other] = await judge.judge([
      over(greedy, { value }),
      over('result.stdout.lines().size() > 1', { value }),
    ]);
    expect(truth).toEqual({ truth: 'undecided', reason: 'judging it takes more than 64 MiB of memory' });
    expect(other).toEqual({ truth: 'satisfied' });
  });

  it('is ended by its own process where nobody else does, because who asked was killed', async () => {
    const entry = fileURLToPath(new URL('condition-process.runner.ts', import.meta.url));
    const alone = fork(entry, ['200'], { execArgv: ['--no-warnings'], serialization: 'advanced', silent: true });
    await once(alone, 'message');
    const ended = once(alone, 'exit');
    alone.send({ result: { value: slow }, streams: {}, asked: [{ condition: SLOW, status: 'COMPLETED' }] });
    expect(await ended).toEqual([1, null]);
  });
});
