import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import {
  BUCKETS,
  commandIdOf,
  subjects,
  type AgentProfile,
  type CommandCall,
  type DeviceAnswer,
  type RunCommandRequest,
} from '#proto';
import type { FakeDevice } from '#libs/testing';
import { NEVER, run, TestBench, until } from '../testing/test-bench.adapter.js';
let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

describe('a command', () => {
  it('goes to the device and comes back with its outcome', async () => {
    const runner = await bench.device(await bench.gateway(), 'c1');
    const request = run(runner, 'a');
    expect(await bench.ask(request)).toMatchObject({
      state: 'finished',
      outcome: { state: 'COMPLETED', result: { echo: { command: 'true' } } },
    });
    expect(runner.commands).toMatchObject([
      {
        session_id: runner.sessionId,
        actions: [{ tool_name: 'EXEC_CLI', parameters: { command: 'true' } }],
        orrery: { command_id: request.commandId, attempt: request.attempt },
      },
    ]);
  });

  it('is sent once, however often and at the same time it is asked for', async () => {
    const runner = await bench.device(await bench.gateway(), 'c2', { onCommand: NEVER });
    const request = run(runner, 'a');
    const answers = Promise.all([bench.ask(request), bench.ask(request), bench.ask(request)]);
    const command = await runner.untilCommand(request.commandId);
    runner.started(command);
    runner.finish(command, { result: 'once' });
    for (const answer of await answers) expect(answer).toMatchObject({ outcome: { result: 'once' } });
    expect(await bench.ask(request)).toMatchObject({ outcome: { result: 'once' } });
    expect(runner.commands).toHaveLength(1);
  });

  it('is refused under a known id with other content', async () => {
    const runner = await bench.device(await bench.gateway(), 'c3');
    await bench.ask(run(runner, 'a'));
    const other = run(runner, 'a', { command: { tool: 'EXEC_CLI', arguments: { command: 'false' } } });
    expect(await bench.ask(other)).toMatchObject({ state: 'refused', code: 'COMMAND_CONFLICT' });
  });

  it('takes along how it was judged, which makes it no other command', async () => {
    const runner = await bench.device(await bench.gateway(), 'c3j');
    const judged = { class: 'write', decision: 'approve', rule: 'program.rm', approvalId: 'r1.a.1.1.0' } as const;
    const request = run(runner, 'a', { judged });
    const answer = await bench.ask(request);
    expect(answer).toMatchObject({ state: 'finished' });
    expect(await bench.ask(run(runner, 'a', { judged: { ...judged, rule: 'other' } }))).toEqual(answer);
    expect(runner.commands.map(({ orrery }) => orrery?.judged)).toEqual([judged]);
  });

  it('is answered with `running` in time, and with the outcome when it is asked for again', async () => {
    const runner = await bench.device(await bench.gateway({ answerWithinMs: 50 }), 'c4', { onCommand: NEVER });
    const request = run(runner, 'a');
    expect(await bench.ask(request)).toEqual({ state: 'running' });
    runner.report(request.commandId, { result: 'late' });
    expect(
      await until(
        () => bench.ask(request),
        ({ state }) => state !== 'running' && state !== 'queued',
      ),
    ).toMatchObject({ outcome: { result: 'late' } });
  });

  it('is refused when nobody may start it any more, or when the device has no such tool', async () => {
    const runner = await bench.device(await bench.gateway(), 'c5');
    expect(await bench.ask(run(runner, 'a', { notAfter: '2001-01-01T00:00:00.000Z' }))).toMatchObject({
      code: 'EXPIRED',
    });
    const unknown = await bench.ask(run(runner, 'b', { command: { tool: 'FORMAT_DISK', arguments: {} } }));
    expect(unknown).toMatchObject({ code: 'UNKNOWN_TOOL', message: expect.stringContaining('EXEC_CLI, SYS_INFO') });
    expect(runner.commands).toEqual([]);
  });

  it('is not even looked at when it is no request', async () => {
    await bench.device(await bench.gateway(), 'c6');
    await bench.ask({ kind: 'stored', commandId: 'nobody.t.1.0.0', deviceId: 'c6' }); // the desk is open
    const answer = await bench.caller.request(subjects.deviceCommand('c6'), '{"kind":"run"}', { timeout: 20_000 });
    expect(answer.json()).toMatchObject({ state: 'refused', code: 'INVALID_REQUEST' });
  });

  it('is stopped at the device when it runs, and CANCELLED when it waits', async () => {
    const runner = await bench.device(await bench.gateway(), 'c7', { onCommand: NEVER, journalId: 'j' });
    const running = Array.from({ length: 8 }, (_, index) => run(runner, `t${index}`));
    const waiting = run(runner, 'waiting');
    const answers = running.map((request) => bench.ask(request));
    await until(
      async () => runner.commands.length,
      (count) => count === 8,
    );
    // Asked for once all places are taken: who asks before the desk is open asks again, and may come in any order.
    const cancelled = bench.ask(waiting);
    expect(await bench.ask({ kind: 'stop', attempt: waiting.attempt, deviceId: 'c7' })).toEqual({ state: 'done' });
    expect(await cancelled).toMatchObject({ state: 'finished', outcome: { state: 'CANCELLED' } });
    const [first] = running;
    if (first === undefined) throw new Error('no command');
    await bench.ask({ kind: 'stop', attempt: first.attempt, deviceId: 'c7' });
    await runner.until((frame) => frame.type === 'stop_attempt' && frame.orrery.attempt.taskId === 't0');
    runner.report(first.commandId, { state: 'CANCELLED' });
    expect(await answers[0]).toMatchObject({ outcome: { state: 'CANCELLED' } });
    for (const { commandId } of running.slice(1)) runner.report(commandId);
    await Promise.all(answers);
  });

  it('is forgotten, and the journal told so, when its result is stored', async () => {
    const runner = await bench.device(await bench.gateway(), 'c8');
    const request = run(runner, 'a');
    await bench.ask(request);
    expect(await bench.ask({ kind: 'stored', commandId: request.commandId, deviceId: 'c8' })).toEqual({
      state: 'done',
    });
    await runner.until((frame) => frame.type === 'result_stored' && frame.orrery.command_id === request.commandId);
  });
});

