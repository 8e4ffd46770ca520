import { Edit, type RunOptions, type TaskConstellation } from '#proto';
import { add, constellation, device } from '../../libs/constellation/testing/given.js';
import { type Configuration, FORK, type Offer, OUTAGE, type VerbOffer } from './configuration.js';
import { FAILED_ONLY, UNDECIDABLE } from './ledger.js';

const DEVICES = [device('web-1', { tasksMax: 1 }), device('db-1', { tasksMax: 1 })];
const ANYWHERE = { target: { os: 'linux' } } as const;
const RETRIED = { ...ANYWHERE, idempotent: true, retry: { attempts: 2, backoffMs: 0 } } as const;

const on = (id: string, change = {}) => ({ id, ...ANYWHERE, ...change });
const CHAIN = constellation([on('a', RETRIED), on('b'), on('c')], ['a->b', 'b=>c']);
const ONCE = constellation([on('a'), on('b'), on('c')], ['a->b', 'b=>c']);
const FORK_PLAN = constellation([on('a', RETRIED), on('b'), on('c')], ['a->b', 'a=>c']);
const CIRCLE = constellation([on('a'), on('b'), on('c')], ['a->b', 'b->c', 'c->b']);
const CLEAN_UP = constellation([on('a', RETRIED), on('b'), on('c')], ['a!>b', 'a=>c', 'b->c']);
const UNSURE = constellation([on('a'), on('b'), on('c'), on('d')], [`a?${UNDECIDABLE}>b`, 'd=>b', 'b=>c']);
const FAN_IN = constellation([on('a', RETRIED), on('b'), on('c')], ['a=>c', 'b->c']);
const JOIN = constellation([on('a'), on('b'), on('c')], ['a=>c', 'b=>c']);
const PIPED = { command: { tool: 'EXEC_CLI', arguments: { command: 'sort', stdin: { from: ['b', 'a'] } } } };
const PIPES = constellation([on('a', RETRIED), on('b'), on('c', PIPED)], ['a->c', 'b->c']);

const edits = (...list: readonly unknown[]) => list.map((edit) => Edit.parse(edit));
const offer = (name: string, ...list: readonly unknown[]): Offer => ({ name, edits: edits(...list) });
const addAfter = (from: string): Offer => offer(`add x after ${from}`, add.task('x', ANYWHERE), add.line(`${from}->x`));
const remove = (taskId: string): Offer => offer(`remove ${taskId}`, { tool: 'remove_task', taskId });
const update = (taskId: string): Offer =>
  offer(`another command for ${taskId}`, {
    tool: 'update_task',
    taskId,
    change: { command: { tool: 'EXEC_CLI', arguments: { command: 'false' } } },
  });
const cycle = (text: string): Offer => offer(`the line ${text}, which closes a cycle`, add.line(text));
const save = (lineId: string): Offer =>
  offer(`${lineId} without a condition`, { tool: 'update_dependency', lineId, change: { type: 'unconditional' } });
const rewire = (lineId: string, text: string): Offer =>
  offer(`${text} instead of ${lineId}`, { tool: 'remove_dependency', lineId }, add.line(text));

const STRICT: RunOptions = { lockPolicy: 'strict', editPolicy: 'every-result' };
const SCOPED: RunOptions = { lockPolicy: 'scoped', editPolicy: 'every-result' };
const WHEN_NEEDED = { editPolicy: 'when-needed' } as const;

const CHAIN_MENU = [addAfter('a'), update('b'), cycle('c->b')];
const FORK_MENU = [addAfter('a'), remove('c'), save('a-c'), rewire('a-c', 'b->c')];
const FAN_IN_MENU = [addAfter('a'), remove('c'), rewire('b-c', 'a->c')];

const MODEL = {
  devices: DEVICES,
  verbs: [],
  mayFail: ['a', 'b'],
  mayLeave: ['db-1'],
  limits: { edits: 2, disconnects: 1, crashes: 1 },
} as const;

const finish: Offer = { name: 'the goal is reached', edits: [], state: 'FINISH' };
const fail: Offer = { name: 'the goal cannot be reached', edits: [], state: 'FAIL' };
const build = (name: string, plan: TaskConstellation): Offer =>
  offer(name, { tool: 'build_constellation', constellation: plan, clear: true });

const say = (verb: 'CANCEL' | 'PAUSE' | 'RESUME'): VerbOffer => ({ name: verb, action: { verb } });
const words = (name: string): VerbOffer => ({ name: `SAY ${name}`, action: { verb: 'SAY', text: name } });
const retry = (taskId: string): VerbOffer => ({ name: `RETRY ${taskId}`, action: { verb: 'RETRY', taskId } });

const ADD_Y: VerbOffer = {
  name: 'PROPOSE y after b',
  action: { verb: 'PROPOSE', edits: edits(add.task('y', ANYWHERE), add.line('b->y')) },
};
const SLEEP: VerbOffer = { name: 'nobody decides anything until the deadline of the run', action: OUTAGE };

