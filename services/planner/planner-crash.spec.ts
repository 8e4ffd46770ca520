import { describe, expect, it } from '@jest/globals';
import type { Proposal, RunCommit } from '#proto';
import { verifyChain } from '#libs/event-log';
import type { ModelRequest, Scripted } from '#libs/llm';
import { dying } from '#libs/testing';
import { PlannerWorld, RUN_ID, type PlannerOptions } from './testing/planner-world.js';
import { addStar, addTask, edit, finish, plan, task } from './testing/replies.js';

const DONE = { kind: 'done' };

interface Story {
  /** By the turn: the same question gets the same answer, whoever asks. */
  readonly replies: Readonly<Record<string, readonly Scripted[]>>;
  /** Brings the run to the commit that asks for something; nothing of this is interrupted. */
  readonly begin: (world: PlannerWorld) => Promise<RunCommit>;
  readonly options?: PlannerOptions;
  /** What is proposed in the end, or the code of why there is nothing. */
  readonly end: object;
  /** How often a model is asked for this try when nothing happens. */
  readonly calls: number;
  /** Something that happens when the model has answered for the first time. */
  readonly meanwhile?: (world: PlannerWorld) => Promise<unknown>;
}

const CREATED = { e1: [plan([task('a'), task('z')])] };

async function failed(world: PlannerWorld): Promise<RunCommit> {
  await world.planner().handle(await world.submit());
  await world.judge();
  return world.fail('a');
}

const mine = addStar('mine');

const STORIES: Record<string, Story> = {
  'a first plan': {
    replies: CREATED,
    begin: (world) => world.submit(),
    end: { editId: 'e1', try: 1, state: 'CONTINUE' },
    calls: 1,
  },
  'a first plan that is repaired': {
    replies: { e1: ['garbage', plan([task('a', { target_device_id: 'mars' })]), plan([task('a')])] },
    begin: (world) => world.submit(),
    end: { editId: 'e1', try: 1, state: 'CONTINUE' },
    calls: 3,
  },
  'no plan': {
    replies: {},
    options: { model: null },
    begin: (world) => world.submit(),
    end: { error: { code: 'NO_MODEL' } },
    calls: 0,
  },
  'an edit': {
    replies: { ...CREATED, e2: [edit([addTask('again')])] },
    begin: failed,
    end: { editId: 'e2', try: 1, baseRevision: 1 },
    calls: 1,
  },
  'an edit of what has moved meanwhile': {
    replies: { ...CREATED, e2: [edit([addTask('again')])] },
    begin: failed,
    meanwhile: (world) => world.propose(mine),
    end: { editId: 'e2', try: 1, baseRevision: 2 },
    calls: 1,
  },
  'an edit that came too late': {
    replies: { ...CREATED, e2: [edit([addTask('again')])] },
    begin: async (world) => {
      await world.planner().handle(await failed(world));
      await world.propose(mine);
      return world.judge();
    },
    end: { editId: 'e2', try: 2, baseRevision: 2 },
    calls: 0,
  },
  'what follows by rule': {
    replies: CREATED,
    begin: async (world) => {
      const opened = await failed(world);
      const by = { kind: 'person', id: 'operator' } as const;
      await world.decide({ kind: 'verb', id: 'retry', by, action: { verb: 'RETRY', taskId: 'a' } });
      return opened;
    },
    end: { editId: 'e2', try: 1, state: 'CONTINUE', edits: [] },
    calls: 0,
  },
  'the last word': {
    replies: { e1: [plan([task('a')])], e2: [finish('Half full.', ['a'])] },
    begin: async (world) => {
      await world.planner().handle(await world.submit());
      await world.judge();
      return world.complete('a');
    },
    end: { editId: 'e2', try: 1, state: 'FINISH', answer: { text: 'Half full.' } },
    calls: 1,
  },
  'something said to a run that has ended': {
    replies: { e1: [plan([task('a')])], e2: [finish('Half full.', ['a'])], e3: [edit([addTask('again')])] },
    begin: async (world) => {
      await world.planner().handle(await world.submit());
      await world.judge();
      await world.planner().handle(await world.complete('a'));
      await world.judge();
      const by = { kind: 'person', id: 'operator' } as const;
      return world.decide({ kind: 'verb', id: 'say', by, action: { verb: 'SAY', text: 'and the other one?' } });
    },
    end: { editId: 'e3', try: 1, state: 'CONTINUE' },
    calls: 1,
  },
};

