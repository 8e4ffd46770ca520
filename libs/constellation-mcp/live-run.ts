import { runBoardOf, type Run } from '#libs/constellation';
import type { VerbOutcome } from '#libs/messaging';
import { sentenceOf, type Refusal, type RunBoard, type VerbAnswer, type VerbFields, type VerbId } from '#proto';
import { DeskError, type RunDesk, type RunWord, type WordAnswer } from './desk.js';

/** What is said beside an edit: which verb, and with what. */
export type RunVerbWords =
  | { readonly verb: 'SAY'; readonly fields: Omit<VerbFields<'SAY'>, 'grant'>; readonly id?: VerbId | undefined }
  | { readonly verb: 'BOARD_SET'; readonly fields: Omit<VerbFields<'BOARD_SET'>, 'grant'> }
  | { readonly verb: 'BOARD_DELETE'; readonly fields: Omit<VerbFields<'BOARD_DELETE'>, 'grant'> };

/** Where a run is read, and where words to it go. */
export interface RunPorts {
  /** The run as its log tells it; undefined when there is none. */
  loadRun(): Promise<Run | undefined>;
  /** Resolves with the final answer, or the news that there is none. */
  say(words: RunVerbWords): Promise<VerbOutcome>;
}

/** A run as it is: words are said as the person who allowed it, and decided like everybody's. */
export class LiveRunDesk implements RunDesk {
  readonly #ports: RunPorts;

  constructor(ports: RunPorts) {
    this.#ports = ports;
  }

  async board(): Promise<RunBoard> {
    return runBoardOf(await this.#run());
  }

  async tell(word: RunWord): Promise<WordAnswer> {
    const { runId } = await this.#run();
    const outcome = await this.#ports.say(wordsOf(word));
    switch (outcome.answer) {
      case 'accepted':
        return { ok: true, runId, sequence: outcome.sequence, note: outcome.detail ?? '' };
      case 'ignored': // nothing stood there, or it was said before
        return { ok: true, runId, sequence: outcome.sequence, note: outcome.reason?.message ?? '' };
      case 'rejected':
        return { ok: false, problems: problemsOf(outcome) };
      case 'unknown':
        throw new DeskError(`${outcome.why} Whether it was done is not known: ${lookFirst(word)}`);
    }
  }

  async #run(): Promise<Run> {
    const run = await this.#ports.loadRun();
    if (run === undefined) throw new DeskError('There is no such run.');
    return run;
  }
}

function wordsOf(word: RunWord): RunVerbWords {
  switch (word.does) {
    case 'say':
      return { verb: 'SAY', fields: { text: word.text }, id: word.id };
    case 'set':
      return { verb: 'BOARD_SET', fields: { name: word.name, value: word.value, revision: word.revision } };
    case 'take-off':
      return { verb: 'BOARD_DELETE', fields: { name: word.name, revision: word.revision } };
  }
}

function lookFirst(word: RunWord): string {
  if (word.does !== 'say') return 'look at the board first.';
  return word.id === undefined ? 'look at the run first.' : 'say it again with the same id, and it is said once.';
}

/** With what stands on the board now, where that is why: who writes again has to know it. */
function problemsOf({ reason, board }: VerbAnswer): string[] {
  const why = reason === undefined ? ['It was refused without a reason.'] : sentencesOf(reason);
  return board === undefined || board === null ? why : [...why, `There is: ${JSON.stringify(board.value ?? null)}`];
}

const sentencesOf = ({ issues, message }: Refusal): string[] =>
  issues.length === 0 ? [message] : issues.map(sentenceOf);
