import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PlanSource, Proposal, RunOptions } from '#proto';
import { isTerminal, hasPlan } from '#libs/constellation';
import {
  build,
  CALL,
  completed,
  creation,
  editing,
  failed,
  HASH,
  jsonOf,
  NOW,
  plan,
  proposal,
  star,
  Story,
  tools,
  toolTask,
} from './given.testing.js';
import { nextMove, type AskMove, type GiveUp, type Move, type MoveOptions, type RuledMove } from './next-move.js';
import type { ProposedPlan } from './plan-creation.js';
import { roundsAsked, tryOf } from './plan-state.js';
import { rebase } from './rebase.js';

/**
 * A planner that works on a run as the service does, and dies wherever it likes: before it records, after the reply, before the
 * orchestrator has heard. Everything else goes on meanwhile: results come, persons edit, what was heard is heard again.
 */
class History {
  readonly story: Story;
  readonly options: MoveOptions;
  /** Tries for which a reply of a model is recorded. */
  readonly answered = new Set<string>();
  /** Proposals that are recorded, with how many of them were heard. */
  readonly #outbox: { proposal: Proposal; source: PlanSource }[] = [];
  #heard = 0;
  #edits = 0;

  constructor(isGoal: boolean, model: boolean, bound: Pick<RunOptions, 'rounds'> = {}) {
    const four = plan(['a', star('b', { review: true }), 'c', 'd'], ['a=>c', 'b->d']);
    this.story = isGoal ? Story.goal(bound) : Story.of(four, { editPolicy: 'every-result', ...bound });
    this.options = { model };
  }

  step(seed: number): void {
    const { story } = this;
    switch (seed % 8) {
      case 0:
      case 1:
      case 2:
        return this.work(Math.floor(seed / 8));
      case 3:
      case 4:
        return this.hear();
      case 5:
        if (this.#heard > 0) this.#hear(this.#heard - 1); // once more
        return;
      case 6:
        return this.result(Math.floor(seed / 8));
      case 7:
        if (hasPlan(story.run)) story.edits({ tool: 'add_task', task: star(`p${this.#edits++}`) });
    }
  }

  hear(): void {
    if (this.#heard < this.#outbox.length) this.#hear(this.#heard++);
  }

  #hear(index: number): void {
    const one = this.#outbox[index];
    if (one !== undefined) this.story.when(proposal(one.proposal, one.source));
  }

  result(seed: number): void {
    const running = [...this.story.run.running].map((index) => this.story.run.tasks.at(index));
    const task = running[seed % Math.max(1, running.length)];
    if (task === undefined) return;
    const { star: done, attempt } = task;
    this.story.when(seed % 3 === 0 ? failed(done.id, attempt) : completed(done.id, { exit_code: 0 }, attempt));
  }

  move(): Move {
    const { story, options } = this;
    return nextMove(story.run, story.plan, { editId: story.editId }, options);
  }

  work(seed: number): void {
    const move = this.move();
    if (move.kind === 'runbook') return this.#runbook(move.otherwise, seed);
    if (move.kind !== 'rebase') return this.#carryOut(move, seed);
    const rebased = rebase(move.planned, this.story.run, NOW);
    if (rebased.ok) this.#propose(rebased.proposal, 'model', seed);
    else this.#carryOut(move.otherwise, seed, move.planned.try);
  }

  #runbook(otherwise: AskMove | GiveUp, seed: number): void {
    if (seed % 4 !== 0) return this.#carryOut(otherwise, seed);
    this.story.recorded(
      this.story.thought({ source: 'runbook', runbook: { name: 'r', hash: '0'.repeat(64), parameters: {} } }),
    );
    this.#propose({ baseRevision: 0, state: 'CONTINUE', edits: [build(plan(['a', 'b'], ['a->b']))] }, 'runbook', seed);
  }

