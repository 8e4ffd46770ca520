import { setTimeout as sleep } from 'node:timers/promises';
import { editOfCall, isTerminal, snapshotOf, violationOfCall, type Run } from '#libs/constellation';
import type { VerbOutcome } from '#libs/messaging';
import { sentenceOf, type ConstellationSnapshot, type ConstellationToolCall, type Edit, type Refusal } from '#proto';
import { DeskError, type ConstellationDesk, type DeskAnswer } from './desk.js';

/** Where a constellation of a system that runs comes from, and where its edits go. */
export interface LivePorts {
  /** The run as its log tells it; undefined when there is none. */
  loadRun(): Promise<Run | undefined>;
  /** Hands in the edits as one intent, all or none; resolves with the final answer, or the news that there is none. */
  propose(edits: readonly Edit[]): Promise<VerbOutcome>;
}

/** A log that is read from a replica may be behind the answer for a moment. */
const LOOKS_MAX = 40;
const LOOK_AGAIN_MS = 50;

/** The constellation of a run as it is: a call is an edit, handed in as the person who allowed it and judged like every edit. */
export class LiveConstellation implements ConstellationDesk {
  readonly #ports: LivePorts;

  constructor(ports: LivePorts) {
    this.#ports = ports;
  }

  async snapshot(): Promise<ConstellationSnapshot> {
    return snapshotOf(await this.#run());
  }

  async apply(call: ConstellationToolCall): Promise<DeskAnswer> {
    // What has ended is said in words of its own, before anything is handed in.
    const run = await this.#run();
    if (isTerminal(run)) {
      return refused(`The run is ${run.phase}: its constellation is history and cannot be changed.`);
    }
    // The goal, by which people know a plan without a name, may be too long for one.
    const name = run.graph.name;
    const made = name === '' ? editOfCall(call) : editOfCall(call, name);
    if (!made.ok) return { ok: false, problems: made.issues.map(sentenceOf) };
    const outcome = await this.#ports.propose([made.edit]);
    switch (outcome.answer) {
      case 'accepted':
      case 'ignored': // it is so already
        return { ok: true, snapshot: snapshotOf(await this.#runAt(outcome.sequence)) };
      case 'rejected':
        return { ok: false, problems: problemsOf(outcome.reason, made.edit) };
      case 'unknown':
        throw new DeskError(`${outcome.why} Whether it was done is not known: look at the constellation first.`);
    }
  }

  async #run(): Promise<Run> {
    const run = await this.#ports.loadRun();
    if (run === undefined) throw new DeskError('There is no such run.');
    return run;
  }

  async #runAt(sequence: number): Promise<Run> {
    for (let looks = 1; looks <= LOOKS_MAX; looks++) {
      const run = await this.#run();
      if (run.sequence >= sequence) return run;
      await sleep(LOOK_AGAIN_MS);
    }
    throw new DeskError('It was done, and the log does not show it yet: look at the constellation.');
  }
}

function problemsOf(reason: Refusal | undefined, edit: Edit): string[] {
  if (reason === undefined) return ['It was refused without a reason.'];
  if (reason.issues.length === 0) return [reason.message];
  return reason.issues.map(({ path, message }) =>
    sentenceOf(violationOfCall({ code: 'INVALID_INPUT', path: path.replace(/^proposal\.?/u, ''), message }, edit)),
  );
}

function refused(problem: string): DeskAnswer {
  return { ok: false, problems: [problem] };
}
