// Where a plan may run as the fleet is now: a selector that reads narrow may mean every device there is.
import { couldSatisfy, counted, isRevoked, type Run, satisfies, targetText } from '#libs/constellation';
import type { AgentProfile, Target, TaskId } from '#proto';
import { cleanLine, clipToWidth, paintFor, type Terminal } from '../terminal/index.js';

type Selector = Exclude<Target, { device: string }>;

/** What a plan that may still run reaches. */
interface Reach {
  /** Devices that are enrolled and not revoked. */
  readonly enrolled: number;
  /** One entry per selector of a task that has not started, or of what later edits may use; the widest first. */
  readonly selectors: readonly SelectorReach[];
}

interface SelectorReach {
  readonly target: Selector;
  /** Enrolled devices that fit, connected or not. */
  readonly devices: number;
  /** Enrolled devices that have never said what they are, and may fit. */
  readonly unknown: number;
  /** It bounds nothing: more than one device fits, and none is ruled out. */
  readonly all: boolean;
  /** Tasks with this target that have not started; none: only later edits may use it. */
  readonly tasks: readonly TaskId[];
}

/** True when there is anything to ask the fleet about. */
export function hasSelectors(run: Pick<Run, 'tasks' | 'scope'>): boolean {
  return usesOf(run).size > 0;
}

export function reachOf(run: Pick<Run, 'tasks' | 'scope'>, devices: readonly AgentProfile[]): Reach {
  const enrolled = devices.filter((device) => !isRevoked(device));
  const selectors = [...usesOf(run).values()].map(({ target, tasks }) => ({
    target,
    ...countsOf(target, enrolled),
    tasks,
  }));
  return { enrolled: enrolled.length, selectors: selectors.toSorted((one, other) => other.devices - one.devices) };
}

function countsOf(target: Selector, enrolled: readonly AgentProfile[]): Omit<SelectorReach, 'target' | 'tasks'> {
  const fits = enrolled.filter((device) => satisfies(device, target));
  // Only its tags, which the administrator gave, say anything of a device that never connected.
  const unknown = enrolled.filter(
    (device) => device.session === null && !fits.includes(device) && couldSatisfy(device, target),
  );
  const all = fits.length > 1 && fits.length + unknown.length === enrolled.length;
  return { devices: fits.length, unknown: unknown.length, all };
}

function usesOf({ tasks, scope }: Pick<Run, 'tasks' | 'scope'>): Map<string, { target: Selector; tasks: TaskId[] }> {
  const uses = new Map<string, { target: Selector; tasks: TaskId[] }>();
  const use = (target: Target, taskId?: TaskId): void => {
    if ('device' in target) return;
    // Targets were parsed, so equal ones have their fields in the same order.
    const key = JSON.stringify(target);
    const known = uses.get(key) ?? { target, tasks: [] };
    if (taskId !== undefined) known.tasks.push(taskId);
    uses.set(key, known);
  };
  for (const { star, status } of tasks) if (status === 'PENDING') use(star.target, star.id);
  for (const target of scope ?? []) use(target);
  return uses;
}

/** What a person wants to know before a plan runs. `fleet` undefined: it was not asked; null: it was, and the registry did not answer. */
export function printReach(
  terminal: Pick<Terminal, 'out' | 'err' | 'color'>,
  run: Run,
  fleet: readonly AgentProfile[] | null | undefined,
): void {
  const lines = [
    ...laterText(run),
    ...(fleet === undefined || fleet === null ? [] : reachText(reachOf(run, fleet), terminal)),
  ];
  if (lines.length > 0) terminal.out(`\n${lines.join('\n')}`);
  if (fleet === null) terminal.err('How many devices a selector reaches is not known: the registry does not answer.');
}

const LINES_MAX = 20;
const NAMES_MAX = 5;
const SELECTOR_CHARS_MAX = 200;

/** One line per selector: how many devices that is, with a word of warning when it is all of them. */
function reachText({ enrolled, selectors }: Reach, screen: Pick<Terminal, 'color'>): string[] {
  if (selectors.length === 0) return [];
  const paint = paintFor(screen);
  const lines = selectors.slice(0, LINES_MAX).map(({ target, devices, unknown, all, tasks }) => {
    const many = `any of ${counted(devices, 'device')}`;
    const now = devices === 0 ? 'no enrolled device' : all ? paint('yellow', `${many}: ALL THAT ARE ENROLLED`) : many;
    const more = unknown === 0 ? '' : `, and ${unknown} that never connected may fit`;
    return `  ${clipToWidth(cleanLine(targetText(target)), SELECTOR_CHARS_MAX)}: ${now}${more} (${usersText(tasks)})`;
  });
  const left = selectors.length - lines.length;
  return [
    `What selectors reach now, of ${counted(enrolled, 'enrolled device')}:`,
    ...lines,
    ...(left > 0 ? [`  and ${counted(left, 'selector')} more`] : []),
  ];
}

function usersText(tasks: readonly TaskId[]): string {
  if (tasks.length === 0) return 'later edits only';
  const more = tasks.length > NAMES_MAX ? ` and ${tasks.length - NAMES_MAX} more` : '';
  return `${tasks.length === 1 ? 'task' : 'tasks'} ${tasks.slice(0, NAMES_MAX).join(', ')}${more}`;
}

/** Where later edits of a model may run things besides the targets of the plan: the person who accepts the plan accepts that, too. */
function laterText({ tasks, scope }: Pick<Run, 'tasks' | 'scope'>): string[] {
  const planned = new Set([...tasks].map(({ star }) => JSON.stringify(star.target)));
  const besides = (scope ?? []).filter((target) => !planned.has(JSON.stringify(target)));
  if (besides.length === 0) return [];
  const shown = besides
    .slice(0, LINES_MAX)
    .map((target) => clipToWidth(cleanLine(targetText(target)), SELECTOR_CHARS_MAX));
  const more = besides.length > LINES_MAX ? [`and ${besides.length - LINES_MAX} more`] : [];
  return [`Later edits of a model may also use: ${[...shown, ...more].join('; ')}`];
}
