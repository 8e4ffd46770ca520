import type { NatsConnection } from '@nats-io/transport-node';
import {
  LIMITS,
  mayDo,
  parseWith,
  missingRole,
  sentenceOf,
  subjects,
  VERB_BODIES,
  parseJson,
  type Actor,
  type JudgedCommands,
  type Refusal,
  type RefusalCode,
  type RunCommit,
  type RunId,
  type RunVerb,
  type VerbAnswer,
  type VerbBody,
} from '#proto';
import { type Control, foldRun, forkedFrom, hasPlan, IGNORED, type Input, type Run } from '#libs/constellation';
import { CorruptLogError, type RunLog, runIdOf } from '#libs/event-log';
import { keepProof } from '#libs/keys';
import { type ActorAnswer, type Actors, refusalOfFault, StoreWatch } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { RunServer, Settled, Waiting } from '../runs/index.js';
import { askOwner } from './owner.client.js';
import type { SaidVerb, VerbAnswers } from './verb-answers.adapter.js';

interface VerbParts {
  readonly nc: NatsConnection;
  readonly log: RunLog;
  readonly server: RunServer;
  readonly actors: Pick<Actors, 'actorOf' | 'grantOf' | 'directory' | 'lookFor'>;
  readonly owns: (runId: RunId) => boolean;
  readonly answers: VerbAnswers;
  readonly clock: Clock;
  /** How many persons approve in a fork at least, whatever its parent was asked. */
  readonly approvals: number;
  readonly judge: JudgedCommands;
}

/** The first commit of a fork carries a whole state; a larger one would not fit. */
const FORK_BYTES_MAX = 1536 * 1024;

const PLANNER: Actor = { kind: 'system', id: 'planner' };
const ATTEMPTS: Actor = { kind: 'system', id: 'device-agent' };

/** The same id is decided when it comes again. */
const NOT_FINAL: ReadonlySet<RefusalCode | undefined> = new Set(['TRY_AGAIN', 'STORAGE_FULL']);

const TRY_AGAIN: VerbAnswer = rejected('TRY_AGAIN', 'the outcome is not known yet; send the same id again');

/** Verbs of people and programs: proven, decided once per id, and answered when what follows from them is stored. */
export class VerbsHandler {
  readonly #parts: VerbParts;
  /** What is being decided, by sender and id: whoever says the same meanwhile waits for the same answer. */
  readonly #underway = new Map<string, Promise<VerbAnswer>>();

  constructor(parts: VerbParts) {
    this.#parts = parts;
  }

  /** The one final answer, or TRY_AGAIN. Whatever came in, it is answered. */
  async serve(runId: RunId, verb: RunVerb, payload: Uint8Array): Promise<VerbAnswer> {
    const json = parseJson(payload);
    const parsed = parseWith(VERB_BODIES[verb], json);
    if (!parsed.ok) {
      const [first] = parsed.issues;
      const message = first === undefined ? 'the verb is not valid' : sentenceOf(first);
      return { answer: 'rejected', reason: { code: 'INVALID_REQUEST', message, issues: parsed.issues }, sequence: 0 };
    }
    const command = commandOf(runId, verb, json as VerbBody<RunVerb>);
    await this.#parts.actors.lookFor(parsed.value.actor);
    const known = this.#parts.actors.actorOf(parsed.value.actor, { ...command, now: this.#parts.clock.now() });
    if (!known.ok) return { answer: 'rejected', reason: known.refusal, sequence: 0 };
    const { actor: by, roles: own } = known;
    const { id } = parsed.value;
    // A fork is of no run yet: nothing of it is anybody's own.
    if (verb === 'FORK' && !mayDo(own, verb)) return rejected('UNAUTHORIZED', missingRole(verb, by, own));
    const proof = keepProof(parsed.value.actor, command);
    const proven: Proven = { cause: { kind: 'verb', id, proof }, bytes: 2 * payload.length };
    if (verb === 'FORK')
      return this.#once({ runId, by, id }, () => this.#fork(runId, parsed.value as VerbBody<'FORK'>, by, proven));
    const { grant } = parsed.value as Granted;
    const stranger = otherAttempt(parsed.value as Granted, by);
    if (stranger !== undefined) return { answer: 'rejected', reason: stranger, sequence: 0 };
    const whose = grant === undefined ? known : this.#giverOf(runId, parsed.value as Granted, by);
    if (!whose.ok) return { answer: 'rejected', reason: whose.refusal, sequence: 0 };
    const action = actionOf(verb, parsed.value);
    // With a grant a program says it in the name of whoever gave it, who has to be allowed to say it himself, now.
    const roles = grant === undefined ? own : (this.#parts.actors.directory.get(whose.actor.id)?.roles ?? []);
    const input = { kind: 'verb', id, by: whose.actor, action, roles } as const;
    return this.#once({ runId, by, id }, () => this.#decide(runId, input, proven));
  }

  /**
   * The first final answer again, whoever gave it: also of what was refused, or had nothing to do, and might be decided otherwise by
   * now. What changed the run is a fact of it before it is answered, so that an answer that got lost is found there.
   */
  async #once(said: SaidVerb, decide: () => Promise<VerbAnswer>): Promise<VerbAnswer> {
    const key = JSON.stringify([said.runId, said.by.kind, said.by.id, said.id]);
    const underway = this.#underway.get(key);
    if (underway !== undefined) return underway;
    const answering = this.#answer(said, decide).finally(() => this.#underway.delete(key));
    this.#underway.set(key, answering);
    return answering;
  }

