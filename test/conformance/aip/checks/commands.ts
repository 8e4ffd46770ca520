import { AIP_LIMITS, commandIdOf, type DeviceAnswer, type RunCommandRequest } from '#proto';
import { demand, demandEqual, text, type Check } from '../check.js';
import { Client, typesOf } from '../client.js';
import { outcomeFrame, outcomeWith, RAN, registerOf, resultsFor, success, TOOL_LIST, type Fields } from '../frames.js';
import type { Lab, Revised } from '../lab.js';

const COMMAND = 'table 5, COMMAND';
const RESULTS = 'table 5, COMMAND_RESULTS';

/** A request for this device as the system makes it. */
export function requestFor(lab: Lab, device: Revised, change: Partial<RunCommandRequest> = {}): RunCommandRequest {
  const attempt = { runId: lab.unique('run'), taskId: 'task', attempt: 1 };
  return {
    kind: 'run',
    commandId: commandIdOf(attempt),
    attempt,
    deviceId: device.id,
    sessionId: device.sessionId,
    journalId: device.journalId,
    command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
    priority: 0,
    notAfter: '2099-01-01T00:00:00.000Z',
    ...change,
  };
}

/** The result that whoever asked was given. */
export function resultOf(answer: DeviceAnswer): unknown {
  demand(answer.state === 'finished', `the answer should be an outcome and is ${text(answer)}`);
  return answer.outcome.result;
}

/** What a device sends that has no revision of ours. */
const WITHOUT_COMMAND: readonly Check[] = [
  {
    id: 'results.unknown-command',
    what: 'COMMAND_RESULTS for a command that nobody gave are answered with ERROR or not at all, and the connection goes on',
    source: `${RESULTS}: idempotent; UFO: unknown prev_response_id is ignored`,
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const command = { response_id: 'nobody-gave-it', status: 'continue', session_id: 's-unknown', actions: [{}] };
      const answers = await device.answersTo(resultsFor(command, () => success(RAN)));
      demand(
        answers.every(({ type }) => type === 'error'),
        `it was answered with ${typesOf(answers).join(', ')}`,
      );
    },
  },
  {
    id: 'results.empty',
    what: 'COMMAND_RESULTS without a result are a frame like others',
    source: 'UFO: actions [] is answered with action_results []',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const command = { response_id: 'nobody-gave-it', status: 'continue', actions: [] };
      const answers = await device.answersTo(resultsFor(command, () => success(RAN)));
      demand(
        answers.every(({ type }) => type === 'error'),
        `it was answered with ${typesOf(answers).join(', ')}`,
      );
    },
  },
  {
    id: 'results.without-id',
    what: 'COMMAND_RESULTS that do not say of which COMMAND are answered with ERROR',
    source: `${RESULTS}: key field prev_response_id, correlation`,
    profile: 'strict',
    run: async (lab) => {
      const device = await lab.revised(1);
      await device.demandError({ type: 'command_results', action_results: [success(RAN)] });
    },
  },
  {
    id: 'results.forged-id',
    what: 'COMMAND_RESULTS in the name of another device are answered with ERROR',
    source: 'UFO: client_id does not match the registered connection',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const command = { response_id: 'r1', status: 'continue', session_id: 's1', actions: [{}] };
      await device.demandError({ ...resultsFor(command, () => success(RAN)), client_id: 'somebody-else' });
    },
  },
  {
    id: 'command.list-tools',
    what: 'a client of another system is asked for its tools with a COMMAND that it can answer',
    source: 'UFO: the first COMMAND is list_tools; 1.12.6',
    profile: 'strict',
    run: async (lab) => {
      const peer = await lab.dial();
      peer.send(registerOf(lab.device.id));
      await peer.nextOf('heartbeat');
      const command = await peer.nextOf('command');
      demandEqual(typeof command['response_id'], 'string', 'the type of response_id');
      demandEqual(command['agent_name'], 'LinuxAgent', 'the agent name');
      const [action, ...more] = command['actions'] as Fields[];
      demandEqual(more.length, 0, 'the number of further actions');
      const { tool_name: tool, tool_type: kind, parameters, call_id: call } = action ?? {};
      demandEqual([tool, kind, typeof call], ['list_tools', 'action', 'string'], 'tool, tool_type and type of call_id');
      demandEqual(parameters, { tool_type: 'action' }, 'the parameters');
      const client = new Client(peer, { id: lab.device.id, role: 'device' });
      await client.demandSilence(resultsFor(command, () => success(TOOL_LIST)));
    },
  },
];

