import type { NatsConnection } from '@nats-io/transport-node';
import { Actors, authorityOf, QueryRefusedError, serveQueries, type QueryAnswer, type Served } from '#libs/messaging';
import type { Demonstration, Experience, RefusalCode, RunId } from '#proto';

const NOW = '2026-11-20T12:00:00.000Z';

/** What stands for the planner, as far as it learns and judges. */
export class FakePlanner {
  readonly experiences = new Map<string, Experience>();
  readonly demonstrations: Demonstration[] = [];
  isEnabled = true;
  /** What it says instead of an answer. */
  refusal: { readonly code: RefusalCode; readonly message: string } | null = null;
  /** Lets the run show its judgement. */
  judged: (runId: RunId) => Promise<void> = async () => undefined;
  readonly #actors: Actors;
  #served: Served | undefined;

  private constructor(actors: Actors) {
    this.#actors = actors;
  }

  static async start(nc: NatsConnection): Promise<FakePlanner> {
    const planner = new FakePlanner(await Actors.open(nc));
    await planner.#serve(nc);
    return planner;
  }

  forget(): void {
    this.experiences.clear();
    this.demonstrations.length = 0;
    this.isEnabled = true;
    this.refusal = null;
    this.judged = async () => undefined;
  }

  async stop(): Promise<void> {
    await this.#served?.stop();
    await this.#actors.end();
  }

  async #serve(nc: NatsConnection): Promise<void> {
    const notAsked = () => Promise.reject(new Error('not asked'));
    const authority = authorityOf(this.#actors, { now: () => Date.parse(NOW) });
    this.#served = await serveQueries(
      nc,
      'planner',
      {
        settings: notAsked,
        prompt: notAsked,
        experiences: async ({ text, limit = 50 }) => {
          const all = [...this.experiences.values()].filter(({ request }) => request.includes(text ?? ''));
          return { enabled: this.isEnabled, experiences: all.slice(0, limit) };
        },
        learn: async (request, { actor: { id: learntBy } }) => {
          this.#unlessRefused();
          return { experience: this.#learnt({ ...learnt(request.runId), learntBy }) };
        },
        demonstrate: async (request, { actor: { id: learntBy } }) => {
          this.#unlessRefused();
          this.demonstrations.push(request.demonstration);
          const { name, request: words } = request.demonstration;
          const shown = { ...learnt('d1'), kind: 'demonstration', source: name, request: words, learntBy } as const;
          return { experience: this.#learnt(shown) };
        },
        forget: async (request) => {
          this.#unlessRefused();
          return { changed: this.experiences.delete(request.id) };
        },
        evaluate: async (request): Promise<QueryAnswer<'planner', 'evaluate'>> => {
          this.#unlessRefused();
          await this.judged(request.runId);
          return { accepted: true };
        },
        'dlq-retry': notAsked,
        match: notAsked,
        runbooks: notAsked,
        runbook: notAsked,
      },
      { authority },
    );
  }

  #learnt(experience: Experience): Experience {
    this.experiences.set(experience.id, experience);
    return experience;
  }

  #unlessRefused(): void {
    if (this.refusal !== null) throw new QueryRefusedError({ ...this.refusal, issues: [] });
  }
}

/** An example with text that a terminal might obey. */
export function learnt(id: string): Experience {
  return {
    id,
    kind: 'experience',
    request: 'Report the disks',
    tips: ['df -P\u001B[31m prints\nplan: one line'],
    constellation: {
      tasks: [
        { task_id: 'a', name: 'look', description: '', target: { os: 'linux' } },
        {
          task_id: 'b',
          name: 'tell',
          description: '',
          target_device_id: 'web-1',
          command: { tool: 'EXEC_CLI', arguments: { command: 'cat' } },
        },
      ],
      dependencies: [{ dependency_id: 'ab', from_task_id: 'a', to_task_id: 'b' }],
    },
    source: id,
    learntBy: 'cli',
    learntAt: NOW,
  };
}
