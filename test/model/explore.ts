import type { RunEvent } from '#proto';
import { isTerminal } from '#libs/constellation';
import { tell } from '../../libs/constellation/testing/given.js';
import { checkConfluence, checkStep, checkWorld } from './checks.js';
import type { Configuration } from './configuration.js';
import type { Violation } from './occasion.js';
import { stepsOf } from './steps.js';
import { begin, keyOf, reloaded, type Step, take, type Taken, type World } from './world.js';

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Steps of the longest of the shortest ways to a state. */
  readonly depth: number;
  /** States in which the run is over. */
  readonly ends: number;
  /** What happened somewhere, as `type reason`: what is not here was not explored. */
  readonly kinds: ReadonlySet<string>;
  /** The first thing that is wrong, and the shortest way there. */
  readonly violation: (Violation & { readonly trace: readonly string[] }) | null;
}

/** How a state was reached first. Its world is let go once all that may happen in it was tried. */
interface Node {
  readonly parent: Node | null;
  readonly step: Step;
  readonly depth: number;
  readonly number: number;
}

/** Explores every order of everything that may happen, breadth first, so that the first violation has the shortest trace. */
export function explore(configuration: Configuration): Exploration {
  const search = new Search(configuration);
  const violation = search.run();
  const { states, transitions, depth, ends, kinds } = search;
  return { states, transitions, depth, ends, kinds, violation };
}

interface Open {
  readonly node: Node;
  readonly world: World;
}

/** What comes without anybody's wish: an attempt ends, the planner answers, time passes. */
const SURE: ReadonlySet<Step['kind']> = new Set(['request', 'attempt', 'proposal', 'timer']);

class Search {
  readonly #configuration: Configuration;
  readonly #numbers = new Map<string, number>();
  /** Where each step leads, for the search for cycles: pairs of state numbers. */
  readonly #edges: number[] = [];
  /** By state number. */
  readonly #nodes: Node[] = [];
  transitions = 0;
  depth = 0;
  ends = 0;
  readonly kinds = new Set<string>();

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  get states(): number {
    return this.#numbers.size;
  }

