import { demand, demandEqual, type Check } from '../check.js';
import { Client, typesOf } from '../client.js';
import { outcomeFrame, outcomeWith, RAN, registerOf, resultsFor, success, TOOL_LIST, type Fields } from '../frames.js';
import { commandIdOf, type Lab, type Revised } from '../lab.js';
import type { Frame } from '../peer.js';

const TASK = 'table 5, TASK';
const END = 'table 5, TASK_END';
/** A TASK with the exact tool call to make: no model is needed. */
const callFor = (targetId: string, session: string, command: string): Fields => ({
  type: 'task',
  status: 'continue',
  session_id: session,
  task_name: `galaxy/interop/${session}`,
  target_id: targetId,
  request: 'Task Description: say hello\nTips for Completion:\nNo tips available.',
  metadata: { orrery: { command: { tool: 'EXEC_CLI', arguments: { command } } } },
});

const isEndOf = (session: string) => (frame: Frame) => frame.type === 'task_end' && frame['session_id'] === session;

const untilEnd = ({ peer }: Client, session: string): Promise<Frame> =>
  peer.next(`TASK_END of ${session}`, isEndOf(session), peer.taskMs);

const nextCommand = ({ peer }: Client): Promise<Frame> => peer.nextOf('command', peer.taskMs);

/** A device of ours and a client that may send it tasks. */
async function pair(lab: Lab): Promise<{ device: Revised; client: Client }> {
  const device = await lab.revised(1);
  return { device, client: await lab.constellationFor(device.id) };
}