const DISPATCH: readonly Check[] = [
  {
    id: 'command.shape',
    what: 'COMMAND has an id, and each action a tool, a type, arguments and a call id',
    source: `${COMMAND}: actions[], response_id; UFO`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const request = requestFor(lab, device, { command: { tool: 'EXEC_CLI', arguments: { command: 'uname -s' } } });
      const answer = lab.ended(request);
      const command = await device.command(request.commandId);
      demandEqual(command['response_id'], request.commandId, 'response_id');
      demandEqual([command['status'], command['agent_name']], ['continue', 'LinuxAgent'], 'status and agent name');
      demandEqual(typeof command['session_id'], 'string', 'the type of session_id');
      const [action] = command['actions'] as Fields[];
      const wanted = { tool_name: 'EXEC_CLI', parameters: { command: 'uname -s' }, tool_type: 'action' };
      demandEqual({ ...action, call_id: undefined }, wanted, 'the action');
      demandEqual(typeof action?.['call_id'], 'string', 'the type of call_id');
      device.send(outcomeFrame(request.commandId));
      demandEqual(resultOf(await answer), RAN, 'the result');
    },
  },
  {
    id: 'command.correlated',
    what: 'results that come in another order reach who asked for them',
    source: `${RESULTS}: correlation`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const requests = [requestFor(lab, device), requestFor(lab, device), requestFor(lab, device)];
      const answers = requests.map((request) => lab.ended(request));
      for (const { commandId } of requests) await device.command(commandId);
      for (const { commandId } of requests.toReversed()) {
        device.send(outcomeFrame(commandId, outcomeWith({ of: commandId })));
      }
      for (const [index, answer] of answers.entries()) {
        demandEqual(resultOf(await answer), { of: requests[index]?.commandId }, `the result of command ${index + 1}`);
      }
    },
  },
  {
    id: 'command.foreign-in-order',
    what: 'a client of another system gets one COMMAND after the other, in the order they were asked for',
    source: `${COMMAND}: ordering preserved; paper 7.4: executes commands sequentially`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await foreign(lab);
      const requests = [await requestOf(lab, device), await requestOf(lab, device), await requestOf(lab, device)];
      const answers: Promise<DeviceAnswer>[] = [];
      for (const request of requests) {
        answers.push(lab.ended(request));
        await lab.driver.settled();
      }
      for (const { commandId } of requests) {
        const command = await device.peer.nextOf('command');
        demandEqual(command['response_id'], commandId, 'the id of the next COMMAND');
        demandEqual(command['orrery'] ?? null, null, 'what a client of another system gets of our own fields');
        demandEqual(typesOf(await device.answersToHeartbeat()), ['heartbeat'], 'the answer to a heartbeat meanwhile');
        const waiting = device.peer.frames.slice(device.peer.frames.indexOf(command) + 1);
        demand(!typesOf(waiting).includes('command'), 'the next COMMAND came before the results of this one');
        device.send(resultsFor(command, ({ call_id: call }) => success(RAN, call)));
      }
      for (const answer of answers) demandEqual(resultOf(await answer), RAN, 'the result');
    },
  },
  {
    id: 'command.once',
    what: 'a COMMAND that is asked for again is not sent again, and both who ask get its one outcome',
    source: `${COMMAND}: not idempotent, must not be replayed`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const request = requestFor(lab, device);
      const first = lab.ended(request);
      await device.command(request.commandId);
      const second = lab.ended(request);
      await lab.driver.settled();
      await device.answersToHeartbeat();
      device.send(outcomeFrame(request.commandId, outcomeWith({ once: true })));
      for (const answer of [first, second, lab.ended(request)]) {
        demandEqual(resultOf(await answer), { once: true }, 'the outcome');
      }
      await device.answersToHeartbeat();
      demandEqual(typesOf(device.peer.frames).filter((type) => type === 'command').length, 1, 'the number of COMMANDs');
    },
  },
  {
    id: 'command.conflict',
    what: 'an id that is known with other content is refused, and nothing is sent',
    source: `${COMMAND}: must not be replayed without coordination`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const request = requestFor(lab, device);
      const first = lab.ended(request);
      await device.command(request.commandId);
      const other = { ...request, command: { tool: 'EXEC_CLI', arguments: { command: 'rm -rf .' } } };
      const refused = await lab.driver.ask(other);
      demandEqual(refused.state === 'refused' && refused.code, 'COMMAND_CONFLICT', 'the answer to the other content');
      device.send(outcomeFrame(request.commandId));
      resultOf(await first);
    },
  },
  {
    id: 'command.expired',
    what: 'a COMMAND whose time to start has passed is refused and never sent',
    source: `${COMMAND}: timeout per action`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const refused = await lab.driver.ask(requestFor(lab, device, { notAfter: '2001-01-01T00:00:00.000Z' }));
      demandEqual(refused.state === 'refused' && refused.code, 'EXPIRED', 'the answer');
      await device.answersToHeartbeat();
      demand(!typesOf(device.peer.frames).includes('command'), 'it was sent all the same');
    },
  },
  {
    id: 'command.unknown-tool',
    what: 'a tool that the device does not have is refused and never sent: such a device would never answer',
    source: 'UFO',
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const refused = await lab.driver.ask(requestFor(lab, device, { command: { tool: 'TELEPATHY', arguments: {} } }));
      demandEqual(refused.state === 'refused' && refused.code, 'UNKNOWN_TOOL', 'the answer');
      await device.answersToHeartbeat();
      demand(!typesOf(device.peer.frames).includes('command'), 'it was sent all the same');
    },
  },
  {
    id: 'command.foreign-gone',
    what: 'what a client of another system was doing when it left is unknown for ever, and not sent again',
    source: `${COMMAND}: not idempotent; UFO, disconnects`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await foreign(lab);
      const request = await requestOf(lab, device);
      const answer = lab.ended(request);
      await device.peer.nextOf('command');
      device.peer.cut();
      const left = await answer;
      // Who was told before that it runs asks again, and then whoever has the device now.
      const outcome = left.state === 'finished' ? left.outcome.state : left.state === 'refused' && left.code;
      demandEqual(outcome, 'OUTCOME_UNKNOWN', 'the outcome');
      const back = await foreign(lab);
      const again = await lab.ended(request);
      demandEqual(again.state === 'refused' && again.code, 'OUTCOME_UNKNOWN', 'the answer to the repeat');
      await back.answersToHeartbeat();
      demandEqual(
        typesOf(back.peer.frames).filter((type) => type === 'command').length,
        1,
        'COMMANDs: list_tools only',
      );
    },
  },
];