  run(): Exploration['violation'] {
    const { world, step } = begin(this.#configuration);
    const root: Open = { node: { parent: null, step, depth: 0, number: -1 }, world };
    let frontier = [root];
    try {
      frontier = this.#follow(root, [step]);
      while (frontier.length > 0) frontier = frontier.flatMap((open) => this.#expand(open));
      return this.#checkCircles();
    } catch (error) {
      if (error instanceof Found) return { ...error.violation, trace: this.#trace(error.node) };
      throw error;
    }
  }

  #expand(open: Open): Open[] {
    const steps = stepsOf(open.world, this.#configuration);
    const next = this.#follow(open, steps);
    if (isTerminal(open.world.run)) this.ends++;
    return next;
  }

  #follow({ world, node }: Open, steps: readonly Step[]): Open[] {
    const opened: Open[] = [];
    let before: Taken | undefined;
    const alone = new Map<Step, Taken>();
    let changes = isTerminal(world.run);
    for (const step of steps) {
      const to: Node = { parent: node, step, depth: node.depth + 1, number: this.states };
      const taken = this.#take(world, to);
      alone.set(step, taken);
      this.transitions++;
      if (step.swapped !== undefined && before !== undefined) this.#compare(to, before, taken, alone);
      before = taken;
      const key = keyOf(taken.world, this.#configuration);
      const known = this.#numbers.get(key);
      if ((known ?? to.number) !== node.number) {
        this.#edges.push(node.number, known ?? to.number);
        changes ||= SURE.has(step.kind);
      }
      if (known !== undefined) continue;
      this.#numbers.set(key, to.number);
      this.#nodes.push(to);
      this.depth = to.depth;
      for (const event of taken.events) this.kinds.add(kindOf(event));
      const loaded = reloaded(taken);
      this.#report(to, checkWorld(loaded, this.#configuration));
      opened.push({ node: to, world: loaded.world });
    }
    if (!changes) throw new Found(node, { name: 'DEADLOCK', message: 'the run goes on, and nothing can change it' });
    return opened;
  }

  #take(world: World, to: Node): Taken {
    try {
      const taken = take(world, to.step, this.#configuration);
      this.#report(to, taken.violations);
      this.#report(to, checkStep(to.step, taken));
      return taken;
    } catch (error) {
      if (error instanceof Found) throw error;
      throw new Found(to, { name: 'THROWS', message: String(error) });
    }
  }

  /** In one commit, and in two where nothing else follows from the first one: either was taken alone in the same world before. */
  #compare(node: Node, one: Taken, other: Taken, alone: ReadonlyMap<Step, Taken>): void {
    this.#report(node, checkConfluence(one, other));
    const { result, edit } = node.step.swapped ?? {};
    if (result === undefined || edit === undefined) return;
    const [first, second] = [alone.get(result), alone.get(edit)];
    if (first === undefined || second === undefined) throw new Error('what is swapped was not taken alone');
    if (first.events.length !== 1 || second.events.length !== 1) return;
    const ends = [
      take(first.world, edit, this.#configuration),
      take(second.world, result, this.#configuration),
    ] as const;
    this.#report(node, checkConfluence(...ends));
  }

  #report(node: Node, violations: Iterable<Violation>): void {
    for (const violation of violations) throw new Found(node, violation);
  }

  /**
   * Liveness. Every state that is no end has a step that leaves it, so an execution that stops has reached an end; one that
   * never stops would go round in a circle, since there are finitely many states. Without circles every execution, fair or
   * not, ends in an end of its run.
   */
  #checkCircles(): Exploration['violation'] {
    const circling = statesOnCircles(this.states, this.#edges);
    const node = this.#nodes[circling[0] ?? -1];
    if (node === undefined) return null;
    const message = `the run can go on for ever through ${circling.length} states`;
    return { name: 'LIVELOCK', message, trace: [...this.#trace(node), ...this.#circle(node, new Set(circling))] };
  }

  /** The steps that lead from a state on a circle back to it. */
  #circle(start: Node, circling: ReadonlySet<number>): string[] {
    const ways = new Map<number, string[]>([[start.number, ['and from here on']]]);
    const open: Open[] = [{ node: start, world: this.#worldOf(start) }];
    for (const { node, world } of open) {
      for (const step of stepsOf(world, this.#configuration)) {
        const { world: next } = take(world, step, this.#configuration);
        const number = this.#numbers.get(keyOf(next, this.#configuration)) ?? -1;
        if (number === node.number || !circling.has(number)) continue;
        const way = [...(ways.get(node.number) ?? []), step.label];
        if (number === start.number) return way;
        const to = this.#nodes[number];
        if (to === undefined || ways.has(number)) continue;
        ways.set(number, way);
        open.push({ node: to, world: next });
      }
    }
    return [];
  }

  #worldOf(last: Node): World {
    const steps: Step[] = [];
    for (let node: Node | null = last; node !== null && node.number >= 0; node = node.parent) steps.unshift(node.step);
    const { world } = begin(this.#configuration);
    return steps.reduce((before, step) => take(before, step, this.#configuration).world, world);
  }

  /** The steps from the beginning, decided again, each with what followed from it. */
  #trace(last: Node): string[] {
    const nodes: Node[] = [];
    for (let node: Node | null = last; node !== null && node.number >= 0; node = node.parent) nodes.unshift(node);
    const lines: string[] = [];
    let { world } = begin(this.#configuration);
    for (const { step } of nodes) {
      lines.push(step.label);
      try {
        const taken = take(world, step, this.#configuration);
        lines.push(...taken.events.map((event: RunEvent) => `    ${tell(event)}`));
        world = taken.world;
      } catch (error) {
        lines.push(`    throws ${String(error)}`);
      }
    }
    return lines;
  }
}

class Found extends Error {
  constructor(
    readonly node: Node,
    readonly violation: Violation,
  ) {
    super(violation.message);
  }
}

/** The type of an event and, where it has one, its reason. */
function kindOf({ type, data }: RunEvent): string {
  if (type === 'RUN_PAUSED' && data.waitsFor !== undefined) return `${type} ${data.waitsFor}`;
  if (type === 'APPROVAL_DECIDED') return `${type} ${data.decision}`;
  if (type === 'TASK_FAILED') return `${type} ${data.error.outcome}`;
  if (type === 'EDIT_REJECTED') return `${type} ${data.violations[0]?.code}`;
  if (type === 'EDIT_ABANDONED' || type === 'RUN_FAILED') return `${type} ${data.reason.code}`;
  if (type === 'RUN_COMPLETED') return `${type} ${data.outcome}`;
  if (type === 'TASK_SKIPPED') return `${type} ${data.by}`;
  if (type === 'CONSTELLATION_MODIFIED') return `${type} ${data.origin} ${data.state ?? ''}`.trim();
  return 'reason' in data && type.startsWith('TASK') ? `${type} ${data.reason}` : type;
}

/** What is left when states that nothing leads to, and those that lead nowhere, are taken away again and again. */
function statesOnCircles(states: number, edges: readonly number[]): number[] {
  const forwards = peel(states, edges, new Set());
  const backwards = peel(states, edges.toReversed(), forwards);
  return [...Array.from({ length: states }).keys()].filter((state) => !forwards.has(state) && !backwards.has(state));
}

function peel(states: number, edges: readonly number[], gone: ReadonlySet<number>): ReadonlySet<number> {
  const arrivals = new Int32Array(states);
  const leaving = Array.from({ length: states }, (): number[] => []);
  for (let at = 0; at < edges.length; at += 2) {
    const [from = 0, to = 0] = [edges[at], edges[at + 1]];
    if (from < 0 || to < 0 || gone.has(from) || gone.has(to)) continue;
    leaving[from]?.push(to);
    arrivals[to] = (arrivals[to] ?? 0) + 1;
  }
  const peeled = new Set([...arrivals.keys()].filter((state) => arrivals[state] === 0));
  // A Set is walked in the order of insertion, and what is added on the way is walked, too.
  for (const state of peeled) {
    for (const to of leaving[state] ?? []) {
      arrivals[to] = (arrivals[to] ?? 0) - 1;
      if (arrivals[to] === 0) peeled.add(to);
    }
  }
  return peeled;
}