/** TASK to TASK_END, with a device that does the work and a system that gives it. */
export const EXECUTION: readonly Check[] = [
  {
    id: 'task.done',
    what: 'TASK is acknowledged and leads to a COMMAND on its device, whose result comes back in TASK_END completed',
    source: `${TASK}: COMMAND; ${END}: result; recording 14`,
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const { device, client } = await pair(lab);
      const session = lab.unique('done');
      client.send(callFor(device.id, session, 'uname -s'));
      const acknowledged = await client.peer.next(
        'an answer',
        (frame) => frame['session_id'] === session,
        client.peer.taskMs,
      );
      demandEqual([acknowledged.type, acknowledged['status']], ['heartbeat', 'ok'], 'the first answer to TASK');
      const command = await nextCommand(device);
      const [action] = command['actions'] as Fields[];
      demandEqual(action?.['parameters'], { command: 'uname -s' }, 'the arguments of the COMMAND');
      device.send(outcomeFrame(String(commandIdOf(command)), outcomeWith({ ...RAN, status: 'SUCCESS', exit_code: 0 })));
      const end = await untilEnd(client, session);
      demandEqual(end['status'], 'completed', 'the status of TASK_END');
      demand(JSON.stringify(end['result']).includes('ok\\n'), 'the result is not in TASK_END');
      demandEqual(client.peer.frames.filter(isEndOf(session)).length, 1, 'the number of TASK_ENDs');
    },
  },
  {
    id: 'task.failed',
    what: 'a failed COMMAND ends its TASK with TASK_END failed, which says why',
    source: `${END}: error; UFO: task status has to be the outcome`,
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const { device, client } = await pair(lab);
      const session = lab.unique('failed');
      client.send(callFor(device.id, session, 'false'));
      const error = { code: 'TOOL_ERROR', message: 'the disk is full', outcome: 'failed' };
      const failed = { ...outcomeWith(null, 'FAILED'), error };
      device.send(outcomeFrame(String(commandIdOf(await nextCommand(device))), failed));
      const end = await untilEnd(client, session);
      demandEqual(end['status'], 'failed', 'the status of TASK_END');
      demand(String(end['error']).includes('the disk is full'), `TASK_END says only: ${String(end['error'])}`);
    },
  },
  {
    id: 'task.twice-while-open',
    what: 'a TASK that comes twice is done once and ends once',
    source: `${TASK}: idempotent in limits, session guard; UFO`,
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const { device, client } = await pair(lab);
      const session = lab.unique('twice');
      client.send(callFor(device.id, session, 'true'));
      const command = await nextCommand(device);
      client.send(callFor(device.id, session, 'true'));
      await client.answersToHeartbeat();
      device.send(outcomeFrame(String(commandIdOf(command))));
      await untilEnd(client, session);
      const behind = lab.unique('behind');
      client.send(callFor(device.id, behind, 'true'));
      device.send(outcomeFrame(String(commandIdOf(await nextCommand(device)))));
      await untilEnd(client, behind);
      demandEqual(client.peer.frames.filter(isEndOf(session)).length, 1, 'the number of TASK_ENDs');
      demandEqual(typesOf(device.peer.frames).filter((type) => type === 'command').length, 2, 'the number of COMMANDs');
    },
  },
  {
    id: 'task.again-after-its-end',
    what: 'a TASK that is sent again after its end is answered with the same end and not done again',
    source: `${END}: idempotent, reconnection flush`,
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const { device, client } = await pair(lab);
      const session = lab.unique('again');
      client.send(callFor(device.id, session, 'true'));
      device.send(outcomeFrame(String(commandIdOf(await nextCommand(device)))));
      const { status, result } = await untilEnd(client, session);
      client.send(callFor(device.id, session, 'true'));
      const again = await untilEnd(client, session);
      demandEqual([again['status'], again['result']], [status, result], 'the end that came again');
      demandEqual(typesOf(device.peer.frames).filter((type) => type === 'command').length, 1, 'the number of COMMANDs');
    },
  },
  {
    id: 'task.session-in-use',
    what: 'another TASK under a session_id that is open is refused, and the open one ends as if nothing had come',
    source: `${TASK}: session guard`,
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const { device, client } = await pair(lab);
      const session = lab.unique('guard');
      client.send(callFor(device.id, session, 'true'));
      const command = await nextCommand(device);
      client.send(callFor(device.id, session, 'something else'));
      await client.peer.nextOf('error');
      device.send(outcomeFrame(String(commandIdOf(command))));
      demandEqual((await untilEnd(client, session))['status'], 'completed', 'the status of TASK_END');
      demandEqual(typesOf(device.peer.frames).filter((type) => type === 'command').length, 1, 'the number of COMMANDs');
    },
  },
  {
    id: 'task.device-gone',
    what: 'a TASK whose device leaves in the middle of it ends with TASK_END failed',
    source: 'recording 17; paper 7.5',
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const peer = await lab.dial();
      peer.send(registerOf(lab.device.id));
      await peer.nextOf('heartbeat');
      const device = new Client(peer, { id: lab.device.id, role: 'device' });
      const tools = [{ ...TOOL_LIST[0], tool_name: 'EXEC_CLI', tool_key: 'action::EXEC_CLI' }];
      device.send(resultsFor(await peer.nextOf('command'), () => success(tools)));
      const client = await lab.constellationFor(device.id);
      const session = lab.unique('gone');
      client.send(callFor(device.id, session, 'sleep 60'));
      await nextCommand(device);
      peer.cut();
      demandEqual((await untilEnd(client, session))['status'], 'failed', 'the status of TASK_END');
    },
  },
  {
    id: 'task.client-gone',
    what: 'the TASKs of a client that leaves are aborted, and their device is told to stop',
    source: 'paper 7.5: proactively aborts all ongoing tasks of that client',
    profile: 'strict',
    needs: ['constellation', 'execution'],
    run: async (lab) => {
      const { device, client } = await pair(lab);
      client.send(callFor(device.id, lab.unique('left'), 'sleep 60'));
      const command = await nextCommand(device);
      client.peer.cut();
      const { attempt } = command['orrery'] as Fields;
      await device.about('stop_attempt', { attempt }, device.peer.taskMs);
      device.send(outcomeFrame(String(commandIdOf(command)), outcomeWith(null, 'CANCELLED')));
    },
  },
  {
    id: 'r2.unclaimed-result',
    what: 'a result that nobody asks for any more is handed over, and its device may forget it',
    source: 'our promise: device-agent.deliver after unclaimedMs',
    profile: 'revision-2',
    needs: ['execution'],
    waitsMs: 6_000,
    run: async (lab) => {
      const device = await lab.revised(2);
      const commandId = `${lab.unique('run')}.task.1.0.0`;
      device.resume([], [commandId]);
      await device.peer.nextOf('resumed');
      device.send(outcomeFrame(commandId, outcomeWith({ late: true })));
      await device.about('result_stored', { command_id: commandId }, 6_000 + lab.target.answerMs);
    },
  },
];
