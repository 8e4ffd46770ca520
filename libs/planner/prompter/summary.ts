import { type EditTrigger, type TaskStatus, TaskStatus as Statuses } from '#proto';
import { type Run, hasPlan } from '#libs/constellation';
import { outputOf, type OutputText } from '#libs/prompter';
import { fenceTokens, jsonLine, lineTokens, linesWithin, type Telling, toldText } from './bounded.js';
import { type Ranking, rankingOf } from './ranking.js';
import { type LineTier, taskResultOf, taskLine } from './task-line.js';

/** Below this not even a plan of a few tasks can be told. */
export const SUMMARY_TOKENS_MIN = 800;

export interface SummaryOptions extends Telling {
  /** Of all that is told, fences included, at most. */
  readonly tokens: number;
}

/**
 * The constellation and the results as an edit round is told of them: what triggered it with most of the room, its neighbours in
 * full definition, everything else in a line, by its id, or in numbers. What is left out says so. Pure, and never more than
 * `tokens`, whatever names and results contain. Every trigger is named as long as the ids alone fit; otherwise a line says how many are not.
 * Throws BoundaryTaken when some text contains the boundary.
 */
export function runSummaryText(run: Run, triggers: readonly EditTrigger[], options: SummaryOptions): string {
  if (options.tokens < SUMMARY_TOKENS_MIN) {
    throw new RangeError(`tokens is ${options.tokens}; a summary needs at least ${SUMMARY_TOKENS_MIN}`);
  }
  if (!hasPlan(run)) return '[There is no constellation yet]';
  return new Summary(run, rankingOf(run, triggers), options).text();
}

/** Not named at all, named in a list, in a line of its own, or with its results in fences behind all lines. */
type Tier = 'none' | 'id' | LineTier | 'full';
const TIERS: readonly Tier[] = ['none', 'id', 'short', 'line', 'long', 'full'];

/** Counts of parts add up to a little more than the count of the whole, mostly: this is for when they do not. */
const MARGIN = 0.02;
/** What stands around the tasks: the first line, counts, and the beginnings of the lists of names, of which there are twelve at most. */
const OVERHEAD_TOKENS = 320;
/** Shares of all tokens: for names of tasks, for lines of all, for neighbours, and for what is not named. */
const NAMES_SHARE = 0.25;
const LINES_SHARE = 0.3;
const NEIGHBOURS_SHARE = 0.2;
const GROUPS_SHARE = 0.1;
/** Who gets less than this for definition and results is told in a line. */
const FULL_TOKENS_MIN = 250;

interface Cell {
  readonly text: string;
  readonly tokens: number;
}

/** One summary while it is made: every piece is rendered and counted at most once. */
class Summary {
  readonly #run: Run;
  readonly #ranking: Ranking;
  readonly #options: SummaryOptions;
  readonly #tiers: Tier[];
  readonly #cells = new Map<string, Cell>();
  readonly #results = new Map<number, string[]>();
  readonly #triggers: ReadonlySet<number>;
  /** All positions, the most important first. */
  readonly #order: readonly number[];
  #left: number;

  constructor(run: Run, ranking: Ranking, options: SummaryOptions) {
    this.#run = run;
    this.#ranking = ranking;
    this.#options = options;
    this.#tiers = Array.from({ length: run.tasks.length }, () => 'none');
    this.#triggers = new Set(ranking.triggers);
    this.#order = [...ranking.triggers, ...ranking.ends, ...ranking.neighbours, ...ranking.others];
    const fences = fenceTokens('tasks', options) + fenceTokens('groups of tasks', options);
    this.#left = Math.floor(options.tokens * (1 - MARGIN)) - OVERHEAD_TOKENS - fences;
  }

