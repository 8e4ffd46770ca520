import { stat } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { query, QueryRefusedError, QueryUnavailableError, type QueryRequest } from '#libs/messaging';
import { LATEST_RUN, runMeant, runsToFind, type RunSummary } from '#proto';
import { withBus } from '../bus/index.js';
import { badInput, failure, unreachable, type CliContext } from '../terminal/index.js';

const NO_LIST = 'The whole id of a run needs no list of them.';

/**
 * The id of the run that a word stands for, by the list of runs; the word itself where it can only be an id, or a file is called so.
 * Throws CliError when no run, or several, begin so, and when nobody can say.
 */
export async function runNamed(context: CliContext, word: string): Promise<string> {
  const wanted = runsToFind(word);
  if (wanted === undefined || (await isThere(word))) return word;
  const { runs, more = false } = await withBus(context, (nc) => listed(nc, wanted));
  if (runs.length === 0) throw badInput(word === LATEST_RUN ? 'There is no run yet.' : `There is no run ${word}.`);
  return runMeant(word, runs) ?? ambiguous(word, runs, more);
}

async function listed(nc: NatsConnection, wanted: QueryRequest<'logging', 'runs'>) {
  try {
    return await query(nc, 'logging', 'runs', wanted);
  } catch (error) {
    if (error instanceof QueryUnavailableError) throw unreachable(`${error.message} ${NO_LIST}`, error);
    if (error instanceof QueryRefusedError && error.refusal.code === 'UNAUTHORIZED') {
      throw failure(`${error.message} ${NO_LIST}`, error);
    }
    throw error;
  }
}

function ambiguous(word: string, runs: readonly RunSummary[], more: boolean): never {
  const lines = runs.map(({ runId, status, requestedAt, name }) => [runId, status, requestedAt, name].join('  '));
  const others = more ? [`and more: orrery runs --id ${word}`] : [];
  throw badInput([`Several runs begin with ${word}:`, ...lines, ...others].join('\n  '));
}

async function isThere(name: string): Promise<boolean> {
  return (await stat(name).catch(() => undefined))?.isFile() === true;
}
