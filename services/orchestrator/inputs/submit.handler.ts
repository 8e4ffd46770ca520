import type { NatsConnection } from '@nats-io/transport-node';
import {
  ActorProof,
  type JudgedCommands,
  parseWith,
  type Refusal,
  type RunId,
  type SubmitAnswer,
  SubmitCommand,
  subjects,
  type VerbAnswer,
} from '#proto';
import type { Actors } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { RunServer, Settled } from '../runs/index.js';
import { askOwner } from './owner.client.js';
import { Quota, tooManyOpen } from './quota.js';
import { publisherIdOf, publisherOf, requesterOf, type Requester } from './requester.js';
import { checkSubmission, readRequest, requestedOf, sentRequestId } from './submission.js';
import type { PlanApproval, Submission } from './submission.js';

/** Final answer of a submission, or the news that nobody knows yet and the same request may be sent again. */
type SubmissionAnswer =
  | { readonly kind: 'final'; readonly answer: SubmitAnswer }
  | { readonly kind: 'try-again'; readonly requestId: string | undefined; readonly reason: string }
  | { readonly kind: 'poison'; readonly reason: string };

const TRY_AGAIN: Refusal = {
  code: 'TRY_AGAIN',
  message: 'it is not known yet whether the request was accepted; send it again with the same request id',
  issues: [],
};

interface SubmitParts {
  readonly nc: NatsConnection;
  readonly server: RunServer;
  readonly actors: Pick<Actors, 'actorOf' | 'actorNamed' | 'directory' | 'lookFor'>;
  readonly owns: (runId: RunId) => boolean;
  readonly clock: Clock;
  readonly planApproval?: PlanApproval | undefined;
  readonly approvals?: number | undefined;
  readonly judge?: JudgedCommands | undefined;
}

/** Takes requests from every entry point to the replica that owns their run: directly when that is this one. */
export class SubmitHandler {
  readonly #parts: SubmitParts;
  readonly #quota = new Quota();

  constructor(parts: SubmitParts) {
    this.#parts = parts;
  }

  /** `subject`: where it came. Who asks is what that and the proof in the request show, never what it says. */
  async submit(payload: Uint8Array, subject: string): Promise<SubmissionAnswer> {
    const arrived = readRequest(payload);
    await this.#lookFor(subject, arrived.ok ? arrived.actor : undefined);
    const publisher = subject === subjects.submit ? undefined : publisherOf(subject, this.#parts.actors)?.actor;
    // Before it is looked at any closer: what nobody can read counts, too.
    const tooMuch = publisher && this.#over(publisher.id, payload.length);
    if (tooMuch !== undefined) return refused(arrived.ok ? sentRequestId(arrived.json) : arrived.requestId, tooMuch);
    if (!arrived.ok) return refused(arrived.requestId, arrived.refusal);
    const { json, actor, bytes } = arrived;
    const known = requesterOf({ subject, json, actor, now: this.#parts.clock.now() }, this.#parts.actors);
    if (!known.ok) return refused(sentRequestId(json), known.refusal);
    const { requester } = known;
    const over = publisher === undefined ? this.#over(requester.actor.id, payload.length) : undefined;
    if (over !== undefined) return refused(sentRequestId(json), over);
    const submission = checkSubmission(json, requester.namespace, bytes);
    if (!submission.ok) return refused(submission.requestId, submission.refusal);
    return this.#parts.owns(submission.runId)
      ? this.#serve(submission, requester)
      : this.#forward(submission, requester);
  }

  /**
   * A SUBMIT that another replica forwarded. The request is checked again; who asks was proven there, and nobody but the replicas of
   * this service may send it on.
   */
  async serveVerb(runId: RunId, payload: Uint8Array): Promise<VerbAnswer> {
    const parsed = parseWith(SubmitCommand, JSON.parse(new TextDecoder().decode(payload)));
    if (!parsed.ok)
      return rejected({ code: 'INVALID_REQUEST', message: 'the verb is not valid', issues: parsed.issues });
    const { request, namespace, actor, proof, trusted } = parsed.value;
    const submission = checkSubmission(request, namespace, payload.length);
    if (!submission.ok) return rejected(submission.refusal);
    if (submission.runId !== runId) {
      return rejected({ code: 'INVALID_REQUEST', message: 'the run id is not the one of the request', issues: [] });
    }
    // The parser of the request as it was sent has filled the types in.
    const { formerHash } = parsed.value;
    const requester: Requester = {
      actor,
      namespace,
      ...(trusted && { trusted }),
      ...(proof !== undefined && { proof }),
    };
    const settled = await this.#decide({ ...submission, ...(formerHash !== undefined && { formerHash }) }, requester);
    if (settled.kind !== 'answered') return rejected(TRY_AGAIN);
    const { answer, sequence } = settled;
    if (answer.kind === 'rejected') return { ...rejected(answer.reason), sequence };
    return { answer: answer.kind, sequence };
  }

  async #serve(submission: Accepted, requester: Requester): Promise<SubmissionAnswer> {
    const { requestId } = submission.request;
    const settled = await this.#decide(submission, requester);
    if (settled.kind === 'retry') return { kind: 'try-again', requestId, reason: settled.reason };
    if (settled.kind === 'poison') return settled;
    if (settled.answer.kind === 'rejected')
      return { kind: 'final', answer: { requestId, error: settled.answer.reason } };
    return { kind: 'final', answer: { runId: submission.runId, requestId } };
  }

  /** Nobody is sent away who was made known a moment ago. */
  async #lookFor(subject: string, actor: unknown): Promise<void> {
    const { actors } = this.#parts;
    if (subject !== subjects.submit) await actors.lookFor({ id: publisherIdOf(subject) });
    const proof = ActorProof.safeParse(actor);
    if (proof.success) await actors.lookFor(proof.data);
  }

  #over(actorId: string, bytes: number): Refusal | undefined {
    const limits = this.#parts.actors.directory.limitsOf(actorId);
    return limits && this.#quota.take(actorId, limits, { bytes, now: this.#parts.clock.now() });
  }

