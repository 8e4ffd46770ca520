import { describe, expect, it } from '@jest/globals';
import type { CommandCall, ScreenHostReply } from '#proto';
import type { AgentTask, ToolCalled } from '../effects/index.js';
import { answered, callsOf, drive, refused, scripted, type Said } from '../testing/drive.js';
import { EXEC_CLI_TOOL } from '../testing/samples.js';
import {
  answerOfEditor,
  appEnds,
  appSays,
  control,
  hostAssigns,
  hostSays,
  screenTask,
  SCREEN_TOOLS,
  spiedScreen,
} from '../testing/screen.js';

/*
 * What comes of every state, as tables: a model says it, and it is looked at who is asked next, what the device hears, what a person is asked, and how it ends. Where UFO's agents do something else, docs/ufo.md says so.
 */

interface Came {
  /** Whose models were asked, in order: h and a. */
  readonly asked?: string;
  /** What the device was asked for besides looks. */
  readonly did?: readonly string[];
  /** Of these a person had to say yes first. */
  readonly confirmed?: readonly string[];
  readonly questions?: readonly string[];
  readonly end?: string;
  /** What whoever spoke last was told of what went before. */
  readonly told?: string;
  /** Why the AppAgent was told that something was not done, when it spoke last. */
  readonly heard?: string;
}

interface World {
  readonly ends?: (command: CommandCall) => ToolCalled['ended'] | undefined;
  readonly task?: AgentTask;
}

function cameOf(replies: readonly Said[], { ends, task = screenTask() }: World): Required<Came> {
  const { kind, host, app } = spiedScreen();
  const calls = (command: CommandCall) => ends?.(command) ?? answerOfEditor(command.tool);
  const answers = () => ({ text: 'the first', note: '' });
  const driven = drive(kind, task, scripted({ replies, calls, answers }));
  const { end, effects } = driven;
  const asked = effects.flatMap((effect) => (effect.kind === 'ask-model' ? [effect.agent] : []));
  const isDone = ({ tool }: CommandCall) => !/^(?:get|capture)_/u.test(tool);
  const confirmed = effects.filter((effect) => effect.kind === 'call-tool' && effect.confirm === true);
  const last = [...(asked.at(-1) === 'HostAgent' ? host : app).views].at(-1);
  return {
    asked: asked.map((name) => name.slice(0, 1).toLowerCase()).join(''),
    did: callsOf(driven).flatMap((call) => (isDone(call) ? [call.tool] : [])),
    confirmed: callsOf({ effects: confirmed }).map(({ tool }) => tool),
    questions: effects.flatMap((effect) => (effect.kind === 'ask-person' ? [effect.question] : [])),
    end:
      end.kind === 'finished'
        ? `finished: ${typeof end.result === 'string' ? end.result : ''}`
        : `${end.code}: ${end.message}`,
    told: JSON.stringify([last?.memory.items.at(-1), last?.observation]),
    heard: app.views.at(-1)?.memory.items.at(-1)?.problems.join(' ') ?? '',
  };
}

const holds = (came: Required<Came>, { told = '', heard = '', ...wanted }: Came): void => {
  expect(came).toMatchObject(wanted);
  expect(came.told).toContain(told);
  expect(came.heard).toContain(heard);
};

const CHOOSE = 'select_application_window';
const done = hostSays({ status: 'FINISH', result: 'done' });
const given = hostSays({ status: 'FAIL', result: 'given up' });
const OPEN = { function: CHOOSE, arguments: { id: '1', name: 'notes - Mousepad' } } as const;
const WRONG = { function: CHOOSE, arguments: { id: '1', name: 'another' } } as const;
const TYPE = ['set_edit_text', { id: '2', name: '', text: 'x' }] as const;
const SEND = ['click_input', { id: '3', name: 'Send' }] as const;
const unusable = { code: 'MODEL_REPLY_INVALID', message: 'status is none' };
const no = ({ tool }: CommandCall) =>
  tool === 'click_input' || tool === CHOOSE ? refused('person', 'APPROVAL_REJECTED', 'no') : undefined;