const OUTCOMES: readonly Check[] = [
  {
    id: 'results.duplicate',
    what: 'COMMAND_RESULTS that come twice count once and are not answered the second time',
    source: `${RESULTS}: idempotent, safely ignored`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      device.send(outcomeFrame(request.commandId, outcomeWith({ count: 1 })));
      await device.demandSilence(outcomeFrame(request.commandId, outcomeWith({ count: 1 })));
      demandEqual(resultOf(await answer), { count: 1 }, 'the result');
    },
  },
  {
    id: 'results.replayed-differently',
    what: 'a replayed result with other content changes nothing',
    source: `${RESULTS}: idempotent`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      device.send(outcomeFrame(request.commandId, outcomeWith({ said: 'first' })));
      demandEqual(resultOf(await answer), { said: 'first' }, 'the result');
      await device.demandSilence(outcomeFrame(request.commandId, outcomeWith({ said: 'second' })));
      demandEqual(resultOf(await lab.ended(request)), { said: 'first' }, 'the result when it is asked for again');
    },
  },
  {
    id: 'results.of-another-device',
    what: 'a result for the command of another device does not end it',
    source: 'UFO: only from the device bound to that session',
    profile: 'strict',
    needs: ['driver', 'two-devices'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const hostile = await lab.revised(1, lab.otherDevice);
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      await hostile.answersTo(outcomeFrame(request.commandId, outcomeWith({ forged: true })));
      device.send(outcomeFrame(request.commandId, outcomeWith({ forged: false })));
      demandEqual(resultOf(await answer), { forged: false }, 'the result');
    },
  },
  {
    id: 'results.failure',
    what: 'a failed action is reported as failed, with its reason',
    source: `${RESULTS}: partial fail surfacing; recording 05, 07`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await foreign(lab);
      const ends: readonly [Fields, string][] = [
        [{ status: 'failure', error: 'Input validation error' }, 'FAILED'],
        [success({ success: false, exit_code: 1, stdout: '', stderr: 'no such file' }), 'FAILED'],
        [success({ success: false, error: 'Timeout after 2s.' }), 'FAILED'],
        [{ status: 'skipped', error: 'Skipped due to previous failure (early_exit=True).' }, 'FAILED'],
        [{ status: 'none' }, 'OUTCOME_UNKNOWN'],
        [success(RAN), 'COMPLETED'],
      ];
      for (const [result, state] of ends) {
        const answer = lab.ended(await requestOf(lab, device));
        device.send(resultsFor(await device.peer.nextOf('command'), () => result));
        const given = await answer;
        demandEqual(given.state === 'finished' && given.outcome.state, state, `the outcome of ${text(result)}`);
      }
    },
  },
  {
    id: 'results.missing',
    what: 'COMMAND_RESULTS without the result of its action leave the outcome unknown, and nobody waits',
    source: `${RESULTS}: partial fail surfacing`,
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await foreign(lab);
      const answer = lab.ended(await requestOf(lab, device));
      const command = await device.peer.nextOf('command');
      device.send({ ...resultsFor(command, () => RAN), action_results: [] });
      const given = await answer;
      demandEqual(given.state === 'finished' && given.outcome.state, 'OUTCOME_UNKNOWN', 'the outcome');
    },
  },
  {
    id: 'results.half-characters',
    what: 'half a character in a result becomes U+FFFD, and everything around it arrives',
    source: 'our promise: lone surrogates',
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      device.send(outcomeFrame(request.commandId, outcomeWith({ stdout: 'a\ud800b', 'k\udc00': 1 })));
      demandEqual(resultOf(await answer), { stdout: 'a\ufffdb', 'k\ufffd': 1 }, 'the result');
    },
  },
  {
    id: 'results.large',
    what: 'a result of several MiB of a client of another system arrives whole',
    source: 'UFO: screenshots and whole outputs in one frame',
    profile: 'strict',
    needs: ['driver'],
    run: async (lab) => {
      const device = await foreign(lab);
      const answer = lab.ended(await requestOf(lab, device));
      const command = await device.peer.nextOf('command');
      const bytes = AIP_LIMITS.foreignFrameBytesMax / 2;
      device.send(resultsFor(command, () => success('x'.repeat(bytes))));
      const result = resultOf(await answer);
      demandEqual(typeof result === 'string' && result.length, bytes, 'the length of the result');
    },
  },
];