const MINUTE = 60_000;
const PINNED = constellation(
  [
    { id: 'a', target: { device: 'web-1' }, retry: { attempts: 2, backoffMs: 1_000 } },
    on('b', { deadlineMs: 30 * MINUTE, review: true }),
    on('c', { deadlineMs: 5 * MINUTE, priority: 5 }),
    on('d'),
  ],
  [`a?${FAILED_ONLY}>b`, 'a->c', 'b=>d', 'c=>d'],
);
const PINNED_MENU = [
  offer('x, which has little time, after a', add.task('x', { ...ANYWHERE, deadlineMs: 2 * MINUTE }), add.line('a->x')),
  offer('more time for c', { tool: 'update_task', taskId: 'c', change: { deadlineMs: 60 * MINUTE } }),
];

const agent = (id: string, change = {}) => ({ id, ...ANYWHERE, ...change, command: undefined as never });
const ASKING = constellation(
  [agent('a', { idempotent: true, retry: { attempts: 2, backoffMs: 0 } }), on('b')],
  ['a=>b'],
);
const SPENDING = constellation([agent('a', RETRIED), agent('b', RETRIED), on('c')], ['a->c', 'b=>c']);
const PLANNED = constellation(
  [
    { id: 'a', target: { device: 'web-1' } },
    { id: 'b', target: { device: 'web-1' } },
  ],
  ['a->b'],
);
const SHARED = constellation([agent('a', RETRIED), on('c'), agent('b')], ['a->b', 'c->b']);
const imagined = (one: Offer): Offer => ({ ...one, isImagined: true });
const giveUp: Offer = { name: 'the planner comes to nothing', edits: [], isFailure: true };
const enough: Offer = { name: 'a model was asked often enough', edits: [], isFailure: 'TOO_MANY_ROUNDS' };
const broke: Offer = { name: 'nothing is left for a model', edits: [], isFailure: 'BUDGET_EXHAUSTED' };
const elsewhere = (taskId: string): Offer =>
  offer(`${taskId} on db-1`, { tool: 'update_task', taskId, change: { target: { device: 'db-1' } } });
const ABOUT = 'run-1.a.1.1.0';

