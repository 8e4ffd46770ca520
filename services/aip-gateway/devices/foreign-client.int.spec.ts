import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { commandIdOf, type RunCommandRequest } from '#proto';
import { FakeDevice, type FakeDeviceOptions } from '#libs/testing';
import { CONTENTION } from '../sockets/contention.js';
import { NEVER, run, TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';
let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

describe('a foreign client', () => {
  const foreign = (gate: BenchGateway, deviceId: string, options: Partial<FakeDeviceOptions> = {}) =>
    bench.device({ ...gate, url: `${gate.url}?token=token-${deviceId}` }, deviceId, { journalId: null, ...options });
  const present = (deviceId: string) =>
    until(
      () => bench.presenceOf(deviceId),
      (presence) => presence !== null,
    ).then((presence) => presence?.sessionId ?? '');

  it('is asked for its tools before it is shown to anybody', async () => {
    // It has all the time that it takes: who is too slow is shown without tools.
    const stopped = Date.now();
    const gate = await bench.gateway({ clock: { now: () => stopped } });
    const client = await foreign(gate, 'f1', { tools: ['execute_command'] });
    const shown = await until(
      () => bench.presenceOf('f1'),
      (presence) => presence !== null,
    );
    expect(shown).toMatchObject({
      journalId: null,
      telemetry: { tools: [{ name: 'execute_command' }] },
    });
    expect(client.received.map(({ type }) => type)).toEqual(['heartbeat', 'command']);
  });

  it('is asked again when a tool is wanted that it has not named, and has it from then on', async () => {
    const client = await foreign(await bench.gateway(), 'f4', { tools: ['get_system_info'] });
    const sessionId = await present('f4');
    const command = { tool: 'execute_command', arguments: { command: 'uname' } };
    client.toolNames = ['execute_command'];
    const refused = await bench.ask(run(client, 'a', { sessionId, command }));
    expect(refused).toMatchObject({ state: 'refused', code: 'UNKNOWN_TOOL' });
    const presence = await until(
      () => bench.presenceOf('f4'),
      (held) => held?.telemetry.tools[0]?.name === 'execute_command',
    );
    expect(presence?.sessionId).toBe(sessionId);
    expect(await bench.ask(run(client, 'b', { sessionId, command }))).toMatchObject({ state: 'finished' });
  });

  it('that takes the session from another one again and again is refused, and who has it works on', async () => {
    // All of it in one moment, however long the machine takes: what counts is how often within a time.
    const moment = Date.now();
    const gate = await bench.gateway({ clock: { now: () => moment } });
    let sessionId = '';
    let holder: FakeDevice | undefined;
    for (let times = 0; times <= CONTENTION.replacementsMax + 1; times++) {
      holder = await foreign(gate, 'twin');
      sessionId = await bench.sessionOf('twin', sessionId);
    }
    // That the last one has the session may be seen before its gateway has heard so: it says itself when it refuses.
    const told = await until(
      () => bench.presenceOf('twin'),
      (presence) => presence?.contendedAt !== undefined,
    );
    expect(told?.sessionId).toBe(sessionId);
    await expect(foreign(gate, 'twin')).rejects.toMatchObject({ status: 429 });
    await expect(foreign(await bench.gateway(), 'other')).resolves.toBeDefined();
    if (holder === undefined) throw new Error('nobody came');
    expect(await bench.ask(run(holder, 'a', { sessionId }))).toMatchObject({ state: 'finished' });
    expect(await gate.metrics.registry.metrics()).toMatch(/aip_devices_contended_total(\{.*\})? 1/u);

    await holder.close();
    await until(
      () => bench.presenceOf('twin'),
      (presence) => presence === null,
    );
    await foreign(gate, 'twin');
    await present('twin');
  });

  it('whose connection is cut again and again comes back at once each time', async () => {
    const gate = await bench.gateway();
    for (let times = 0; times <= CONTENTION.replacementsMax + 2; times++) {
      const client = await foreign(gate, 'cut');
      await present('cut');
      client.cut();
      await until(
        () => bench.presenceOf('cut'),
        (presence) => presence === null,
      );
    }
  });

  it('gets one command after the other, without our fields', async () => {
    const client = await foreign(await bench.gateway(), 'f2', { onCommand: NEVER });
    const sessionId = await present('f2');
    const [first, second] = [run(client, 'a', { sessionId }), run(client, 'b', { sessionId })];
    const answer = bench.ask(first);
    const running = await client.untilCommand(first.commandId);
    // Once the first is there: who asks before the desk is open asks again, and may come in any order.
    const next = bench.ask(second);
    // Answered when the gateway has taken what was asked before it.
    await bench.ask({ kind: 'stored', commandId: 'nobody.t.1.0.0', deviceId: 'f2' });
    expect(client.commands).toHaveLength(1);
    client.finish(running, { result: { success: true, error: 'Blocked.' } });
    client.finish(await client.untilCommand(second.commandId), { result: { success: false, error: 'Blocked.' } });
    expect(await Promise.all([answer, next])).toMatchObject([
      { outcome: { state: 'COMPLETED' } },
      { outcome: { state: 'FAILED', error: { message: 'Blocked.' } } },
    ]);
    expect(client.commands.map(({ orrery }) => orrery)).toEqual([undefined, undefined]);
  });

  it.each([
    ['is still what a person was shown', 'Save', 'COMPLETED', ['LIST', 'LIST', 'click_input']],
    ['has become another one', 'Delete', 'WINDOW_CHANGED', ['LIST', 'LIST']],
  ])('is sent an approved act when its control %s', async (_, nameThen, ends, sent) => {
    const LIST = 'get_app_window_controls_target_info';
    const listed = ['Save', nameThen].map((name) => [{ id: '7', name, type: 'Button', rect: [1, 2, 3, 4] }]);
    const did: string[] = [];
    const client = await foreign(await bench.gateway(), 'screen', {
      tools: [LIST, 'click_input'],
      onCommand: (command, device) => {
        const tool = command.actions[0]?.tool_name ?? '';
        did.push(tool === LIST ? 'LIST' : tool);
        device.finish(command, { result: tool === LIST ? (listed.shift() ?? null) : 'clicked' });
      },
    });
    const sessionId = await present('screen');
    const on = { agent: 'AppAgent', application: 'WINWORD.EXE', window: 'letter', snapshot: '2.0' };
    const asked = run(client, 'a', { sessionId });
    const at = (index: number) => ({ ...asked, commandId: commandIdOf(asked.attempt, 2, index) });
    const look = { tool: LIST, arguments: {}, on: { ...on, snapshot: '' } };
    expect(await bench.ask({ ...at(0), command: look })).toMatchObject({ outcome: { state: 'COMPLETED' } });
    const click = {
      ...at(1),
      command: {
        tool: 'click_input',
        arguments: { id: '7', name: 'Save' },
        on: { ...on, control: { id: '7', name: 'Save', type: 'Button' } },
      },
      judged: { class: 'privileged', decision: 'approve', rule: 'screen.commit', approvalId: 'yes-1' } as const,
    };
    // As the device-agent does: what has not ended is asked for again.
    const answer = await until(
      () => bench.ask(click),
      ({ state }) => state === 'finished',
    );
    const said = answer.state === 'finished' ? (answer.outcome.error?.code ?? answer.outcome.state) : answer.state;
    expect([said, did]).toEqual([ends, sent]);
  });

  it('gets nothing of an approved act when its gateway dies between its own look and the act', async () => {
    const LIST = 'get_app_window_controls_target_info';
    const gate = await bench.gateway();
    const did: string[] = [];
    const looked = Promise.withResolvers<void>();
    const options = (isKilled: boolean): Partial<FakeDeviceOptions> => ({
      tools: [LIST, 'click_input'],
      onCommand: (command, device) => {
        did.push(command.actions[0]?.tool_name ?? '');
        // The look that comes before the act is the second one: its gateway dies before it hears the answer.
        if (!isKilled && did.length === 2) return looked.resolve();
        device.finish(command, { result: [{ id: '7', name: 'Save', type: 'Button', rect: [1, 2, 3, 4] }] });
      },
    });
    const before = await foreign(gate, 'between', options(false));
    const sessionId = await present('between');
    const on = { agent: 'AppAgent', application: 'WINWORD.EXE', window: 'letter', snapshot: '2.0' };
    const of = (request: RunCommandRequest, index: number): RunCommandRequest => ({
      ...request,
      commandId: commandIdOf(request.attempt, 2, index),
    });
    const look = { tool: LIST, arguments: {}, on: { ...on, snapshot: '' } };
    await bench.ask(of(run(before, 'a', { sessionId, command: look }), 0));
    const control = { id: '7', name: 'Save', type: 'Button' };
    const command = { tool: 'click_input', arguments: { id: '7', name: 'Save' }, on: { ...on, control } };
    const judged = { class: 'privileged', decision: 'approve', rule: 'screen.commit', approvalId: 'yes-1' } as const;
    const click = of(run(before, 'a', { sessionId, command, judged }), 1);
    // Its gateway dies before it answers: nobody waits for that.
    void bench.ask(click).catch(() => undefined);
    await looked.promise;
    await bench.kill(gate);
    const after = await foreign(await bench.gateway(), 'between', options(true));
    const next = await bench.sessionOf('between', sessionId);
    // Nobody is left who could say that it was never sent.
    expect(await bench.ask(click)).toMatchObject({ state: 'refused', code: 'OUTCOME_UNKNOWN' });
    // And what was seen before is no reason to act now.
    expect(await bench.ask(of(run(after, 'a', { sessionId: next, command, judged }), 2))).toMatchObject({
      outcome: { state: 'FAILED', error: { code: 'WINDOW_CHANGED' } },
    });
    expect(did).toEqual([LIST, LIST]);
  });

  it('never gets a command twice: what it was doing when it left is unknown for ever', async () => {
    const gate = await bench.gateway();
    const before = await foreign(gate, 'f3', { onCommand: NEVER });
    const request = run(before, 'a', { sessionId: await present('f3') });
    const answer = bench.ask(request);
    await before.untilCommand(request.commandId);
    await before.close();
    expect(await answer).toMatchObject({ state: 'finished', outcome: { state: 'OUTCOME_UNKNOWN' } });

    const after = await foreign(gate, 'f3');
    await until(
      () => bench.presenceOf('f3'),
      (presence) => presence !== null && presence.sessionId !== request.sessionId,
    );
    expect(await bench.ask(request)).toMatchObject({ state: 'refused', code: 'OUTCOME_UNKNOWN' });
    expect(after.commands).toEqual([]);
  });
});

describe('recorded frames of an unmodified foreign client', () => {
  interface Line {
    readonly from: 'device' | 'server';
    readonly frame: { readonly type: string; readonly [field: string]: unknown };
  }
  const fixture = (name: string): unknown =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../../../proto/fixtures/aip', name), 'utf8'));
  const dial = async (gate: BenchGateway, deviceId: string): Promise<FakeDevice> => {
    const dialled = await FakeDevice.dial({
      url: `${gate.url}?token=token-${deviceId}`,
      deviceId,
      onCommand: NEVER,
      namesTools: false,
    });
    bench.keep(dialled);
    return dialled;
  };

  it('register and heartbeat are answered as its own server did', async () => {
    const lines = fixture('ufo-register-heartbeat.json') as Line[];
    const client = await dial(await bench.gateway(), 'linux_agent_1');
    for (const { from, frame } of lines) if (from === 'device') client.raw(JSON.stringify(frame));
    await until(
      async () => client.received.filter(({ type }) => type === 'heartbeat').length,
      (count) => count === 2,
    );
    for (const answer of client.received.filter(({ type }) => type === 'heartbeat')) {
      expect(answer).toEqual({
        type: 'heartbeat',
        status: 'ok',
        timestamp: expect.any(String),
        response_id: expect.any(String),
      });
    }
  });

  it('commands are carried through with its own results', async () => {
    const lines = fixture('ufo-two-commands.json') as Line[];
    const replies = lines.filter(({ frame }) => frame.type === 'command_results').map(({ frame }) => frame);
    const client = await dial(await bench.gateway(), 'linux_agent_1');
    const reply = (index: number, commandId: string): void =>
      client.raw(JSON.stringify({ ...replies[index], prev_response_id: commandId }));
    const [register] = lines;
    client.raw(JSON.stringify(register?.frame));
    const { response_id: listTools } = await client.until((frame) => frame.type === 'command');
    reply(0, listTools ?? '');
    // Who names its tools late is shown without them until then.
    const presence = await until(
      () => bench.presenceOf('linux_agent_1'),
      (held) => held !== null && held.telemetry.tools.length > 0,
    );
    expect(presence?.telemetry).toMatchObject({
      platform: 'linux',
      cpuCount: 2,
      tools: [{ name: 'execute_command' }, { name: 'get_system_info' }],
    });
    for (const [index, stdout] of [
      [1, 'Linux\n'],
      [2, 'second-command\n'],
    ] as const) {
      const command = { tool: 'execute_command', arguments: { command: 'uname -s', api_key: 'mcp-key' } };
      const sessionId = presence?.sessionId ?? '';
      const request = run(client, `t${index}`, { deviceId: 'linux_agent_1', sessionId, journalId: null, command });
      const answer = bench.ask(request);
      const sent = await client.untilCommand(request.commandId);
      const recorded = lines.find(({ frame }) => frame['response_id'] === replies[index]?.['prev_response_id']);
      expect(Object.keys(sent).sort()).toEqual(Object.keys(recorded?.frame ?? {}).sort());
      reply(index, request.commandId);
      expect(await answer).toMatchObject({ outcome: { state: 'COMPLETED', result: { exit_code: 0, stdout } } });
    }
  });

  it('first frames that are no registration get an answer and a close, where its own server kept silent', async () => {
    const gate = await bench.gateway();
    const frames = fixture('ufo-first-frames.json') as unknown[];
    const ends = await Promise.all(
      frames.map(async (frame, index) => {
        const client = await dial(gate, nameOf(frame) ?? `nobody${index}`);
        client.raw(typeof frame === 'string' ? frame : JSON.stringify(frame));
        const answer = await client.until(() => true);
        return answer.type === 'error' ? `closed ${(await client.closed).code}` : answer.type;
      }),
    );
    expect(ends).toEqual([
      'closed 1002', // not JSON
      'closed 1002', // a task
      'heartbeat', // no client_id: the credential names it
      'closed 1002', // no status
      'closed 1002', // no such role
      'closed 1008', // a constellation
      'closed 1008',
      'heartbeat', // nothing but a name
      'heartbeat', // more than we know
    ]);
  });

  const nameOf = (frame: unknown): string | undefined => {
    const id = typeof frame === 'object' && frame !== null && 'client_id' in frame ? frame.client_id : undefined;
    return typeof id === 'string' ? id : undefined;
  };
});