  async #answer(said: SaidVerb, decide: () => Promise<VerbAnswer>): Promise<VerbAnswer> {
    const { answers } = this.#parts;
    try {
      const first = await answers.first(said);
      if (first !== undefined) return first;
      const answer = await decide();
      return NOT_FINAL.has(answer.reason?.code) ? answer : await answers.keep(said, answer);
    } catch {
      // What is not kept was not answered: the same id comes again, and what changed the run is found in it.
      return TRY_AGAIN;
    }
  }

  /**
   * With a grant an edit, or what is said, is whose who gave it. It counts in no other hands than those of the one program that serves whoever
   * holds one, and of who gave it.
   */
  #giverOf(runId: RunId, { grant, actor }: Granted, sender: Actor): ActorAnswer {
    if (grant === undefined) return { ok: true, actor: sender };
    // One's own grant says that a program wrote it, with one's own key: `orrery mcp serve`.
    if (grant.key === actor.key || (sender.kind === PLANNER.kind && sender.id === PLANNER.id)) {
      return this.#parts.actors.grantOf(grant, { runId, now: this.#parts.clock.now() });
    }
    const message = `it is taken from the planner, or from who signed it, and ${sender.id} sent it; leave it out`;
    const refusal: Refusal = {
      code: 'UNAUTHORIZED',
      message: `grant: ${message}`,
      issues: [{ path: 'grant', message }],
    };
    return { ok: false, refusal };
  }

  async #fork(addressed: RunId, body: VerbBody<'FORK'>, by: Actor, { cause }: Proven): Promise<VerbAnswer> {
    const parentId = body.parent ?? addressed;
    const runId = runIdOf(`fork:${parentId}`, body.id);
    if (body.parent !== undefined && addressed !== runId) {
      return rejected('INVALID_REQUEST', 'the run id is not the one of the fork');
    }
    if (!this.#parts.owns(runId)) {
      return (await askOwner(this.#parts.nc, runId, 'FORK', { ...body, parent: parentId })) ?? TRY_AGAIN;
    }
    const origin = await this.#stateAt(parentId, body.at);
    if (!('run' in origin)) return origin;
    const { clock, approvals, judge } = this.#parts;
    const forked = forkedFrom({ run: origin.run, by, requestId: body.id, now: clock.now(), approvals, judge });
    const bytes = Buffer.byteLength(JSON.stringify(forked));
    if (bytes > FORK_BYTES_MAX) {
      return rejected('TOO_LARGE', `the state at event ${body.at} has ${bytes} bytes; at most ${FORK_BYTES_MAX} fit`);
    }
    const answer = await this.#decide(runId, { kind: 'fork', id: body.id, forked }, { cause, bytes });
    return answer.answer === 'accepted' ? { ...answer, runId } : answer;
  }

  /** The run as it stood after its last whole commit at or before an event. */
  async #stateAt(runId: RunId, at: number): Promise<{ run: Run } | VerbAnswer> {
    const stored = await this.#load(runId);
    if (stored === undefined) return rejected('INVALID_STATE', `the log of run ${runId} is damaged`);
    const commits = stored.map(({ commit }) => commit);
    const ends = commits.map(({ events }) => events.at(-1)?.sequence ?? 0);
    const last = ends.at(-1);
    if (last === undefined) return rejected('NOT_FOUND', `there is no run ${runId}`);
    if (at > last)
      return rejected('INVALID_REQUEST', `at: the run has ${last} events so far, and ${at} is none of them`);
    const run = foldRun(commits.slice(0, ends.filter((end) => end <= at).length));
    if (run === undefined || !hasPlan(run)) return rejected('INVALID_STATE', tooEarly(commits, at));
    return { run };
  }

  async #load(runId: RunId) {
    try {
      return await this.#parts.log.load(runId);
    } catch (error) {
      if (error instanceof CorruptLogError) return undefined;
      throw error;
    }
  }

  async #answerOf(settled: Settled): Promise<VerbAnswer> {
    if (settled.kind !== 'retry') return answerOf(settled);
    const fault = await StoreWatch.of(this.#parts.nc).fault();
    return fault === undefined ? TRY_AGAIN : { answer: 'rejected', reason: refusalOfFault(fault), sequence: 0 };
  }

  async #decide(runId: RunId, input: Extract<Input, { id: string }>, proven: Proven): Promise<VerbAnswer> {
    const { promise: late, resolve } = Promise.withResolvers<VerbAnswer>();
    const timer = setTimeout(() => resolve(TRY_AGAIN), LIMITS.verbAnswerMs);
    const settled = new Promise<Settled>((settle) => {
      this.#parts.server.deliver(runId, { input, ...proven, settle });
    });
    try {
      return await Promise.race([settled.then((one) => this.#answerOf(one)), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What may come with a grant. */
type Granted = VerbBody<'PROPOSE'> | VerbBody<'SAY'> | VerbBody<'BOARD_SET'> | VerbBody<'BOARD_DELETE'>;

/** Which attempt it is only the service knows that carries it out: from everybody else nobody believes it. */
function otherAttempt(body: Granted, { kind, id }: Actor): Refusal | undefined {
  const isTheirs = kind === ATTEMPTS.kind && id === ATTEMPTS.id;
  if (!('attempt' in body) || body.attempt === undefined || isTheirs) return undefined;
  const message = `it is taken from the service that runs attempts, and ${id} sent it; leave it out`;
  return { code: 'UNAUTHORIZED', message: `attempt: ${message}`, issues: [{ path: 'attempt', message }] };
}

/** A proven verb as it will stand in the commit, with its proof: twice what was sent, at the most. */
type Proven = Pick<Waiting, 'cause' | 'bytes'>;

/**
 * What was signed. A FORK was signed for the run that is forked; on its way to the owner of the new one that run is named in it.
 * Whoever reads a PROPOSE with a grant could go on with the grant.
 */
function commandOf(runId: RunId, verb: RunVerb, json: VerbBody<RunVerb>) {
  const { parent, ...body } = json as VerbBody<'FORK'>;
  return { subject: subjects.verb(parent ?? runId, verb), body, isSecret: 'grant' in body };
}

function answerOf(settled: Exclude<Settled, { kind: 'retry' }>): VerbAnswer {
  if (settled.kind === 'poison') return rejected('INVALID_STATE', `the run cannot be served: ${settled.reason}`);
  const { answer, sequence } = settled;
  switch (answer.kind) {
    case 'accepted': {
      const { detail, waits, board } = answer;
      const more = { ...(waits && { waits }), ...(board !== undefined && { board }) };
      return { answer: 'accepted', sequence, ...(detail !== undefined && { detail }), ...more };
    }
    case 'ignored':
      return {
        answer: 'ignored',
        reason: { code: 'IGNORED', message: answer.detail ?? IGNORED[answer.reason] ?? answer.reason, issues: [] },
        sequence,
      };
    case 'rejected':
      return {
        answer: 'rejected',
        reason: answer.reason,
        sequence,
        ...(answer.board !== undefined && { board: answer.board }),
      };
  }
}

/** Said with a grant they are whose who gave it. */
const MAY_BE_GRANTED: ReadonlySet<RunVerb> = new Set(['SAY', 'BOARD_SET', 'BOARD_DELETE']);

/** What the core is told of it: the fields as they came, but for a grant, of which only that there is one. */
function actionOf(verb: Exclude<RunVerb, 'FORK'>, body: VerbBody<RunVerb>): Extract<Input, { kind: 'verb' }>['action'] {
  if (verb === 'PROPOSE') {
    const { proposal, grant } = body as VerbBody<'PROPOSE'>;
    return { verb, proposal, delegated: grant !== undefined };
  }
  const { id: _id, actor: _actor, ...said } = body;
  if (!MAY_BE_GRANTED.has(verb)) return { verb, ...said } as Control;
  const { grant, ...fields } = said as Omit<VerbBody<'SAY'>, 'id' | 'actor'>;
  return { verb, ...fields, ...(grant !== undefined && { delegated: true }) } as Control;
}

function rejected(code: Refusal['code'], message: string): VerbAnswer {
  return { answer: 'rejected', reason: { code, message, issues: [] }, sequence: 0 };
}

/** A commit is all or nothing, so a fork starts where one ends: the first is the one that brought the constellation. */
function tooEarly(commits: readonly RunCommit[], at: number): string {
  const ends = commits.map(({ events }) => events.at(-1)?.sequence ?? 0);
  const planned = commits.findIndex(({ events }) => events.some(({ type }) => type === 'CONSTELLATION_MODIFIED'));
  if (planned === -1) return `at: the run has no constellation yet, so nothing of it can be forked`;
  return `at: event ${at} is before the end of the commit that brought the constellation; ${ends[planned]} or later is possible`;
}