  /** `unfit`: the try whose reply is recorded and does not fit any more. */
  #carryOut(move: Exclude<Move, { kind: 'rebase' | 'runbook' }> | RuledMove, seed: number, unfit?: number): void {
    switch (move.kind) {
      case 'over':
      case 'stored':
        return;
      case 'give-up': {
        const { code, message, try: number } = move;
        const data = { editId: this.story.editId, try: number, calls: [], templates: [], error: { code, message } };
        this.story.recorded({ type: 'ROUND_FAILED', data: { ...data, used: NOTHING } });
        return;
      }
      case 'rule':
        this.story.recorded(this.story.thought({ source: 'rule' }));
        return this.#propose(move.proposal, 'rule', seed);
      case 'ask':
        return this.#ask(move, seed, unfit);
    }
  }

  /** The model is asked; it may have seen another revision than the one that there is when it has answered. */
  #ask({ mode, try: number }: AskMove, seed: number, unfit?: number): void {
    const key = `${this.story.editId}.${number}`;
    expect(this.options.model).toBe(true);
    expect(this.answered.has(key)).toBe(number === unfit);
    if (seed % 7 === 0) return; // it died while the model thought
    const reply = jsonOf(mode === 'creation' ? creation({ constellation: tools(['a', 'b']) }) : this.#edit(seed));
    const planned = rebase({ mode, reply }, this.story.run, NOW);
    if (!planned.ok) return; // the model is asked again
    this.story.recorded(this.story.thought({ reply, calls: [CALL] }));
    this.answered.add(key);
    if (seed % 5 === 0) return; // it died before it proposed
    // Made for an older revision now and then, or for a fleet that was another one.
    const stale = seed % 11 === 0 ? { baseRevision: this.story.run.revision + 1 } : {};
    this.#propose({ ...planned.proposal, ...stale, ...(seed % 13 === 0 ? WRONG : {}) }, 'model', seed);
  }

  #edit(seed: number) {
    const actions = [{ tool: 'add_task' as const, arguments: toolTask(`m${seed % 17}`) }];
    if (seed % 3 !== 0) return editing({ actions });
    return this.story.run.running.size === 0 ? editing({ state: 'FINISH', result: 'done' }) : editing();
  }

  #propose(found: ProposedPlan, source: PlanSource, seed: number): void {
    const { editId, try: number } = this.story;
    const made = { ...found, editId, try: number };
    this.story.recorded({ type: 'PLAN_PROPOSED', data: { proposal: made, source, used: NOTHING } });
    this.#outbox.push({ proposal: made, source });
    if (seed % 2 === 0) this.hear();
  }
}

const NOTHING = { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 };
const WRONG: Pick<Proposal, 'edits'> = { edits: [{ tool: 'remove_task', taskId: 'nothing' }] };

const histories = fc.record({
  isGoal: fc.boolean(),
  model: fc.boolean(),
  seeds: fc.array(fc.nat(100_000), { minLength: 5, maxLength: 60 }),
});

/** After every step of a random history. */
function always(check: (history: History) => void, seed: number, bound: Pick<RunOptions, 'rounds'> = {}): void {
  fc.assert(
    fc.property(histories, ({ isGoal, model, seeds }) => {
      const history = new History(isGoal, model, bound);
      for (const one of seeds) {
        history.step(one);
        check(history);
      }
    }),
    { seed, numRuns: 120 },
  );
}