  text(): string {
    const { tokens } = this.#options;
    const { triggers, ends, neighbours } = this.#ranking;
    const centre = [...triggers, ...ends];
    const groupTokens = Math.floor(tokens * GROUPS_SHARE);
    this.#raise('id', triggers, this.#left);
    // Room for groups is kept as long as there may be any.
    this.#left -= groupTokens;
    this.#raise('id', this.#order, tokens * NAMES_SHARE);
    if (!this.#tiers.includes('none')) this.#left += groupTokens;
    this.#raise('short', this.#order, tokens * LINES_SHARE);
    this.#raise('long', neighbours, tokens * NEIGHBOURS_SHARE);
    // A glimpse of every result that matters comes before the whole of a few.
    this.#raise('line', centre, this.#left);
    this.#tellInFull(centre);
    for (const tier of ['short', 'line', 'long'] as const) this.#raise(tier, this.#order, this.#left);
    return this.#composed(groupTokens);
  }

  /** In the order of importance, as far as it fits and `most` tokens go. */
  #raise(tier: LineTier | 'id', positions: readonly number[], most: number): void {
    let room = Math.min(most, this.#left);
    for (const position of positions) {
      const present = this.#tiers[position] ?? 'none';
      if (TIERS.indexOf(present) >= TIERS.indexOf(tier)) continue;
      const more = this.#cell(position, tier).tokens - this.#costOf(position, present);
      if (more > room) return;
      room -= more;
      this.#left -= more;
      this.#tiers[position] = tier;
    }
  }

  /** What is left is parted evenly; what a short result does not need goes to the longer ones. */
  #tellInFull(positions: readonly number[]): void {
    const count = Math.max(1, Math.floor(this.#left / FULL_TOKENS_MIN));
    const chosen = positions.slice(0, count);
    const sized = chosen.map((position) => ({ position, size: this.#size(position) }));
    sized.sort((one, other) => one.size - other.size || one.position - other.position);
    for (const [index, { position }] of sized.entries()) {
      const present = this.#costOf(position, this.#tiers[position] ?? 'none');
      const share = Math.floor(this.#left / (sized.length - index)) + present;
      const told = share < FULL_TOKENS_MIN ? null : this.#full(position, share);
      if (told === null) continue;
      this.#left -= told.tokens - present;
      this.#tiers[position] = 'full';
    }
  }

  /** The line of a task and its results, within a number of tokens; null when that is too little for them. */
  #full(position: number, most: number): Cell | null {
    const streams = this.#streams(position);
    const line = this.#definition(position, Math.floor(most * (streams.length === 0 ? 1 : DEFINITION_SHARE)));
    if (line === null) return null;
    let { tokens } = line;
    const id = this.#run.graph.taskIds.at(position);
    const texts = streams.map((output, index) => {
      const tokensMax = Math.floor((most - tokens) / (streams.length - index));
      const told = toldText(`${output.stream} of task ${id}`, output, { ...this.#options, tokensMax });
      tokens += told.tokens;
      return told.text;
    });
    if (tokens > most) return null;
    this.#results.set(position, texts);
    const cell = { text: line.text, tokens };
    this.#cells.set(`full ${position}`, cell);
    return cell;
  }

  /** All there is to know of a task but its results; less of it when that is too much. */
  #definition(position: number, most: number): Cell | null {
    for (const share of [1, 0.4, 0.1]) {
      const options = { tier: 'long', trigger: this.#triggers.has(position), withoutResult: true, share } as const;
      const text = taskLine(this.#run, position, options);
      const tokens = lineTokens(text, this.#options.countTokens);
      if (tokens <= most) return { text, tokens };
    }
    return null;
  }

  #streams(position: number): readonly OutputText[] {
    const result = taskResultOf(this.#run.tasks.at(position));
    return result === null ? [] : outputOf(result).streams.filter(({ head }) => head !== '');
  }

  #size(position: number): number {
    return this.#streams(position).reduce((sum, { head, tail }) => sum + head.length + tail.length, 0);
  }

  #costOf(position: number, tier: Tier): number {
    if (tier === 'none') return 0;
    return tier === 'full' ? (this.#cells.get(`full ${position}`)?.tokens ?? 0) : this.#cell(position, tier).tokens;
  }

  #cell(position: number, tier: LineTier | 'id'): Cell {
    const key = `${tier} ${position}`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const text =
      tier === 'id'
        ? `"${this.#run.graph.taskIds.at(position)}",`
        : taskLine(this.#run, position, { tier, trigger: this.#triggers.has(position) });
    const cell = { text, tokens: lineTokens(text, this.#options.countTokens) };
    this.#cells.set(key, cell);
    return cell;
  }

  #composed(groupTokens: number): string {
    const { fence } = this.#options;
    const { lines, lists } = this.#told();
    const unnamed = this.#order.filter((position) => this.#tiers[position] === 'none');
    const untold = unnamed.filter((position) => this.#triggers.has(position)).length;
    return [
      headline(this.#run),
      ...(untold === 0 ? [] : [`[${untold} more tasks triggered this round; there is no room for their names]`]),
      fence.around('tasks', [...lines, ...lists].join('\n')),
      ...this.#groups(unnamed, groupTokens),
      ...this.#order.flatMap((position) => this.#results.get(position) ?? []),
    ].join('\n');
  }

  /** Lines in the order of the constellation, triggers first; then the ids of those that have no line. */
  #told(): { lines: string[]; lists: string[] } {
    const first = [...this.#ranking.triggers, ...this.#ranking.ends];
    const isFirst = new Set(first);
    const rest = this.#order.filter((position) => !isFirst.has(position)).toSorted((one, other) => one - other);
    const lines: string[] = [];
    const lists = new Map<string, string[]>();
    for (const position of [...first, ...rest]) {
      const tier = this.#tiers[position] ?? 'none';
      if (tier === 'none') continue;
      if (tier !== 'id') {
        lines.push(this.#cells.get(`${tier} ${position}`)?.text ?? '');
        continue;
      }
      const { status, star } = this.#run.tasks.at(position);
      const key = `${this.#triggers.has(position) ? 'trigger ' : ''}${status}`;
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [star.id]);
      else list.push(star.id);
    }
    const listed = [...lists].map(([key, ids]) =>
      jsonLine({ trigger: key.startsWith('trigger'), status: key.replace('trigger ', ''), only_named: ids }),
    );
    return { lines, lists: listed };
  }

  /** Tasks that are not named, by what they have in common: the largest groups first. */
  #groups(unnamed: readonly number[], most: number): string[] {
    if (unnamed.length === 0) return [];
    const groups = new Map<string, { status: TaskStatus; first: string; last: string; count: number }>();
    for (const position of unnamed) {
      const { star, status } = this.#run.tasks.at(position);
      const key = `${status} ${star.id.replaceAll(/\d+/gu, '#')}`;
      const { first = star.id, count = 0 } = groups.get(key) ?? {};
      groups.set(key, { status, first, last: star.id, count: count + 1 });
    }
    const ordered = [...groups.values()].toSorted((one, other) => other.count - one.count);
    const written = ordered.map(({ status, first, last, count }) =>
      jsonLine({ tasks: count, status, ids: count === 1 ? first : `${first} ... ${last}` }),
    );
    const { lines, omitted } = linesWithin(written, most, this.#options.countTokens);
    const more = ordered.slice(lines.length).reduce((sum, { count }) => sum + count, 0);
    const rest = omitted === 0 ? '' : `; ${more} of them are in ${omitted} more groups`;
    return [
      `[${unnamed.length} tasks are not named above: ${counted(this.#run, unnamed)}. Groups of them${rest}:]`,
      this.#options.fence.around('groups of tasks', lines.join('\n')),
    ];
  }
}

/** Of the room of a task that is told in full: for all but its results. */
const DEFINITION_SHARE = 0.5;

function headline({ revision, counts, tasks, lines, phase }: Run): string {
  const statuses = Statuses.options
    .filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${status}`);
  const about = `${tasks.length} tasks (${statuses.join(', ')}), ${lines.length} dependencies`;
  return `[Run ${phase}, revision ${revision}: ${about}. A task is a line of JSON; results of the first ones stand behind all lines]`;
}

function counted(run: Run, positions: readonly number[]): string {
  const counts = new Map<TaskStatus, number>();
  for (const position of positions) {
    const { status } = run.tasks.at(position);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return Statuses.options
    .flatMap((status) => {
      const count = counts.get(status);
      return count === undefined ? [] : [`${count} ${status}`];
    })
    .join(', ');
}