describe('a state of a HostAgent', () => {
  const withShell = { ...screenTask(), device: { ...screenTask().device, tools: [...SCREEN_TOOLS, EXEC_CLI_TOOL] } };
  const shell = { function: 'EXEC_CLI', arguments: { command: 'ls' } } as const;

  it.each<[state: string, came: Came, replies: readonly Said[], world?: World]>([
    ['CONTINUE makes its call, and it speaks again', { asked: 'hh', did: [CHOOSE] }, [hostSays({ ...OPEN }), done]],
    [
      'CONTINUE runs a command where its own device has a command line',
      { asked: 'hh', did: ['EXEC_CLI'] },
      [hostSays({ ...shell }), done],
      { task: withShell },
    ],
    [
      'CONTINUE is told that there is no command line where there is none',
      { asked: 'hh', did: [], told: 'there is no tool' },
      [hostSays({ ...shell }), done],
    ],
    [
      'ASSIGN chooses, and gives control away; it is given back at the end',
      { asked: 'hah', did: [CHOOSE], told: 'it is done' },
      [hostAssigns('part'), appEnds('FINISH', 'it is done'), done],
    ],
    [
      'ASSIGN gives nothing away when the window is another one than was meant',
      { asked: 'hh', did: [], told: 'Nothing was assigned' },
      [hostSays({ status: 'ASSIGN', current_subtask: 'part', ...WRONG }), done],
    ],
    [
      'ASSIGN gives nothing away when a person says no',
      { asked: 'hh', did: [CHOOSE], told: 'Nothing was assigned' },
      [hostAssigns('part'), done],
      { ends: no },
    ],
    [
      'ASSIGN with a call that chooses nothing gives nothing away before a window was chosen',
      { asked: 'hh', did: ['EXEC_CLI'], told: 'Nothing was assigned' },
      [hostSays({ status: 'ASSIGN', current_subtask: 'part', ...shell }), done],
      { task: withShell },
    ],
    [
      'ASSIGN with such a call goes to the window that was chosen before',
      { asked: 'hhah', did: [CHOOSE, 'EXEC_CLI'] },
      [
        hostSays({ ...OPEN }),
        hostSays({ status: 'ASSIGN', current_subtask: 'p', ...shell }),
        appEnds('FINISH', 'y'),
        done,
      ],
      { task: withShell },
    ],
    [
      'PENDING asks a person every question, does nothing, and it speaks again',
      { asked: 'hh', did: [], questions: ['Which?', 'When?'], told: 'the first' },
      [hostSays({ status: 'PENDING', questions: ['Which?', 'When?'], ...OPEN }), done],
    ],
    [
      'one that no reply says, however often the model is asked, ends the attempt',
      { asked: 'h', did: [], end: 'MODEL_REPLY_INVALID: status is none' },
      [unusable],
    ],
    ['FINISH ends', { asked: 'h', did: [], end: 'finished: done' }, [done]],
    ['FINISH makes its call first', { did: [CHOOSE], end: 'finished: done' }, [{ ...done, ...OPEN }]],
    [
      'FINISH whose call did not succeed is no end',
      { asked: 'hh', told: 'FINISH was not taken', end: 'AGENT_FAILED: given up' },
      [{ ...done, ...OPEN }, given],
      { ends: no },
    ],
    ['FAIL ends, and its call is not made', { did: [], end: 'AGENT_FAILED: given up' }, [{ ...given, ...OPEN }]],
  ])('%s', (_, came, replies, world = {}) => holds(cameOf(replies, world), came));
});

describe('a part for another device', () => {
  const over = (said: Partial<ScreenHostReply>): ScreenHostReply =>
    hostSays({ status: 'ASSIGN', current_subtask: 'count the files', function: 'HAND_OVER', ...said });

  it.each<[what: string, came: Came, replies: readonly Said[]]>([
    [
      'ends the task, says for which, and no device hears of it',
      { asked: 'h', did: [], end: 'NEEDS_DEVICE: needs another device ("web-1") for: count the files' },
      [over({ arguments: { to: 'web-1' } })],
    ],
    [
      'has to say which device',
      { asked: 'hh', did: [], told: 'arguments.to', end: 'finished: done' },
      [over({}), done],
    ],
    [
      'comes with ASSIGN, which says the part',
      { asked: 'hh', did: [], told: 'it comes with ASSIGN', end: 'finished: done' },
      [over({ status: 'CONTINUE', arguments: { to: 'web-1' } }), done],
    ],
    [
      'is given up when it is asked for in vain again and again',
      { asked: 'hhhh', did: [], end: 'AGENT_FAILED: gave up: HAND_OVER was called 3 times with the same outcome' },
      [over({}), over({}), over({}), over({})],
    ],
  ])('%s', (_, came, replies) => holds(cameOf(replies, {}), came));

  it('says what was done until then, and is no tool of the AppAgent', () => {
    const { kind } = spiedScreen();
    const replies = [over({ arguments: { to: 'web-1' }, result: 'the sheet is open' })];
    const { end } = drive(kind, screenTask(), scripted({ replies }));
    expect(end).toMatchObject({ kind: 'failed', code: 'NEEDS_DEVICE', result: 'the sheet is open' });
    const app = [hostAssigns('part'), appSays([['HAND_OVER', { to: 'web-1' }]]), appEnds('FAIL', 'no'), given];
    expect(cameOf(app, {})).toMatchObject({ asked: 'haah', end: 'AGENT_FAILED: given up' });
  });

  it('is not a tool that a device brings', () => {
    const mine = { name: 'HAND_OVER', description: 'of a device', readOnly: false };
    const task = { ...screenTask(), device: { ...screenTask().device, tools: [...SCREEN_TOOLS, mine] } };
    expect(cameOf([over({ arguments: { to: 'web-1' } })], { task })).toMatchObject({ did: [] });
  });
});

