import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { askedOnce, connectDevice } from '#libs/testing';
import { AIP_CLOSE, AIP_LIMITS, OutputChunk, QUERIES, subjects } from '#proto';
import type { CommandOutcome } from '#proto';
import { NEVER, run, TestBench, until } from '../testing/test-bench.adapter.js';
let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

interface Delivered {
  readonly deviceId: string;
  readonly commandId: string;
  readonly outcome: CommandOutcome;
}

/** In the place of the device-agent: keeps what is handed over, and answers what the test says. */
async function resultsDesk(answer: () => 'stored' | 'wanted' | 'unknown') {
  const delivered: Delivered[] = [];
  const subscription = bench.caller.subscribe(subjects.query('device-agent', 'deliver'), {
    callback: (error, message) => {
      if (error !== null) return;
      const request = QUERIES['device-agent'].deliver.request.parse(message.json());
      delivered.push(request);
      message.respond(JSON.stringify({ state: answer() }));
    },
  });
  // The bus knows of it: what is handed over from now on comes here.
  await bench.caller.flush();
  return { delivered, stop: () => subscription.unsubscribe() };
}

/**
 * A clock that stands still until it is put forward, less at a time than what makes a silent connection dead: however long the machine
 * takes for what is between two steps, nothing is too late and nothing comes too early.
 */
class HandClock {
  #nowMs = Date.now();
  now = (): number => this.#nowMs;
  forward(ms: number = AIP_LIMITS.unclaimedMs): void {
    this.#nowMs += ms;
  }
}

describe('a device that comes back with running commands', () => {
  it('has them in its slots: a repeat waits for the end and is not sent again, others wait for room', async () => {
    const gate = await bench.gateway();
    const before = await bench.device(gate, 'e1', { onCommand: NEVER });
    const requests = Array.from({ length: 8 }, (_, index) => run(before, `t${index}`));
    const first = requests.map((request) => bench.ask(request));
    await until(
      async () => before.commands.length,
      (count) => count === 8,
    );
    before.cut();
    for (const answer of first) expect(await answer).toEqual({ state: 'running' });

    const running = requests.map(({ commandId }) => commandId);
    const after = await bench.device(gate, 'e1', { onCommand: NEVER, resume: { running } });
    const repeats = requests.map((request) => bench.ask(request));
    const waiting = run(after, 'waiting');
    const answer = bench.ask(waiting);
    // Answered at the earliest when the gateway has looked at what came before it.
    expect(await bench.ask({ kind: 'stored', commandId: 'nobody.t.1.0.0', deviceId: 'e1' })).toEqual({ state: 'done' });
    expect(after.commands).toEqual([]);

    after.report(running[0] ?? '', { result: 'first' });
    expect(await repeats[0]).toMatchObject({ outcome: { result: 'first' } });
    after.finish(await after.untilCommand(waiting.commandId));
    expect(await answer).toMatchObject({ state: 'finished' });
    for (const commandId of running.slice(1)) after.report(commandId);
    for (const repeat of repeats) expect(await repeat).toMatchObject({ state: 'finished' });
    expect(after.commands.map(({ orrery }) => orrery?.command_id)).toEqual([waiting.commandId]);
  });

  it('is sent no command before it has said which', async () => {
    const gate = await bench.gateway();
    const silent = await bench.device(gate, 'e2', { resume: null });
    const request = run(silent, 'a');
    const answer = bench.ask(request);
    silent.heartbeat();
    await silent.until((frame) => frame.type === 'heartbeat' && frame.seq !== undefined);
    expect(silent.commands).toEqual([]);
    silent.resume();
    expect(await answer).toMatchObject({ state: 'finished' });
    // Acknowledgements come whenever there was nothing else to say for a while.
    const said = silent.received.map(({ type }) => type).filter((type) => type !== 'ack');
    expect(said).toEqual(['heartbeat', 'heartbeat', 'resumed', 'command']);
  });

  it('is sent away when it does not say it', async () => {
    const clock = new HandClock();
    const silent = await bench.device(await bench.gateway({ clock }), 'e3', { resume: null });
    clock.forward(AIP_LIMITS.resumeWithinMs);
    expect(await silent.closed).toMatchObject({ code: AIP_CLOSE.policy });
    await until(
      () => bench.presenceOf('e3'),
      (presence) => presence === null,
    );
  });
});