describe('a connection that breaks', () => {
  it('leaves `running` behind, and the journal delivers to the repeat after the reconnect', async () => {
    const gate = await bench.gateway();
    const before = await bench.device(gate, 'b1', { onCommand: NEVER });
    const request = run(before, 'a');
    const answer = bench.ask(request);
    await before.untilCommand(request.commandId);
    before.cut();
    expect(await answer).toEqual({ state: 'running' });

    const after = await bench.device(gate, 'b1', { onCommand: NEVER });
    expect(after.sessionId).not.toBe(before.sessionId);
    after.report(request.commandId, { result: 'from the journal' });
    expect(await bench.ask(request)).toMatchObject({ outcome: { result: 'from the journal' } });
  });

  it('leads to the same id once more at a device with the same journal, even past its time, because only the journal knows', async () => {
    const gate = await bench.gateway();
    const before = await bench.device(gate, 'b2', { onCommand: NEVER });
    const request = run(before, 'a', { notAfter: '2001-01-01T00:00:00.000Z' });
    before.cut();
    const after = await bench.device(gate, 'b2', { onCommand: NEVER });
    const answer = bench.ask(request);
    const again = await after.untilCommand(request.commandId);
    expect(again.orrery?.not_after_ms).toBe(0);
    after.finish(again, { result: 'stored result' });
    expect(await answer).toMatchObject({ outcome: { result: 'stored result' } });
  });

  it('is OUTCOME_UNKNOWN for a device that has lost its journal', async () => {
    const gate = await bench.gateway();
    const before = await bench.device(gate, 'b3', { journalId: 'old' });
    const request = run(before, 'a');
    before.cut();
    const after = await bench.device(gate, 'b3', { journalId: 'new' });
    expect(await bench.ask(request)).toMatchObject({ state: 'refused', code: 'OUTCOME_UNKNOWN' });
    expect(after.commands).toEqual([]);
  });
});

