import { expect, it } from '@jest/globals';
import type { ModelRequest } from '#libs/llm';
import type { Json } from '#proto';
import { writeIdOf, type BoardDesk } from '../inputs/board.client.js';
import { messageOf } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { finish, reply } from '../testing/shell-agent.js';

type Asked = Parameters<BoardDesk['use']>;

const use = (name: 'READ_BOARD' | 'WRITE_BOARD', given: Record<string, Json>) =>
  reply('', { action: { function: name, arguments: given, status: 'CONTINUE' } });
const SCRIPT = [use('READ_BOARD', {}), use('WRITE_BOARD', { name: 'free', value: 120 }), reply('df'), finish('done')];

/** The same turn gets the same answer, whoever asks. */
const byTurn = ({ turn }: ModelRequest) => SCRIPT[Number(turn.split('.').at(-1)) - 1];

/** A board that holds what was written, once per id, and says how it stood. */
function boardOf() {
  const written = new Map<string, Json>();
  const asked: Asked[] = [];
  const board: BoardDesk['use'] = async (...call) => {
    asked.push(call);
    const [, place, told] = call;
    if (told.does === 'write') written.set(writeIdOf(place), told.value);
    return {
      done: true,
      text: told.does === 'read' ? `${written.size} values, looked at ${asked.length}` : 'revision 1',
    };
  };
  return { written, asked, board };
}

it('an agent is told what stands on the board and writes there, and each is a fact of its attempt', async () => {
  const world = new AgentWorld(SCRIPT);
  const { board, asked } = boardOf();
  expect(await world.carryOut({ board })).toEqual({ kind: 'done' });
  expect(await world.facts('BOARD_USED')).toEqual([
    { step: 1, index: 0, does: 'read', done: true, text: '0 values, looked at 1' },
    { step: 2, index: 0, does: 'write', name: 'free', done: true, text: 'revision 1' },
  ]);
  expect(asked.map(([key, place]) => [key.taskId, place])).toEqual([
    ['a', commandAt(1)],
    ['a', commandAt(2)],
  ]);
  expect(world.device.executed).toEqual([commandAt(3)]);
  expect(JSON.stringify(world.model.requests[1]?.messages)).toContain('looked at 1');
  expect(await world.violations()).toEqual([]);
});

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
  'whose process dies before call %i is told the same again, and has written once',
  async (nth) => {
    const world = new AgentWorld(byTurn);
    const { board, written } = boardOf();
    let calls = 0;
    const before = async () => {
      if (calls++ >= nth) throw new Error('killed');
    };
    await world.world.record(world.run);
    await world
      .agent({ board, before })
      .starts.handle(messageOf(world.commit))
      .catch(() => undefined);
    await world.agent({ board, instance: 'i2' }).starts.handle(messageOf(world.commit, 2));
    expect(await world.end()).toMatchObject({ status: 'completed' });
    expect([...written.values()]).toEqual([120]);
    const facts = await world.facts('BOARD_USED');
    expect(facts.map(({ step, does }) => [step, does])).toEqual([
      [1, 'read'],
      [2, 'write'],
    ]);
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain(facts[0]?.text);
  },
);

it('a name that the board does not take is refused in words, and can be recorded', async () => {
  const name = `free gb ${'x'.repeat(100)}`;
  const world = new AgentWorld([use('WRITE_BOARD', { name, value: 1 }), finish('done')]);
  await world.carryOut({ board: async () => ({ done: false, text: 'Nothing was written.' }) });
  expect(await world.facts('BOARD_USED')).toMatchObject([{ name: name.slice(0, 64), done: false }]);
});