describe('a result that nobody asks for', () => {
  it('is handed over and, when it is stored, forgotten at the device', async () => {
    const desk = await resultsDesk(() => 'stored');
    const clock = new HandClock();
    const commandId = 'run-0.old.1.0.0';
    const bringer = await bench.device(await bench.gateway({ clock }), 'u1', { resume: { finished: [commandId] } });
    bringer.report(commandId, { result: 'from before' });
    bringer.heartbeat();
    await bringer.until((frame) => frame.type === 'heartbeat' && frame.seq !== undefined);
    expect(desk.delivered).toEqual([]);
    clock.forward();
    await bringer.until((frame) => frame.type === 'result_stored' && frame.orrery.command_id === commandId);
    expect(askedOnce(desk.delivered)).toMatchObject([
      { deviceId: 'u1', commandId, outcome: { result: 'from before' } },
    ]);
    desk.stop();
  });

  it('is kept while it is wanted or nobody is there, and handed over again', async () => {
    const clock = new HandClock();
    const gate = await bench.gateway({ clock });
    const bringer = await bench.device(gate, 'u2');
    const commandId = 'run-0.wanted.1.0.0';
    bringer.report(commandId);
    bringer.heartbeat();
    await bringer.until((frame) => frame.type === 'heartbeat' && frame.seq !== undefined);
    /** The gateway has got such an answer. */
    const answered = (state: string) =>
      until(
        () => gate.metrics.registry.metrics(),
        (text) => text.includes(`orrery_aip_results_delivered_total{state="${state}"`),
      );
    clock.forward();
    await answered('no answer');
    let state: 'wanted' | 'unknown' = 'wanted';
    const desk = await resultsDesk(() => state);
    clock.forward();
    await answered('wanted');
    expect(bringer.received.map(({ type }) => type)).not.toContain('result_stored');
    state = 'unknown';
    clock.forward(2 * AIP_LIMITS.unclaimedMs);
    await bringer.until((frame) => frame.type === 'result_stored' && frame.orrery.command_id === commandId);
    expect(desk.delivered.length).toBeGreaterThan(1);
    desk.stop();
  });
});

describe('a gateway that is killed', () => {
  it('leaves nothing behind that another one needs: running commands go on, finished ones are delivered', async () => {
    const desk = await resultsDesk(() => 'stored');
    const clock = new HandClock();
    const [first, second] = [await bench.gateway(), await bench.gateway({ clock })];
    const before = await bench.device(first, 'k1', { onCommand: NEVER });
    const [running, finished] = [run(before, 'running'), run(before, 'finished')];
    await bench.ask({ kind: 'stored', commandId: 'nobody.t.1.0.0', deviceId: 'k1' }); // the desk is open
    // Nobody waits for the answers: there will be none.
    const reply = '_INBOX_caller.nobody';
    for (const request of [running, finished]) {
      bench.caller.publish(subjects.deviceCommand('k1'), JSON.stringify(request), { reply });
    }
    await before.untilCommand(running.commandId);
    await before.untilCommand(finished.commandId);
    await bench.kill(first);
    await before.closed;

    const after = await bench.device(second, 'k1', {
      onCommand: NEVER,
      resume: { running: [running.commandId], finished: [finished.commandId] },
    });
    expect(await bench.sessionOf('k1')).toBe(after.sessionId);
    after.report(finished.commandId, { result: 'kept in the journal' });
    const repeat = bench.ask(running);
    after.report(running.commandId, { result: 'went on' });
    expect(await repeat).toMatchObject({ outcome: { result: 'went on' } });
    clock.forward();
    await after.until((frame) => frame.type === 'result_stored' && frame.orrery.command_id === finished.commandId);
    expect(desk.delivered.find(({ commandId }) => commandId === finished.commandId)).toMatchObject({
      outcome: { result: 'kept in the journal' },
    });
    expect(after.commands).toEqual([]);
    desk.stop();
  });
});

