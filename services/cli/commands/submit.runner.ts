import { errors, type NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { validateConstellation } from '#libs/constellation';
import { LIMITS, SubmitAnswer, subjects } from '#proto';
import type { RunId, RunRequest } from '#proto';
import { withBus } from '../bus.client.js';
import { badInput, failure, unreachable } from '../errors.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { readInput } from '../input-file.adapter.js';
import { waitForEnd } from '../live.runner.js';
import { parseRequestText, sentencesOf } from '../request-file.js';
import { printJson, type CliContext } from '../terminal.js';

/** The same request is sent again with the same id, so repeating it is safe: one run, whatever gets lost. */
const SUBMIT_ATTEMPTS_MAX = 3;
const ANSWER_MS_MAX = LIMITS.submitAnswerMs + 1_000;

export interface SubmitOptions {
  readonly goal: string | undefined;
  readonly file: string | undefined;
  readonly requestId: string | undefined;
  readonly wait: boolean;
  /** While it waits, also what the tasks write. */
  readonly output: boolean;
}

export async function submit(context: CliContext, options: SubmitOptions): Promise<ExitCode> {
  if (options.output && !options.wait) throw badInput('--output shows what is written while it waits: add --wait.');
  const request = await requestOf(context, options);
  return withBus(context, async (nc) => {
    const { runId, requestId } = await send(nc, request);
    if (!options.wait) {
      if (context.json) printJson(context, { runId, requestId });
      else context.terminal.out(`run ${runId} accepted (request ${requestId})`);
      return EXIT.ok;
    }
    if (!context.json) context.terminal.err(`run ${runId} accepted (request ${requestId})`);
    return waitForEnd(context, nc, runId, { output: options.output ? {} : undefined });
  });
}

/** What is wrong with a request is said before anybody is asked: it needs no bus. */
async function requestOf(context: CliContext, { goal, file, requestId }: SubmitOptions): Promise<RunRequest> {
  if ((goal === undefined) === (file === undefined)) throw badInput('Give a goal or a file (-f), one of them.');
  const id = requestId ?? `cli-${ulid(context.now()).toLowerCase()}`;
  const text = file === undefined ? JSON.stringify({ goal }) : await readInput(file);
  const parsed = parseRequestText(text, id, requestId !== undefined);
  const where = file === undefined || file === '-' ? '' : `${file}: `;
  if (!parsed.ok) throw badInput(`${where}${parsed.message}`, parsed.issues);
  const { constellation } = parsed.request;
  const prefix = parsed.bare ? '' : 'constellation.';
  const issues = constellation === null ? [] : validateConstellation(constellation);
  if (issues.length === 0) return parsed.request;
  const placed = issues.map(({ path, message }) => ({ path: `${prefix}${path}`, message }));
  throw badInput(`${where}${sentencesOf(placed)}`, placed);
}

/** Answers when the run is recorded; throws the refusal. */
export async function send(nc: NatsConnection, request: RunRequest): Promise<{ runId: RunId; requestId: string }> {
  const body = JSON.stringify(request);
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(nc, body);
    if (answer !== undefined && 'runId' in answer) return answer;
    const retry = answer === undefined || answer.error.code === 'TRY_AGAIN';
    if (retry && attempt < SUBMIT_ATTEMPTS_MAX) continue;
    if (answer === undefined)
      throw unreachable('The orchestrator did not answer; the request may be sent again with the same --request-id.');
    const { code, message, issues } = answer.error;
    if (code === 'TRY_AGAIN') throw unreachable(message);
    if (code === 'UNAUTHORIZED') throw failure(message);
    // A refusal with one issue often says it in its message already.
    const more = issues.filter((issue) => !message.includes(issue.message));
    throw badInput(more.length === 0 ? message : `${message} ${sentencesOf(more)}`, issues);
  }
}

async function ask(nc: NatsConnection, body: string): Promise<SubmitAnswer | undefined> {
  try {
    return SubmitAnswer.parse((await nc.request(subjects.submit, body, { timeout: ANSWER_MS_MAX })).json());
  } catch (error) {
    if (error instanceof errors.RequestError && error.isNoResponders()) {
      throw unreachable('The orchestrator is not running: nobody takes requests on this bus.', error);
    }
    if (error instanceof errors.TimeoutError || error instanceof errors.RequestError) return undefined;
    throw error;
  }
}