describe('a screen that a person takes over', () => {
  const LIST = 'get_app_window_controls_target_info';
  const on = { agent: 'AppAgent', application: 'mousepad', window: 'notes', snapshot: 'c.1' };
  const at = '2026-11-28T10:00:00.000Z';
  const PROFILE: AgentProfile = {
    deviceId: 'desk',
    status: 'connected',
    agent: 'DesktopAgent',
    os: 'linux',
    arch: 'x64',
    hostname: 'desk',
    capabilities: [],
    tags: [],
    tools: [],
    resources: { cpuCount: 1, memoryMb: 1 },
    tasksMax: 1,
    held: null,
    session: null,
    revision: 1,
    enrolledAt: at,
    changedAt: at,
  };

  it('stays his while gateways are killed, and its agent acts once, on what it has seen since', async () => {
    const registry = await bench.as('registry');
    const profiles = await new Kvm(registry).open(BUCKETS.AGENT_PROFILES.bucket, { bindOnly: true });
    const says = (more: Partial<AgentProfile>): Promise<number> =>
      profiles.put('desk', JSON.stringify({ ...PROFILE, ...more }));
    const did: string[] = [];
    const begins = async (): Promise<{ device: FakeDevice; killed: () => Promise<void> }> => {
      const gateway = await bench.gateway({ answerWithinMs: 50 });
      const device = await bench.device(gateway, 'desk', {
        tools: [LIST, 'click_input'],
        onCommand: (command, self) => {
          const tool = command.actions[0]?.tool_name ?? '';
          // A journal that has never heard of it: what comes too late does not begin.
          const isLate = command.orrery?.not_after_ms === 0;
          if (!isLate) did.push(tool);
          const late = { code: 'EXPIRED', message: 'not run', outcome: 'failed' } as const;
          self.finish(command, isLate ? { state: 'FAILED', error: late } : { result: tool });
        },
      });
      return { device, killed: () => bench.kill(gateway) };
    };
    const asks = (device: FakeDevice, index: number, command: CommandCall): RunCommandRequest => {
      const asked = run(device, 'a', { command });
      return { ...asked, commandId: commandIdOf(asked.attempt, 1, index) };
    };
    // A gateway says soon that a command still runs, as it may for a while on a busy machine.
    const ended = (request: RunCommandRequest): Promise<DeviceAnswer> =>
      until(
        () => bench.ask(request),
        ({ state }) => state !== 'running' && state !== 'queued',
      );
    const list = { tool: LIST, arguments: {}, on: { ...on, snapshot: '' } };
    const click = { tool: 'click_input', arguments: {}, on };
    try {
      await says({});
      let now = await begins();
      expect(await ended(asks(now.device, 0, list))).toMatchObject({ outcome: { state: 'COMPLETED' } });
      // The event is there, and its gateway dies before anything follows from it for the act that comes.
      await says({ taken: { by: { kind: 'person', id: 'anna' }, reason: '', heldAt: at, screen: true } });
      const first = asks(now.device, 1, click);
      expect(await bench.ask(first)).toMatchObject({ state: 'queued' });
      await now.killed();
      now = await begins();
      expect(await bench.ask(first)).toMatchObject({ state: 'queued' });
      expect(await bench.ask(asks(now.device, 2, list))).toMatchObject({ state: 'queued' });
      // Handed back, and another one knows nothing of who looked when.
      await says({ handedBackAt: at });
      await now.killed();
      now = await begins();
      const again = { state: 'finished', outcome: { state: 'FAILED', error: { code: 'WINDOW_CHANGED' } } };
      expect(await ended(first)).toMatchObject(again);
      expect(await ended(asks(now.device, 3, click))).toMatchObject(again);
      expect(await ended(asks(now.device, 4, list))).toMatchObject({ outcome: { state: 'COMPLETED' } });
      const last = asks(now.device, 5, click);
      expect(await ended(last)).toMatchObject({ outcome: { state: 'COMPLETED' } });
      expect(await ended(last)).toMatchObject({ outcome: { state: 'COMPLETED' } });
      expect(did).toEqual([LIST, LIST, 'click_input']);
    } finally {
      await registry.close();
    }
  });
});
