import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { newCommitId, openRunLog, runIdOf, sealCommit, type RunLog } from '#libs/event-log';
import { verifyActorProof } from '#libs/keys';
import { RunCommit, RunRequest, subjects, VERB_BODIES } from '#proto';
import type { ActorProof, Json, RunEvent, RunId, SubmitAnswer, TaskStar, VerbAnswer } from '#proto';

/** What the work on a task comes to. */
export type WorkEnd = { readonly result: Json } | { readonly error: string };

export interface StandInRun {
  readonly runId: RunId;
  readonly request: RunRequest;
  readonly task: TaskStar;
  /** The run was cancelled. */
  readonly signal: AbortSignal;
}

export interface StandInOptions {
  /** Stands where scheduler, device-agent and its model stand. By default nothing ever ends. */
  readonly work?: (run: StandInRun) => Promise<WorkEnd>;
  /** What is answered instead of a run; null: nothing at all. */
  readonly answer?: (request: RunRequest) => SubmitAnswer | null | undefined;
}

const COUNTS = { completed: 0, failed: 0, skipped: 0, cancelled: 0 };
const EXTERNAL = { kind: 'external', id: 'default' } as const;
const NEVER = (): Promise<WorkEnd> => Promise.withResolvers<WorkEnd>().promise;

interface Chain {
  readonly run: StandInRun;
  readonly stop: AbortController;
  number: number;
  sequence: number;
  end: number;
  hash: string;
  over: boolean;
}

/** Takes requests, writes the logs of their runs, and obeys CANCEL: what the gateway has to know of an orchestrator. */
export class OrchestratorStandIn {
  readonly runs: StandInRun[] = [];
  /** Signed CANCELs, as they came. */
  readonly cancels: {
    readonly runId: RunId;
    readonly reason: string | undefined;
    readonly key: string;
    /** In whose name. */
    readonly actor: string | undefined;
  }[] = [];
  /** In whose names requests came. */
  readonly clients: string[] = [];
  readonly #nc: NatsConnection;
  readonly #log: RunLog;
  readonly #options: StandInOptions;
  readonly #chains = new Map<RunId, Chain>();
  readonly #subscriptions: Subscription[];
  #tail: Promise<unknown> = Promise.resolve();

