import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { readCommits } from '#libs/event-log';
import { connectBus, putArtifact } from '#libs/messaging';
import { attemptOutputs, ChaosProxy, moment, startTestBus, type TestBus } from '#libs/testing';
import { commandIdOf, parseJson, subjects, type OutputChunk, type RunCommit, type TaskResult } from '#proto';
import { followedRun, OutputDeniedError, type FollowedCommit, type FollowedItem } from './followed-run.adapter.js';

const { attemptCommit, finishedCommand, printed } = attemptOutputs;

/** What the server says behind the last message of a page. */
const PAGE_IS_OVER = 'NATS/1.0 204';

let bus: TestBus;
let gateway: NatsConnection;
let reader: NatsConnection;
let runs = 0;
beforeAll(async () => {
  bus = await startTestBus();
  [gateway, reader] = [await bus.as('aip-gateway'), await bus.as('cli')];
});
afterAll(() => bus.stop());

/** A run of one task whose commits are said here, followed from its first one. */
class Scene {
  readonly runId = `run-${runs++}`;
  readonly taskId = 'a';
  readonly shown: Extract<FollowedItem, { kind: 'piece' }>['piece'][] = [];
  readonly beside: string[] = [];
  readonly #said: FollowedCommit[] = [];
  #news = Promise.withResolvers<void>();
  readonly #stop = new AbortController();

  say(type: string): void {
    const events = [{ type, data: { taskId: this.taskId, attempt: 1 } }];
    this.#said.push({ commit: { events } as unknown as RunCommit, behind: 0 });
    this.#news.resolve();
  }

  /** The same on the bus. */
  async store(type: string): Promise<void> {
    const events = [{ type, data: { taskId: this.taskId, attempt: 1 } }];
    await jetstream(await bus.as('orchestrator')).publish(subjects.run(this.runId), JSON.stringify({ events }));
  }

  /** What is on the bus, with how much the reader says to be behind it. */
  async *stored(nc: NatsConnection): AsyncGenerator<FollowedCommit> {
    const options = { afterSequence: 0, filter: subjects.run(this.runId), signal: this.#stop.signal };
    for await (const { data, pending } of readCommits(nc, 'RUNS', options))
      yield { commit: parseJson(data) as RunCommit, behind: pending };
  }

  async *#commits(): AsyncGenerator<FollowedCommit> {
    for (let at = 0; ; at++) {
      while (this.#said[at] === undefined) {
        await this.#news.promise;
        this.#news = Promise.withResolvers();
      }
      yield* this.#said.slice(at, at + 1);
    }
  }

  /** To the end of the task. */
  async follow(nc = reader, isWhole = true, commits = () => this.#commits()): Promise<void> {
    const options = { runId: this.runId, isWhole, signal: this.#stop.signal };
    for await (const item of followedRun(nc, options, commits)) {
      if (item.kind === 'piece') this.shown.push(item.piece);
      else if (item.kind !== 'commit') this.beside.push(item.kind === 'note' ? item.text : 'held');
      else if (item.commit.events.some(({ type }) => type === 'TASK_COMPLETED')) return;
    }
  }

  chunk(text: string, offset: number, stream: OutputChunk['stream'] = 'stdout'): OutputChunk {
    return {
      commandId: commandIdOf({ runId: this.runId, taskId: this.taskId, attempt: 1 }),
      deviceId: 'web-1',
      stream,
      offset,
      text,
    };
  }

  async write(...chunks: readonly OutputChunk[]): Promise<void> {
    for (const chunk of chunks) gateway.publish(subjects.output(chunk.commandId), JSON.stringify(chunk));
    await gateway.flush();
  }

  async record(result: TaskResult): Promise<void> {
    const { subject, commit } = attemptCommit(this, [finishedCommand(this, result)]);
    await jetstream(await bus.as('device-agent')).publish(subject, JSON.stringify(commit));
  }

  /** What was shown of a stream, and that it was in order: each piece where the one before it ended. */
  text(stream: OutputChunk['stream'] = 'stdout'): string {
    return this.shown
      .filter((piece) => piece.stream === stream)
      .map(({ text }) => text)
      .join('');
  }
}

/** As a device cuts what it tells: between characters, each piece with the bytes before it. */
function cut(bytes: Buffer, size: number): { offset: number; text: string }[] {
  const pieces: { offset: number; text: string }[] = [];
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(bytes.length, from + size);
    while (to < bytes.length && ((bytes[to] ?? 0) & 0xc0) === 0x80) to++;
    pieces.push({ offset: from, text: bytes.subarray(from, to).toString() });
    from = to;
  }
  return pieces;
}