describe('a state of an AppAgent', () => {
  const part = (...replies: readonly Said[]): readonly Said[] => [hostAssigns('part'), ...replies, done];
  const ends = appEnds('FINISH', 'it is done');

  it.each<[state: string, came: Came, replies: readonly Said[], world?: World]>([
    [
      'CONTINUE acts, and it looks and speaks again',
      { asked: 'haah', did: [CHOOSE, 'set_edit_text'] },
      part(appSays([TYPE]), ends),
    ],
    ['SCREENSHOT looks again', { asked: 'haah', did: [CHOOSE] }, part(appSays([['', {}, 'SCREENSHOT']]), ends)],
    [
      'SCREENSHOT with a call makes it, and looks again',
      { asked: 'haah', did: [CHOOSE, 'set_edit_text'] },
      part(appSays([[...TYPE, 'SCREENSHOT']]), ends),
    ],
    [
      'PENDING asks a person, and it speaks again',
      { asked: 'haah', did: [CHOOSE], questions: ['Which?'] },
      part(appSays([['', {}, 'PENDING']], { questions: ['Which?'] }), ends),
    ],
    [
      'CONFIRM has a person asked before it acts',
      { asked: 'haah', did: [CHOOSE, 'click_input'], confirmed: ['click_input'] },
      part(appSays([[...SEND, 'CONFIRM']]), ends),
    ],
    [
      'CONFIRM with a no is told to it, and it speaks again',
      { asked: 'haah', confirmed: ['click_input'] },
      part(appSays([[...SEND, 'CONFIRM']]), appEnds('FAIL', 'it may not be sent')),
      { ends: ({ tool }) => (tool === 'click_input' ? refused('person', 'APPROVAL_REJECTED', 'no') : undefined) },
    ],
    ['FINISH gives control back', { asked: 'hah', told: 'it is done', end: 'finished: done' }, part(ends)],
    [
      'FINISH makes its call first',
      { asked: 'hah', did: [CHOOSE, 'click_input'] },
      part(appSays([[...SEND, 'FINISH']], { result: 'sent' })),
    ],
    [
      'FINISH whose call did not succeed is no end',
      { asked: 'haah' },
      part(
        appSays([['click_input', { id: '9', name: 'Send' }, 'FINISH']], { result: 'sent' }),
        appEnds('FAIL', 'not sent'),
      ),
    ],
    [
      'FAIL gives control back, and the HostAgent decides',
      { asked: 'hah', end: 'finished: done' },
      part(appEnds('FAIL', 'read-only')),
    ],
    [
      'one that no reply says, however often the model is asked, ends the part, and the HostAgent decides',
      { asked: 'hah', did: [CHOOSE], told: 'status is none', end: 'finished: done' },
      part(unusable),
    ],
    [
      'FAIL makes no call',
      { asked: 'hah', did: [CHOOSE] },
      part(appSays([[...SEND, 'FAIL']], { result: 'it must not be sent' })),
    ],
  ])('%s', (_, came, replies, world = {}) => holds(cameOf(replies, world), came));
});

describe('a list of actions', () => {
  const three = appSays([TYPE, ['click_input', { id: '1', name: 'File' }], [...SEND, 'FINISH']], { result: 'sent' });
  const replies = [hostAssigns('part'), three, appEnds('FAIL', 'not all'), done];
  const listed = (...names: readonly string[]) => answered(names.map((name, at) => control(String(at + 1), name)));
  const looksOf = (later: ToolCalled['ended']) => {
    let looks = 0;
    return ({ tool }: CommandCall) =>
      tool === 'get_app_window_controls_target_info' && (looks += 1) > 1 ? later : undefined;
  };

  it.each<[what: string, did: readonly string[], heard: string, ends: World['ends']]>([
    ['is done to its end', ['set_edit_text', 'click_input', 'click_input'], '', undefined],
    [
      'stops at the first one that fails',
      ['set_edit_text'],
      'The other 2 actions of the list were not tried. The one before failed.',
      ({ tool }) => (tool === 'set_edit_text' ? refused('device', 'NOT_INTERACTABLE', 'no') : undefined),
    ],
    [
      'stops when an act says that another window is in front',
      ['set_edit_text'],
      'The other 2 actions of the list were not tried. WINDOW_CHANGED',
      ({ tool }) => (tool === 'set_edit_text' ? answered({ result: 'done', changed: true }) : undefined),
    ],
    [
      'stops when the next target is called something else',
      ['set_edit_text'],
      'of something else now',
      looksOf(listed('Delete', '', 'Send')),
    ],
    ['stops when the next target is gone', ['set_edit_text'], 'of something else now', looksOf(answered([]))],
    [
      'stops when the device says that it lists another window',
      ['set_edit_text'],
      'another window is in front',
      looksOf(answered({ result: [control('1', 'File', 'MenuItem')], window: { application: 'x', window: 'Save?' } })),
    ],
  ])('%s', (_, did, heard, ends) => {
    const isWhole = heard === '';
    const came = cameOf(isWhole ? [hostAssigns('part'), three, done] : replies, ends === undefined ? {} : { ends });
    holds(came, { did: [CHOOSE, ...did], asked: isWhole ? 'hah' : 'haah', heard });
  });
});