/** A client of another system that has named its tools and leaves every other COMMAND to the check. */
async function foreign(lab: Lab): Promise<Client & { sessionId: string }> {
  const before = await lab.driver.sessionOf(lab.device.id);
  const peer = await lab.dial();
  peer.send(registerOf(lab.device.id));
  await peer.nextOf('heartbeat');
  const client = new Client(peer, { id: lab.device.id, role: 'device' });
  client.send(resultsFor(await peer.nextOf('command'), () => success(TOOL_LIST)));
  const sessionId = await lab.untilKnown(lab.device.id, before);
  // Answered as soon as somebody takes requests for the device; for such a client nothing follows from it.
  await lab.driver.ask({ kind: 'stored', commandId: 'nothing', deviceId: lab.device.id });
  return Object.assign(client, { sessionId });
}

async function requestOf(lab: Lab, device: Client & { sessionId: string }): Promise<RunCommandRequest> {
  const attempt = { runId: lab.unique('run'), taskId: 'task', attempt: 1 };
  return {
    kind: 'run',
    commandId: commandIdOf(attempt),
    attempt,
    deviceId: device.id,
    sessionId: device.sessionId,
    journalId: null,
    command: { tool: 'execute_command', arguments: { command: 'true' } },
    priority: 0,
    notAfter: '2099-01-01T00:00:00.000Z',
  };
}

export const COMMANDS: readonly Check[] = [...WITHOUT_COMMAND, ...DISPATCH, ...OUTCOMES];