export const CONFIGURATIONS: readonly Configuration[] = [
  { ...MODEL, name: 'chain, strict', plan: CHAIN, options: STRICT, menu: CHAIN_MENU, brief: { edits: 1, crashes: 0 } },
  {
    ...MODEL,
    name: 'chain, scoped',
    plan: CHAIN,
    options: SCOPED,
    menu: [...CHAIN_MENU, rewire('b-c', 'a->c')],
    brief: { edits: 1, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'fork, strict, when needed',
    plan: FORK_PLAN,
    options: { ...STRICT, ...WHEN_NEEDED },
    menu: FORK_MENU,
    brief: { edits: 1, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'fork, scoped, when needed',
    plan: FORK_PLAN,
    options: { ...SCOPED, ...WHEN_NEEDED },
    menu: FORK_MENU,
    brief: { crashes: 0 },
  },
  {
    ...MODEL,
    name: 'fan-in, strict, when needed',
    plan: FAN_IN,
    options: { ...STRICT, ...WHEN_NEEDED },
    menu: FAN_IN_MENU,
    brief: { crashes: 0 },
  },
  {
    ...MODEL,
    name: 'fan-in, scoped',
    plan: FAN_IN,
    options: SCOPED,
    menu: [addAfter('a'), remove('c')],
    brief: { edits: 1, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'a clean-up after a failure',
    plan: CLEAN_UP,
    options: { ...SCOPED, ...WHEN_NEEDED },
    menu: [addAfter('a'), rewire('a-b', 'c!>b'), save('a-b')],
    verbs: [retry('a')],
    limits: { edits: 1, disconnects: 1, crashes: 0 },
    brief: { disconnects: 0 },
  },
  {
    ...MODEL,
    name: 'what nobody can decide',
    plan: UNSURE,
    options: { ...SCOPED, ...WHEN_NEEDED },
    // No edit takes that line away: what was to be asked about it stays asked, so it would be seen which came first.
    menu: [addAfter('a'), update('c')],
    mayFail: ['a', 'd'],
    limits: { edits: 2, disconnects: 0, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'what nobody can decide, and nobody is asked',
    plan: UNSURE,
    options: { editPolicy: 'never' },
    menu: [],
    verbs: [say('CANCEL'), say('PAUSE'), say('RESUME')],
    mayFail: ['a', 'd'],
    limits: { edits: 0, disconnects: 2, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'conditions, deadlines, reviews and pinned tasks',
    plan: PINNED,
    options: { ...SCOPED, ...WHEN_NEEDED },
    menu: PINNED_MENU,
    mayFail: ['a'],
    mayLeave: ['web-1'],
    limits: { edits: 1, disconnects: 1, crashes: 1 },
    brief: { disconnects: 0, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'no planner',
    plan: FAN_IN,
    options: { editPolicy: 'never' },
    menu: [],
    limits: { edits: 0, disconnects: 2, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'no planner, one task at a time',
    plan: PIPES,
    options: { editPolicy: 'never', concurrency: 1 },
    menu: [],
    limits: { edits: 0, disconnects: 2, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'a goal',
    plan: null,
    options: STRICT,
    menu: [build('a chain', CHAIN), build('a circle', CIRCLE), finish, fail, addAfter('a')],
    limits: { edits: 3, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'repairs',
    plan: FAN_IN,
    options: SCOPED,
    menu: [cycle('c->a'), update('b'), remove('c'), offer('c once more', add.task('c'))],
    limits: { edits: 5, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'the planner ends the run',
    plan: FAN_IN,
    options: SCOPED,
    menu: [addAfter('a'), finish, fail, { ...remove('c'), state: 'FINISH' }],
    limits: { edits: 2, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'cancel, pause, resume, an outage',
    plan: CHAIN,
    options: SCOPED,
    menu: [],
    verbs: [say('CANCEL'), say('PAUSE'), say('RESUME'), ADD_Y, SLEEP],
    limits: { edits: 0, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'retries in a chain, an outage',
    plan: ONCE,
    options: { ...SCOPED, ...WHEN_NEEDED },
    menu: [],
    verbs: [retry('a'), retry('b'), SLEEP],
    limits: { edits: 0, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'retries before a join',
    plan: JOIN,
    options: { ...STRICT, ...WHEN_NEEDED },
    menu: [],
    verbs: [retry('a'), retry('b')],
    limits: { edits: 0, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'an agent that asks',
    plan: ASKING,
    options: { editPolicy: 'never' },
    menu: [],
    mayAsk: ['a'],
    verbs: [
      { name: 'APPROVE', action: { verb: 'APPROVE', approvalId: ABOUT } },
      { name: 'REJECT', action: { verb: 'REJECT', approvalId: ABOUT } },
      say('CANCEL'),
      retry('a'),
    ],
    limits: { edits: 0, disconnects: 1, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'agents with a budget',
    plan: SPENDING,
    options: { editPolicy: 'never', budget: { llmCalls: 2 } },
    menu: [],
    verbs: [say('CANCEL'), say('PAUSE'), say('RESUME')],
    limits: { edits: 0, disconnects: 1, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'a plan that a model makes and a person accepts',
    plan: null,
    options: { ...STRICT, plan: 'approve' },
    menu: [imagined(build('two tasks', PLANNED)), imagined(elsewhere('b')), elsewhere('b'), giveUp],
    verbs: [say('PAUSE'), say('RESUME'), ADD_Y],
    limits: { edits: 2, disconnects: 0, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'agents and a planner with one budget',
    plan: SHARED,
    options: { ...SCOPED, budget: { llmCalls: 4 } },
    menu: [imagined(addAfter('a')), giveUp],
    verbs: [say('CANCEL')],
    mayFail: ['a', 'c'],
    limits: { edits: 2, disconnects: 0, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'a goal with nothing for a model',
    plan: null,
    options: { ...STRICT, budget: { llmCalls: 0 } },
    menu: [build('a chain', CHAIN), broke],
    verbs: [say('PAUSE'), say('RESUME')],
    limits: { edits: 1, disconnects: 1, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'a planner that has asked often enough',
    plan: FAN_IN,
    options: SCOPED,
    menu: [enough],
    verbs: [retry('a')],
    limits: { edits: 1, disconnects: 0, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'words to a goal',
    plan: null,
    options: { ...SCOPED, ...WHEN_NEEDED },
    menu: [imagined(build('two tasks', PLANNED)), imagined(addAfter('a')), finish, fail, giveUp],
    verbs: [words('one more thing'), words('and another')],
    mayFail: ['a'],
    limits: { edits: 2, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'words to a plan, whose end is taken back',
    plan: PLANNED,
    options: { editPolicy: 'never' },
    menu: [imagined(addAfter('a')), finish, enough],
    verbs: [words('one more thing'), say('CANCEL'), say('PAUSE'), say('RESUME'), SLEEP],
    mayFail: [],
    limits: { edits: 1, disconnects: 0, crashes: 1 },
  },
  {
    ...MODEL,
    name: 'words about a plan that waits for a person',
    plan: null,
    options: { ...STRICT, plan: 'approve' },
    menu: [imagined(build('two tasks', PLANNED)), imagined(elsewhere('b')), finish],
    verbs: [words('one more thing'), say('RESUME'), say('CANCEL')],
    mayFail: [],
    limits: { edits: 2, disconnects: 0, crashes: 0 },
  },
  {
    ...MODEL,
    name: 'a fork of the run',
    plan: PIPES,
    options: { ...STRICT, ...WHEN_NEEDED },
    menu: [addAfter('a')],
    verbs: [{ name: 'FORK', action: FORK }],
    limits: { edits: 1, disconnects: 1, crashes: 1 },
    brief: { disconnects: 0 },
  },
];