describe('a run that is followed', () => {
  it('shows who comes late what was written before, and then what comes', async () => {
    const scene = new Scene();
    await scene.write(scene.chunk('one\n', 0), scene.chunk('careful\n', 0, 'stderr'));
    scene.say('TASK_STARTED');
    const followed = scene.follow();
    while (scene.shown.length < 2) await moment();
    await scene.write(scene.chunk('two\n', 4), scene.chunk('I think', 0, 'thought'));
    await scene.record(printed('one\ntwo\nthree\n', 'careful\n'));
    scene.say('TASK_COMPLETED');
    await followed;
    expect([scene.text(), scene.text('stderr'), scene.text('thought')]).toEqual([
      'one\ntwo\nthree\n',
      'careful\n',
      'I think',
    ]);
    expect(scene.beside).toEqual([]);
  });

  it('shows one who comes when the task is over the same', async () => {
    const scene = new Scene();
    await scene.write(scene.chunk('one\n', 0));
    await scene.record(printed('one\ntwo\n'));
    scene.say('TASK_COMPLETED');
    await scene.follow();
    expect(scene.text()).toBe('one\ntwo\n');
  });

  it('has each byte once and in order, whatever of the pieces is lost or comes again', async () => {
    // Characters of each length, and bytes that are none.
    const bytes = Buffer.concat(
      Array.from({ length: 3_000 }, (_, n) => Buffer.from(n % 97 === 0 ? [0xff, 0x0a, 0xc3] : `${n} äö€😀\r\n`)),
    );
    const artifact = await putArtifact(gateway, bytes);
    const value = { ...(printed('head').value as object), stdout_artifact: artifact, stdout_bytes: bytes.length };
    let random = 17;
    const chance = (): number => (random = (random * 48_271) % 0x7f_ff_ff_ff) / 0x7f_ff_ff_ff;
    for (let round = 0; round < 8; round++) {
      const scene = new Scene();
      const pieces = cut(bytes, 100 + Math.floor(chance() * 5_000)).map(({ offset, text }) =>
        scene.chunk(text, offset),
      );
      const sent = pieces.filter(() => chance() < 0.98).flatMap((piece) => (chance() < 0.1 ? [piece, piece] : [piece]));
      const [before, after] = [sent.slice(0, sent.length / 2), sent.slice(sent.length / 4)];
      await scene.write(...before);
      scene.say('TASK_STARTED');
      const followed = scene.follow();
      await scene.write(...after);
      await scene.record({ value });
      scene.say('TASK_COMPLETED');
      await followed;
      expect(scene.text() === bytes.toString()).toBe(true);
    }
  });

  it('shows with its gap what nobody has recorded', async () => {
    const scene = new Scene();
    scene.say('TASK_STARTED');
    const followed = scene.follow();
    await scene.write(scene.chunk('one', 0), scene.chunk('three', 8), scene.chunk('four', 13));
    await scene.record({ value: { rows: 1 } });
    scene.say('TASK_COMPLETED');
    await followed;
    expect(scene.shown.map(({ offset, text }) => [offset, text])).toEqual([
      [0, 'one'],
      [8, 'three'],
      [13, 'four'],
    ]);
  });

  it('says how much of an output is kept nowhere', async () => {
    const scene = new Scene();
    const value = {
      ...(printed('he...il').value as object),
      stdout_bytes: 900,
      artifact_error: 'stdout: the disk is full',
    };
    scene.say('TASK_STARTED');
    const followed = scene.follow();
    await scene.write(scene.chunk('head', 0), scene.chunk('tail', 896));
    await scene.record({ value });
    scene.say('TASK_COMPLETED');
    await followed;
    expect(scene.shown.map(({ offset, text }) => [offset, text])).toEqual([
      [0, 'head'],
      [900, ''],
    ]);
    expect(scene.beside).toContain('a/1/0.0 stdout: not all 900 bytes of it are kept: stdout: the disk is full');
  });

  it('where the newest counts shows what comes, with gaps', async () => {
    const scene = new Scene();
    scene.say('TASK_STARTED');
    const followed = scene.follow(reader, false);
    await scene.write(scene.chunk('one', 0), scene.chunk('three', 8));
    await scene.record(printed('one.....three'));
    scene.say('TASK_COMPLETED');
    await followed;
    expect(scene.text()).toBe('onethree');
  });

  it('shows what a task writes also when the connection broke between the last commit and the word that it is the last', async () => {
    const scene = new Scene();
    await scene.store('TASK_STARTED');
    await scene.write(scene.chunk('one\n', 0));
    const proxy = await ChaosProxy.start(bus.server.url);
    const identity = { name: 'cli', inboxPrefix: '_INBOX_cli', seedFile: bus.seedFile('cli') };
    const nc = await connectBus({ url: proxy.url, ...identity, waitForServer: true });
    const asked = proxy.deafAfter('$JS.API.DIRECT.GET.RUNS');
    const followed = scene.follow(nc, true, () => scene.stored(nc));
    await asked;
    while (!proxy.held('down').includes(PAGE_IS_OVER)) await moment();
    const held = proxy.held('down');
    const broken = proxy.cutAfter(held.lastIndexOf('HMSG', held.indexOf(PAGE_IS_OVER)), { how: 'fin', way: 'down' });
    proxy.release('down');
    await broken;
    while (scene.shown.length === 0) await moment();
    await scene.record(printed('one\n'));
    await scene.store('TASK_COMPLETED');
    await followed;
    expect(scene.text()).toBe('one\n');
    await nc.close();
    await proxy.close();
  });

  it('is refused to a key that may not read outputs', async () => {
    const scene = new Scene();
    scene.say('TASK_STARTED');
    await expect(scene.follow(await bus.as('auditor'))).rejects.toThrow(OutputDeniedError);
  });
});
