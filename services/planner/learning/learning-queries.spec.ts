import { describe, expect, it } from '@jest/globals';
import type { Asker } from '#libs/messaging';
import { ANY_PROOF } from '#libs/testing';
import type { Actor, Evaluation, Experience, KeptProof } from '#proto';
import { LearningQueries } from './learning-queries.controller.js';

const ANN: Asker = {
  actor: { kind: 'person', id: 'ann' },
  namespace: 'ann',
  roles: ['operator'],
  mayVouch: false,
  proof: ANY_PROOF,
};
const experience = { id: 'r1' } as Experience;
const evaluation: Evaluation = { reason: 'done', sub_scores: [], complete: 'yes' };
const demonstration = { name: 'by hand', request: 'look', steps: [{ description: 'looked' }] };

/** Handlers that note what they are told to do. */
function queries({ keeps = true }: { keeps?: boolean } = {}) {
  const done: string[] = [];
  const proofs: KeptProof[] = [];
  const note = <T>(what: string, result: T): Promise<T> => {
    done.push(what);
    return Promise.resolve(result);
  };
  const learning = {
    learn: (runId: string, { actor, proof }: Pick<Asker, 'actor' | 'proof'>) => {
      proofs.push(proof);
      return note(`learn ${runId} by ${actor.id}`, experience);
    },
    demonstrate: ({ name }: { name: string }, { id }: Actor) => note(`demonstrate ${name} by ${id}`, experience),
    forget: (id: string) => note(`forget ${id}`, true),
    experiences: () => Promise.resolve([experience]),
  };
  const evaluations = {
    ordered: (runId: string, { proof }: Pick<Asker, 'proof'>) => {
      proofs.push(proof);
      return note(`judge ${runId}`, evaluation);
    },
  };
  return { answers: new LearningQueries(keeps ? learning : null, evaluations), done, proofs };
}

describe('what people let the planner learn and judge', () => {
  it('is done in the name of who asks, and what becomes a fact has the proof', async () => {
    const { answers, done, proofs } = queries();
    await answers.learn({ runId: 'r1' }, ANN);
    await answers.demonstrate({ demonstration }, ANN);
    expect(await answers.forget({ id: 'r1' })).toEqual({ changed: true });
    expect(await answers.evaluate({ runId: 'r1' }, ANN)).toEqual({ accepted: true });
    expect(done).toEqual(['learn r1 by ann', 'demonstrate by hand by ann', 'forget r1', 'judge r1']);
    expect(proofs).toEqual([ANY_PROOF, ANY_PROOF]);
  });

  it('says where no examples are kept how that is changed, and lists none', async () => {
    const { answers } = queries({ keeps: false });
    const refused = { refusal: { code: 'INVALID_STATE', message: expect.stringContaining('ORRERY_EXPERIENCE=on') } };
    await expect(answers.learn({ runId: 'r1' }, ANN)).rejects.toMatchObject(refused);
    await expect(answers.demonstrate({ demonstration }, ANN)).rejects.toMatchObject(refused);
    await expect(answers.forget({ id: 'r1' })).rejects.toMatchObject(refused);
    expect(await answers.experiences({ limit: 5 })).toEqual({ enabled: false, experiences: [] });
    expect(await queries().answers.experiences({ limit: 5 })).toEqual({ enabled: true, experiences: [experience] });
  });
});