/** Answers by the round that is asked about, and by which reply was refused last: the same question gets the same answer. */
function scripted({ replies }: Story): (request: ModelRequest) => Scripted | undefined {
  return ({ turn, messages }) => {
    const ofRound = replies[turn.split('.')[1] ?? ''] ?? [];
    const refused = messages.findLast(({ role }) => role === 'assistant')?.content;
    return ofRound[ofRound.findIndex((reply) => textOf(reply) === refused) + 1];
  };
}

function textOf(reply: Scripted): string {
  if (typeof reply === 'string') return reply;
  return 'json' in reply ? JSON.stringify(reply.json) : '';
}

interface Interrupted {
  readonly world: PlannerWorld;
  readonly at: string;
  /** How often a model was asked by the process that went on, and whether a reply of the try was stored before that. */
  readonly askedLater: number;
  readonly wasStored: boolean;
}

async function interrupted(story: Story, n: number, when: 'before' | 'after'): Promise<Interrupted> {
  const world = new PlannerWorld(scripted(story));
  const commit = await story.begin(world);
  const before = (await world.facts()).length;
  const { options, died } = dying(n, when);
  let moved = false;
  const after = async (call: string): Promise<void> => {
    if (call === 'model' && !moved) {
      moved = true;
      await story.meanwhile?.(world);
    }
  };
  const common = story.options ?? {};
  const first = world.planner({
    ...common,
    ...options,
    after: async (call) => {
      await after(call);
      await options.after?.(call);
    },
  });
  const at = await Promise.race([first.handle(commit).then(() => 'nothing'), died]);
  const wasStored = (await world.facts()).length > before;
  const asked = world.model.requests.length;
  expect(await world.planner({ ...common, instance: 'next', after }).handle(commit, 2)).toEqual(DONE);
  return { world, at, askedLater: world.model.requests.length - asked, wasStored };
}

/** What the last commit of the plans says: one proposal, or one reason. */
async function endOf(world: PlannerWorld): Promise<Proposal | object> {
  const last = (await world.facts()).at(-1);
  if (last?.type === 'PLAN_PROPOSED') return last.data.proposal;
  return last?.data ?? {};
}

/** Tries that were answered, or whose reply was stored, more than once. */
async function doubled(world: PlannerWorld): Promise<string[]> {
  const ids = (await world.facts()).flatMap((fact) => {
    if (fact.type === 'ROUND_PLANNED' || fact.type === 'ROUND_FAILED')
      return [`${fact.type} ${fact.data.editId}.${fact.data.try}`];
    if (fact.type !== 'PLAN_PROPOSED') return [];
    return [`${fact.type} ${String(fact.data.proposal.editId)}.${fact.data.proposal.try}`];
  });
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

describe.each(Object.entries(STORIES))('%s', (_, story) => {
  it.each(['before', 'after'] as const)('ends the same when the process dies %s any of its calls', async (when) => {
    const places = new Set<string>();
    for (let n = 1; ; n++) {
      const { world, at, askedLater, wasStored } = await interrupted(story, n, when);
      places.add(at);
      const seen = `${when} ${at} (${n})`;
      expect([seen, await endOf(world)]).toMatchObject([seen, story.end]);
      expect([seen, await doubled(world)]).toEqual([seen, []]);
      // A reply that is stored is never asked for again; one that is not stored was never heard.
      expect([seen, askedLater]).toEqual([seen, wasStored ? 0 : story.calls]);
      const stored = await world.plans.load(RUN_ID);
      expect([seen, verifyChain(stored.map(({ commit }) => commit))]).toEqual([seen, []]);
      if (at === 'nothing') break;
    }
    expect(places).toContain('plans.append');
    expect(places).toContain('runs.load');
    if (story.calls > 0) expect(places).toContain('model');
  });
});