describe('live output', () => {
  it('is published for commands that were given to this device and run, and for nothing else', async () => {
    const chunks: OutputChunk[] = [];
    const subscription = bench.caller.subscribe(subjects.anyOutput, {
      callback: (error, message) => {
        if (error === null) chunks.push(OutputChunk.parse(message.json()));
      },
    });
    const gate = await bench.gateway();
    const resumed = 'run-1.resumed.1.0.0';
    const writer = await bench.device(gate, 'o1', { onCommand: NEVER, resume: { running: [resumed] } });
    const other = await bench.device(gate, 'o2', { onCommand: NEVER });
    const request = run(writer, 'a');
    const answer = bench.ask(request);
    await writer.untilCommand(request.commandId);

    other.output(request.commandId, 'of another device');
    writer.output('run-1.b.1.0.0', 'of a command that was never sent');
    writer.output(resumed, 'of a command that only the device speaks of');
    writer.output('..', 'of no command at all');
    other.heartbeat();
    await other.until((frame) => frame.type === 'heartbeat' && frame.seq !== undefined);
    writer.output(request.commandId, 'one ', 0);
    writer.output(request.commandId, 'two', 4);
    writer.report(request.commandId);
    expect(await answer).toMatchObject({ state: 'finished' });
    writer.output(request.commandId, 'after its end', 7);
    const again = bench.ask(run(writer, 'resumed', { commandId: resumed }));
    // The answer of `stored` says that the gateway has taken the repeat before it.
    await bench.ask({ kind: 'stored', commandId: 'nobody.t.1.0.0', deviceId: 'o1' });
    writer.output(resumed, 'now that somebody has asked');
    writer.report(resumed);
    expect(await again).toMatchObject({ state: 'finished' });
    await until(
      async () => chunks.length,
      (count) => count >= 3,
    );
    expect(chunks).toEqual([
      { commandId: request.commandId, deviceId: 'o1', stream: 'stdout', offset: 0, text: 'one ' },
      { commandId: request.commandId, deviceId: 'o1', stream: 'stdout', offset: 4, text: 'two' },
      { commandId: resumed, deviceId: 'o1', stream: 'stdout', offset: 0, text: 'now that somebody has asked' },
    ]);
    subscription.unsubscribe();
  });
});

describe('metrics', () => {
  it('stand in PRESENCE after the next renewal, with the time of the gateway', async () => {
    const metrics = { load1: 0.5, memoryFreeMb: 100, diskFreeMb: 1_000, gpus: [] };
    const clock = new HandClock();
    const teller = await bench.device(await bench.gateway({ clock }), 'm1');
    teller.heartbeat(metrics);
    teller.heartbeat({ ...metrics, load1: 99 });
    await until(
      async () => teller.received.filter(({ type }) => type === 'heartbeat').length,
      (count) => count === 3,
    );
    clock.forward(AIP_LIMITS.presenceRenewMs);
    const presence = await until(
      () => bench.presenceOf('m1'),
      (held) => held?.metrics !== undefined,
    );
    expect(presence?.metrics).toEqual({ ...metrics, at: expect.any(String) });
    expect(presence?.sessionId).toBe(teller.sessionId);
  });
});

describe('slots', () => {
  it('follow the profile while the connection lasts', async () => {
    const clock = new HandClock();
    await connectDevice(bench.caller, 'p2', { tasksMax: 1 });
    const worker = await bench.device(await bench.gateway({ clock }), 'p2', { onCommand: NEVER });
    const answers = ['a', 'b'].map((task) => bench.ask(run(worker, task)));
    await until(
      async () => worker.commands.length,
      (count) => count === 1,
    );
    await connectDevice(bench.caller, 'p2', { tasksMax: 2 });
    // A minute in two steps, with a word in between: nobody takes the connection for dead.
    for (const beats of [1, 2]) {
      worker.heartbeat();
      await until(
        async () => worker.received.filter(({ type, seq }) => type === 'heartbeat' && seq !== undefined).length,
        (count) => count === beats,
      );
      clock.forward(30_000);
    }
    await until(
      async () => worker.commands.length,
      (count) => count === 2,
    );
    for (const command of worker.commands) worker.finish(command);
    for (const answer of answers) expect(await answer).toMatchObject({ state: 'finished' });
  });
});

describe('numbers', () => {
  it('that do not fit end the connection with the reason', async () => {
    const liar = await bench.device(await bench.gateway(), 'q1');
    liar.raw(JSON.stringify({ type: 'heartbeat', status: 'ok', seq: 9 }));
    expect(await liar.closed).toMatchObject({ code: AIP_CLOSE.protocolError });
    expect(liar.received.at(-1)).toMatchObject({ type: 'error', error: 'frame 9 came, 2 was expected' });
  });

  it('are acknowledged by the gateway when it has nothing to say', async () => {
    const quiet = await bench.device(await bench.gateway(), 'q2');
    for (let count = 0; count < AIP_LIMITS.ackEveryFrames; count++) quiet.output('run-1.a.1.0.0', 'x');
    // On a slow machine there may be one before for the first of them: after a while without one they are acknowledged as well.
    await quiet.until((frame) => frame.type === 'ack' && frame.ack === 1 + AIP_LIMITS.ackEveryFrames);
  });
});
