import { describe, expect, it } from '@jest/globals';
import { ScreenAppReply, ScreenHostReply, type Json } from './index.js';

/* Which replies of the models of a screen count; a model is told of every other one where in it the trouble is. */

const CHOOSE = 'select_application_window';

describe('a field of a reply', () => {
  const host: Json = { thought: 't', status: 'CONTINUE', function: CHOOSE };
  const app: Json = { thought: 't', action: { function: 'texts', status: 'CONTINUE' } };
  const problems = (schema: typeof ScreenHostReply | typeof ScreenAppReply, reply: Json): readonly string[] =>
    (schema.safeParse(reply).error?.issues ?? []).map(({ path }) => path.join('.'));

  it.each<[what: string, reply: Json, at: readonly string[]]>([
    ['may be left out, save thought and status', {}, []],
    ['thought is needed', { thought: undefined as never }, ['thought']],
    ['status is needed', { status: undefined as never }, ['status']],
    ['status CONFIRM is none of a HostAgent', { status: 'CONFIRM' }, ['status']],
    ['status SCREENSHOT is none of a HostAgent', { status: 'SCREENSHOT' }, ['status']],
    ['status ERROR is none of a model', { status: 'ERROR' }, ['status']],
    ['status in another spelling is none', { status: 'continue' }, ['status']],
    ['null is no text', { observation: null }, ['observation']],
    ['null is no list', { questions: null, plan: null, message: null }, ['plan', 'questions', 'message']],
    ['null is no call', { function: null, arguments: null }, ['function', 'arguments']],
    ['arguments are an object', { arguments: ['1'] }, ['arguments']],
    ['message is a list', { message: 'a tip' }, ['message']],
    ['one that is unknown is refused', { Observation: 'x' }, ['']],
    ['CONTINUE needs a call', { function: '' }, ['function']],
    ['ASSIGN needs a part', { status: 'ASSIGN' }, ['current_subtask']],
    ['ASSIGN needs a call', { status: 'ASSIGN', current_subtask: 'x', function: '' }, ['function']],
    ['PENDING needs a question', { status: 'PENDING' }, ['questions']],
    ['FINISH needs a result', { status: 'FINISH' }, ['result']],
    ['FAIL needs a result', { status: 'FAIL' }, ['result']],
  ])('of a HostAgent: %s', (_, reply, at) => {
    expect(problems(ScreenHostReply, { ...host, ...(reply as object) })).toEqual(at);
  });

  const calls = (name: string): Json => ({ function: name, status: 'CONTINUE' });
  const action = (...said: readonly Json[]): Json => ({ action: said.length === 1 ? said[0] : [...said] }) as Json;
  it.each<[what: string, reply: Json, at: readonly string[]]>([
    ['may be left out, save thought and action', {}, []],
    ['action is needed', { action: undefined as never }, ['action']],
    ['action may be a list', action(calls('a'), { status: 'FINISH' }), ['result']],
    ['a list is not empty', { action: [] }, ['action']],
    ['a list has at most eight', action(...'abcdefghi'.split('').map((name) => calls(name))), ['action']],
    ['status ASSIGN is none of an AppAgent', action({ function: 'a', status: 'ASSIGN' }), ['action']],
    ['an action is not null', { action: null }, ['action']],
    ['CONTINUE needs a call', action({ status: 'CONTINUE' }), ['action']],
    ['CONFIRM needs a call', action({ status: 'CONFIRM' }), ['action']],
    ['SCREENSHOT needs none', action({ status: 'SCREENSHOT' }), []],
    ['PENDING needs a question', action({ status: 'PENDING' }), ['questions']],
    ['FINISH needs a result', action({ status: 'FINISH' }), ['result']],
    ['FAIL needs a result', action({ status: 'FAIL' }), ['result']],
    [
      'only the last of a list may look again, ask or end',
      { ...(action({ status: 'FINISH' }, calls('a')) as object), result: 'x' },
      ['action'],
    ],
    ['save_screenshot says why', { save_screenshot: { save: true, reason: 'to compare' } }, []],
    ['save_screenshot is not null', { save_screenshot: null }, ['save_screenshot']],
    ['save_screenshot says whether', { save_screenshot: { reason: 'x' } }, ['save_screenshot.save']],
    ['one that is unknown is refused', { Thought: 'x' }, ['']],
    [
      'one of the action that is unknown is refused',
      action({ function: 'a', status: 'CONTINUE', args: {} }),
      ['action'],
    ],
  ])('of an AppAgent: %s', (_, reply, at) => {
    expect(problems(ScreenAppReply, { ...app, ...(reply as object) })).toEqual(at);
  });
});