describe('in every history of a run and its planner', () => {
  it('the same facts give the same move, and there is always one', () => {
    always((history) => {
      const { story, options } = history;
      const facts = structuredClone(story.plan);
      const move = history.move();
      expect(nextMove(story.run, facts, { editId: story.editId }, options)).toEqual(move);
      expect(story.plan).toEqual(facts);
    }, 20_265);
  });

  it('nobody is asked for a try whose proposal, or reply, is recorded', () => {
    let [stored, rebased, stale] = [0, 0, 0];
    always((history) => {
      const { story, answered } = history;
      const move = history.move();
      const recorded = tryOf(story.plan, story.editId, story.try);
      if (story.run.editing === null || story.run.ending !== null) return;
      const made = recorded?.proposal ?? null;
      if (made !== null) {
        expect(move).toEqual({ kind: 'stored', try: story.try, proposal: made });
        stored++;
      } else if (answered.has(`${story.editId}.${story.try}`)) {
        expect(move.kind).toBe('rebase');
        rebased++;
      } else if (move.kind === 'rebase') {
        expect(story.run.editing.violations.map(({ code }) => code)).toEqual(['STALE_REVISION']);
        stale++;
      }
    }, 20_266);
    expect(stored).toBeGreaterThan(60);
    expect(Math.min(rebased, stale)).toBeGreaterThan(8);
  });

  it('it is over exactly when no round is open that could be answered', () => {
    always((history) => {
      const { run } = history.story;
      const isOpen = run.editing !== null && run.ending === null && !isTerminal(run);
      expect(history.move().kind === 'over').toBe(!isOpen);
    }, 20_267);
  });

  it('without a model none is asked, and with one nobody gives up for the want of it', () => {
    always((history) => {
      const move = history.move();
      const moves = move.kind === 'rebase' || move.kind === 'runbook' ? [move, move.otherwise] : [move];
      for (const one of moves) {
        if (!history.options.model) expect(one.kind).not.toBe('ask');
        if (history.options.model && one.kind === 'give-up') expect(one.code).not.toBe('NO_MODEL');
      }
    }, 20_268);
  });

  it.each([0, 1, 2])('no model is asked in more than %i rounds, and nobody gives up for that before', (rounds) => {
    const seen = { bounded: 0, exhausted: 0 };
    const check = ({ story }: History): void => {
      const asked = roundsAsked(story.plan).size;
      expect(asked).toBeLessThanOrEqual(rounds);
      if (asked === rounds) seen.exhausted++;
      if (tryOf(story.plan, story.editId, story.try)?.failed?.error.code !== 'TOO_MANY_ROUNDS') return;
      expect(asked).toBe(rounds);
      seen.bounded++;
    };
    always(check, 20_270, { rounds });
    expect(Math.min(seen.bounded, seen.exhausted)).toBeGreaterThan(2);
  });

  it('a model that adds work at every end of its plan comes to an end, and its run with it', () => {
    const rounds = 4;
    const story = Story.goal({ rounds });
    for (let steps = 0; !isTerminal(story.run); steps++) {
      expect(steps).toBeLessThanOrEqual(rounds);
      const move = nextMove(story.run, story.plan, { editId: story.editId }, { model: true });
      const asked = move.kind === 'runbook' ? move.otherwise : move;
      if (asked.kind === 'give-up') {
        const { code, message, try: number } = asked;
        const { editId } = story;
        const error = { code, message };
        story.when({ kind: 'round-failed', editId, try: number, error, used: NOTHING, planHash: HASH });
        continue;
      }
      expect(asked.kind).toBe('ask');
      const task = star(`x${steps}`);
      const add = { tool: 'add_task', task } as const;
      const edits = !hasPlan(story.run) ? [build(plan([task]))] : [add];
      story.plans({ edits }, { reply: { steps }, calls: [CALL] }).when(completed(task.id));
    }
    expect(roundsAsked(story.plan).size).toBe(rounds);
    expect(story.run).toMatchObject({ phase: 'COMPLETED', rounds: rounds + 1, answer: { by: 'collected' } });
    expect(story.run.answer?.text).toContain(`a model was asked in ${rounds} rounds of this run`);
  });

  it('a planner that is left alone brings every round to its end', () => {
    fc.assert(
      fc.property(histories, ({ isGoal, model, seeds }) => {
        const history = new History(isGoal, model);
        for (const one of seeds) history.step(one);
        const { story } = history;
        const rounds = story.run.rounds;
        // Undisturbed: it neither dies nor is refused.
        for (let steps = 0; steps < 40 && story.run.rounds === rounds && story.run.editing !== null; steps++) {
          history.work(2);
          history.hear();
          const failure = tryOf(story.plan, story.editId, story.try)?.failed ?? null;
          if (failure !== null) return; // the round is given up
        }
        expect(story.run.editing === null || story.run.rounds > rounds).toBe(true);
      }),
      { seed: 20_269, numRuns: 120 },
    );
  });
});
