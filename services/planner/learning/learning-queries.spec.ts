import { describe, expect, it } from '@jest/globals';
import type { Actors, SenderAnswer } from '#libs/messaging';
import { subjects, type Actor, type Evaluation, type Experience } from '#proto';
import { LearningQueries } from './learning-queries.controller.js';

const ANN = { kind: 'person', id: 'ann' } as const;
const NOW = 1_000;
const actor = { key: 'K', at: '2026-11-20T10:00:00.000Z', signature: 'S' };
const experience = { id: 'r1' } as Experience;
const evaluation: Evaluation = { reason: 'done', sub_scores: [], complete: 'yes' };
const demonstration = { name: 'by hand', request: 'look', steps: [{ description: 'looked' }] };
const nobody: SenderAnswer = {
  ok: false,
  refusal: { code: 'UNAUTHORIZED', message: 'The key K stands for nobody here.', issues: [] },
};

/** Handlers that note what they are told to do. */
function queries({
  answer = { ok: true, actor: ANN, namespace: 'default', roles: ['operator'], mayVouch: false },
  keeps = true,
}: { answer?: SenderAnswer; keeps?: boolean } = {}) {
  const done: string[] = [];
  const proven: { subject: string; now: number }[] = [];
  const note = <T>(what: string, result: T): Promise<T> => {
    done.push(what);
    return Promise.resolve(result);
  };
  const learning = {
    learn: (runId: string, { id }: Actor) => note(`learn ${runId} by ${id}`, experience),
    demonstrate: ({ name }: { name: string }, { id }: Actor) => note(`demonstrate ${name} by ${id}`, experience),
    forget: (id: string) => note(`forget ${id}`, true),
    experiences: () => Promise.resolve([experience]),
  };
  const actors: Pick<Actors, 'actorOf'> = {
    actorOf: (_, { subject, now }) => {
      proven.push({ subject, now });
      return answer;
    },
  };
  const evaluations = { ordered: (runId: string) => note(`judge ${runId}`, evaluation) };
  const answers = new LearningQueries(keeps ? learning : null, evaluations, actors, { now: () => NOW });
  return { answers, done, proven };
}

describe('what people let the planner learn and judge', () => {
  it('is done in the name of who signed it for just that', async () => {
    const { answers, done, proven } = queries();
    await answers.learn({ runId: 'r1', actor });
    await answers.demonstrate({ demonstration, actor });
    expect(await answers.forget({ id: 'r1', actor })).toEqual({ changed: true });
    expect(await answers.evaluate({ runId: 'r1', actor })).toEqual({ accepted: true });
    expect(done).toEqual(['learn r1 by ann', 'demonstrate by hand by ann', 'forget r1', 'judge r1']);
    const names = ['learn', 'demonstrate', 'forget', 'evaluate'] as const;
    expect(proven).toEqual(names.map((name) => ({ subject: subjects.query('planner', name), now: NOW })));
  });

  it('is refused to who is not known, before anything is done', async () => {
    const { answers, done } = queries({ answer: nobody });
    const refused = { refusal: { code: 'UNAUTHORIZED' } };
    await expect(answers.learn({ runId: 'r1', actor })).rejects.toMatchObject(refused);
    await expect(answers.demonstrate({ demonstration, actor })).rejects.toMatchObject(refused);
    await expect(answers.forget({ id: 'r1', actor })).rejects.toMatchObject(refused);
    await expect(answers.evaluate({ runId: 'r1', actor })).rejects.toMatchObject(refused);
    expect(done).toEqual([]);
  });

  it('says where no examples are kept how that is changed, and lists none', async () => {
    const { answers } = queries({ keeps: false });
    const refused = { refusal: { code: 'INVALID_STATE', message: expect.stringContaining('ORRERY_EXPERIENCE=on') } };
    await expect(answers.learn({ runId: 'r1', actor })).rejects.toMatchObject(refused);
    await expect(answers.demonstrate({ demonstration, actor })).rejects.toMatchObject(refused);
    await expect(answers.forget({ id: 'r1', actor })).rejects.toMatchObject(refused);
    expect(await answers.experiences({ limit: 5 })).toEqual({ enabled: false, experiences: [] });
    expect(await queries().answers.experiences({ limit: 5 })).toEqual({ enabled: true, experiences: [experience] });
  });
});