  /** Of the runs that this replica serves. */
  #tooManyOpen(actorId: string): Refusal | undefined {
    const { actors, server } = this.#parts;
    const limits = actors.directory.limitsOf(actorId);
    return limits && tooManyOpen(actorId, limits, server.openRunsOf(actorId));
  }

  #decide(submission: Accepted, { actor, trusted, proof }: Requester): Promise<Settled> {
    const { request, runId, bytes, formerHash } = submission;
    // A run that there is already is answered as before, whatever it says.
    const refusal = submission.refusal ?? this.#tooManyOpen(actor.id);
    const { clock, planApproval, approvals, judge } = this.#parts;
    const requested = requestedOf({ ...submission, planApproval, approvals, judge }, { actor, trusted }, clock.now());
    return new Promise((settle) => {
      this.#parts.server.deliver(runId, {
        input: { kind: 'submit', requested, formerHash, refusal },
        cause: { kind: 'request', id: request.requestId, ...(proof !== undefined && { proof }) },
        bytes: proof === undefined ? bytes : 2 * bytes,
        settle,
      });
    });
  }

  async #forward(submission: Accepted, requester: Requester): Promise<SubmissionAnswer> {
    const { runId, request, formerHash } = submission;
    const { requestId } = request;
    const former = formerHash === undefined ? {} : { formerHash };
    const body: SubmitCommand = { id: requestId, ...requester, runId, request, ...former };
    const answered = await askOwner(this.#parts.nc, runId, 'SUBMIT', body);
    if (answered === undefined) {
      return { kind: 'try-again', requestId, reason: 'no replica serves the partition of the run at the moment' };
    }
    const { answer, reason } = answered;
    if (answer !== 'rejected') return { kind: 'final', answer: { runId, requestId } };
    if (reason === undefined || reason.code === 'TRY_AGAIN') {
      return { kind: 'try-again', requestId, reason: 'the owner of the run does not know yet' };
    }
    return { kind: 'final', answer: { requestId, error: reason } };
  }
}

type Accepted = Extract<Submission, { ok: true }>;

function refused(requestId: string | undefined, error: Refusal): SubmissionAnswer {
  return { kind: 'final', answer: { ...(requestId === undefined ? {} : { requestId }), error } };
}

export function tryAgain(requestId: string | undefined, error = TRY_AGAIN): SubmitAnswer {
  return { ...(requestId === undefined ? {} : { requestId }), error };
}

function rejected(reason: Refusal): VerbAnswer {
  return { answer: 'rejected', reason, sequence: 0 };
}