  constructor(nc: NatsConnection, options: StandInOptions = {}) {
    this.#nc = nc;
    this.#log = openRunLog(nc);
    this.#options = options;
    this.#subscriptions = [
      nc.subscribe(subjects.submit, {
        callback: (_, message) =>
          void this.#inTurn(async () => {
            const answer = await this.#submit(message.json<object>());
            if (answer !== null) message.respond(JSON.stringify(answer));
          }),
      }),
      nc.subscribe(subjects.anyVerbOf('CANCEL'), {
        callback: (_, message) =>
          void this.#inTurn(async () => {
            message.respond(JSON.stringify(await this.#cancel(message.subject, message.json<object>())));
          }),
      }),
    ];
  }

  /** Resolves when the bus knows who takes requests. */
  async ready(): Promise<this> {
    await this.#nc.flush();
    return this;
  }

  async stop(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    await this.#nc.flush();
    await this.#tail;
  }

  /** Ends a run from outside. */
  async finish(runId: RunId, end: WorkEnd): Promise<void> {
    await this.#inTurn(() => this.#end(runId, end));
  }

  async #submit(json: object): Promise<SubmitAnswer | null> {
    const { actor, ...sent } = json as { readonly actor: ActorProof };
    const proven = verifyActorProof(actor, { subject: subjects.submit, body: sent, now: Date.now() });
    if (!proven.ok) throw new Error(proven.reason);
    if (actor.vouched !== undefined) this.clients.push(actor.vouched.actor);
    const request = RunRequest.parse(sent);
    const { requestId } = request;
    const given = this.#options.answer?.(request);
    if (given !== undefined) return given;
    const runId = runIdOf('default', requestId);
    const [task] = request.constellation?.tasks ?? [];
    if (task === undefined) throw new TypeError('the stand-in takes single tasks only');
    if (this.#chains.has(runId)) return { runId, requestId };
    const stop = new AbortController();
    const run: StandInRun = { runId, request, task, signal: stop.signal };
    const chain: Chain = { run, stop, number: 0, sequence: 0, end: 0, hash: '0'.repeat(64), over: false };
    this.#chains.set(runId, chain);
    this.runs.push(run);
    await this.#append(chain, begun(run));
    const { work = NEVER } = this.#options;
    void work(run).then(
      (end) => this.finish(runId, end),
      (error: unknown) => this.finish(runId, { error: String(error) }),
    );
    return { runId, requestId };
  }

  async #cancel(subject: string, json: object): Promise<VerbAnswer> {
    const { reason, actor } = VERB_BODIES.CANCEL.parse(json);
    const proven = verifyActorProof(actor, { subject, body: json, now: Date.now() });
    if (!proven.ok) throw new Error(proven.reason);
    const runId = subject.split('.').at(-2) ?? '';
    this.cancels.push({ runId, reason, key: proven.key, actor: actor.vouched?.actor });
    const chain = this.#chains.get(runId);
    if (chain === undefined) return rejected('NOT_FOUND', 'there is no such run');
    if (chain.over) return { answer: 'ignored', sequence: chain.sequence };
    chain.over = true;
    chain.stop.abort();
    const at = new Date().toISOString();
    const by = { kind: 'system', id: 'aip-gateway' } as const;
    await this.#append(chain, [
      {
        type: 'TASK_CANCELLED',
        data: { taskId: chain.run.task.id, attempt: 1, reason: 'cancelled', by, lines: [], cancelledAt: at },
      },
      { type: 'RUN_CANCELLED', data: { by, reason: reason ?? '', counts: COUNTS, cancelledAt: at } },
    ]);
    return { answer: 'accepted', sequence: chain.sequence };
  }

  async #end(runId: RunId, end: WorkEnd): Promise<void> {
    const chain = this.#chains.get(runId);
    if (chain === undefined || chain.over) return;
    chain.over = true;
    await this.#append(chain, ended(chain.run.task.id, end));
  }

  async #append(chain: Chain, events: readonly RunEvent[]): Promise<void> {
    const { runId } = chain.run;
    const now = Date.now();
    const recorded = events.map((event, index) => {
      const sequence = chain.sequence + index + 1;
      return { id: `${runId}-${sequence}`, sequence, schemaVersion: 1, ...event };
    });
    const draft = {
      commit: newCommitId(now),
      runId,
      number: chain.number + 1,
      at: new Date(now).toISOString(),
      by: { service: 'orchestrator', instance: 'stand-in' },
      causes: [],
      events: recorded,
    };
    const commit = RunCommit.parse(JSON.parse(JSON.stringify(sealCommit(draft, chain.hash))));
    const appended = await this.#log.append(runId, commit, chain.end);
    if (appended.kind !== 'appended') throw new Error(`the log of ${runId} has another writer`);
    chain.end = appended.sequence;
    chain.number += 1;
    chain.sequence += events.length;
    chain.hash = commit.hash;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

function begun({ request, task }: StandInRun): RunEvent[] {
  const { requestId, goal, constellation, options, metadata } = request;
  const at = new Date().toISOString();
  const device = 'device' in task.target ? task.target.device : '';
  return [
    {
      type: 'RUN_REQUESTED',
      data: {
        requestId,
        namespace: 'default',
        contentHash: '0'.repeat(64),
        goal,
        constellation,
        options,
        metadata,
        requestedBy: EXTERNAL,
        requestedAt: at,
        deadlineAt: at,
      },
    },
    { type: 'CONSTELLATION_MODIFIED', data: { revision: 1, origin: 'request', tasks: 1, lines: 0, modifiedAt: at } },
    {
      type: 'TASK_STARTED',
      data: {
        taskId: task.id,
        attempt: 1,
        deviceId: device,
        sessionId: 'stand-in',
        journalId: null,
        command: task.command ?? { tool: 'WORDS', arguments: {} },
        inputs: [],
        priority: 0,
        startedAt: at,
        timeoutAt: at,
      },
    },
  ];
}

function ended(taskId: string, end: WorkEnd): RunEvent[] {
  const at = new Date().toISOString();
  const attempt = { taskId, attempt: 1 };
  if ('result' in end) {
    const result = { value: end.result };
    return [
      {
        type: 'TASK_COMPLETED',
        data: { ...attempt, result, lines: [], completedAt: at, attemptHash: '0'.repeat(64) },
      },
      { type: 'RUN_COMPLETED', data: { outcome: 'succeeded', counts: COUNTS, completedAt: at } },
    ];
  }
  const error = { code: 'TOOL_ERROR', message: end.error, outcome: 'failed' } as const;
  const reason = { code: 'TASK_FAILED', message: 'a task failed' };
  return [
    { type: 'TASK_FAILED', data: { ...attempt, error, lines: [], failedAt: at, attemptHash: null } },
    { type: 'RUN_FAILED', data: { reason, counts: COUNTS, failedAt: at } },
  ];
}

const rejected = (code: 'NOT_FOUND', message: string): VerbAnswer => ({
  answer: 'rejected',
  reason: { code, message, issues: [] },
  sequence: 0,
});
