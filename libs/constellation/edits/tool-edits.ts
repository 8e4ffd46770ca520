import type {
  ConstellationToolCall,
  Edit,
  EditViolation,
  Issue,
  LineChange,
  Target,
  TaskChange,
  TaskConstellation,
  TaskStar,
  TaskStarLine,
  ToolConstellation,
  ToolDependency,
  ToolTarget,
  ToolTask,
} from '#proto';

// The vocabulary of the seven tools (proto/constellation-tools.ts) and the one of the wire say the same things: calls become
// edits, plans become constellations and back, and what is said about an edit is said about the call that it was made of.

/** Wait before the second try of a task, doubled for every further one: tools count tries and do not ask for more. */
export const TOOL_BACKOFF_MS = 1_000;
/** Of a constellation that was given no name. */
const NAMELESS = 'constellation';

export type TargetOfTools = { readonly ok: true; readonly target: Target } | Refused;
export type EditOfCall = { readonly ok: true; readonly edit: Edit } | Refused;
export type ConstellationOfTools = { readonly ok: true; readonly constellation: TaskConstellation } | Refused;

interface Refused {
  readonly ok: false;
  readonly issues: Issue[];
}

/**
 * The edit that a call means. Whether it may be made is asked of the constellation afterwards. Paths of issues lead into the
 * call's arguments. `name`: of the constellation, for a build that gives none.
 */
export function editOfCall(call: ConstellationToolCall, name = NAMELESS): EditOfCall {
  switch (call.tool) {
    case 'add_task': {
      const made = starOfTool(call.arguments);
      return made.ok ? { ok: true, edit: { tool: 'add_task', task: made.star } } : made;
    }
    case 'remove_task':
      return { ok: true, edit: { tool: 'remove_task', taskId: call.arguments.task_id } };
    case 'update_task':
      return taskUpdate(call.arguments);
    case 'add_dependency': {
      const made = lineOfTool(call.arguments);
      return made.ok ? { ok: true, edit: { tool: 'add_dependency', line: made.line } } : made;
    }
    case 'remove_dependency':
      return { ok: true, edit: { tool: 'remove_dependency', lineId: call.arguments.dependency_id } };
    case 'update_dependency':
      return lineUpdate(call.arguments);
    case 'build_constellation': {
      const { config, clear_existing: clear } = call.arguments;
      const made = constellationOfTools(config, name);
      if (made.ok) return { ok: true, edit: { tool: 'build_constellation', constellation: made.constellation, clear } };
      return refused(...made.issues.map(({ path, message }) => ({ path: `config.${path}`, message })));
    }
  }
}

/** A whole plan. `name` is taken when the plan has none. Structure is checked afterwards, as of every constellation. */
export function constellationOfTools(config: ToolConstellation, name: string): ConstellationOfTools {
  const stars = config.tasks.map((task) => starOfTool(task));
  const lines = config.dependencies.map((dependency) => lineOfTool(dependency));
  const issues = [...issuesAt('tasks', stars), ...issuesAt('dependencies', lines)];
  if (issues.length > 0) return refused(...issues);
  return {
    ok: true,
    constellation: {
      name: config.name ?? name,
      tasks: stars.flatMap((made) => (made.ok ? [made.star] : [])),
      lines: lines.flatMap((made) => (made.ok ? [made.line] : [])),
    },
  };
}

/** What tools would have said to get this; the exact waits between tries have no word among them. */
export function toolConstellationOf({ name, tasks, lines }: TaskConstellation): ToolConstellation {
  return { name, tasks: tasks.map(toolTaskOf), dependencies: lines.map(toolDependencyOf) };
}

/** Exactly one of a device and a selector. */
export function targetOfTools({ target_device_id: device, target }: ToolTarget): TargetOfTools {
  if (device !== undefined && target !== undefined) {
    return refused({ path: 'target_device_id', message: 'give target_device_id or target, not both' });
  }
  if (device !== undefined) return { ok: true, target: { device } };
  if (target !== undefined) return { ok: true, target };
  const message = 'give target_device_id (this device) or target (any device that satisfies it)';
  return refused({ path: 'target_device_id', message });
}

export function toolTargetOf(target: Target): ToolTarget {
  return 'device' in target ? { target_device_id: target.device } : { target };
}

type StarOfTool = { readonly ok: true; readonly star: TaskStar } | Refused;

function starOfTool(task: ToolTask): StarOfTool {
  const placed = targetOfTools(task);
  if (!placed.ok) return placed;
  const { task_id: id, name, description, tips = [] } = task;
  return {
    ok: true,
    star: {
      id,
      name,
      description,
      tips,
      target: placed.target,
      ...present({
        command: task.command,
        timeoutMs: milliseconds(task.timeout_seconds),
        deadlineMs: milliseconds(task.deadline_seconds),
        retry: retryOf(task.attempts),
        priority: task.priority,
        idempotent: task.idempotent,
        verify: task.verify,
        inputs: task.inputs,
        files: task.files,
        board: task.board,
        review: task.review,
        replaces: task.replaces,
        forEach: forEachOf(task.waves),
      }),
    },
  };
}

function toolTaskOf(star: TaskStar): ToolTask {
  const { id, name, description, tips, target, timeoutMs, deadlineMs, retry } = star;
  return {
    task_id: id,
    name,
    description,
    ...toolTargetOf(target),
    ...present({
      tips: tips.length > 0 ? tips : undefined,
      command: star.command,
      inputs: star.inputs,
      files: star.files,
      board: star.board,
      verify: star.verify,
      review: star.review,
      replaces: star.replaces,
      waves: wavesOf(star.forEach),
      timeout_seconds: seconds(timeoutMs),
      deadline_seconds: seconds(deadlineMs),
      attempts: retry?.attempts,
      priority: star.priority,
      idempotent: star.idempotent,
    }),
  };
}

type LineOfTool = { readonly ok: true; readonly line: TaskStarLine } | Refused;

function lineOfTool(dependency: ToolDependency): LineOfTool {
  const { dependency_id: id, from_task_id: from, to_task_id: to, condition } = dependency;
  const type = dependency.type ?? (condition === undefined ? 'success-only' : 'conditional');
  if (type === 'conditional' && condition === undefined) {
    return refused({ path: 'condition', message: 'a conditional dependency needs a condition' });
  }
  if (type !== 'conditional' && condition !== undefined) return refused(conditionWith(type));
  return {
    ok: true,
    line: { id, from, to, type, ...present({ condition, description: dependency.condition_description }) },
  };
}

function toolDependencyOf({ id, from, to, type, condition, description }: TaskStarLine): ToolDependency {
  const more = present({ condition, condition_description: description });
  return { dependency_id: id, from_task_id: from, to_task_id: to, type, ...more };
}

type Arguments<T extends ConstellationToolCall['tool']> = Extract<ConstellationToolCall, { tool: T }>['arguments'];

function taskUpdate(update: Arguments<'update_task'>): EditOfCall {
  const {
    task_id: taskId,
    target_device_id,
    target,
    timeout_seconds,
    deadline_seconds,
    attempts,
    waves,
    ...same
  } = update;
  const retargeted = target_device_id !== undefined || target !== undefined;
  const placed = retargeted ? targetOfTools(present({ target_device_id, target })) : undefined;
  if (placed?.ok === false) return placed;
  const change: TaskChange = present({
    ...same,
    target: placed?.target,
    timeoutMs: timeout_seconds === null ? null : milliseconds(timeout_seconds),
    deadlineMs: deadline_seconds === null ? null : milliseconds(deadline_seconds),
    retry: attempts === null ? null : retryOf(attempts),
    forEach: waves === null ? null : forEachOf(waves),
  });
  if (Object.keys(change).length > 0) return { ok: true, edit: { tool: 'update_task', taskId, change } };
  return refused({ path: '', message: 'nothing would change; give at least one field besides task_id' });
}

function lineUpdate(update: Arguments<'update_dependency'>): EditOfCall {
  const { dependency_id: lineId, condition, condition_description: description } = update;
  const isGiven = condition !== undefined && condition !== null;
  const type = update.type ?? (isGiven ? 'conditional' : undefined);
  if (isGiven && type !== undefined && type !== 'conditional') return refused(conditionWith(type));
  const change: LineChange = present({ type, condition, description });
  if (Object.keys(change).length > 0) return { ok: true, edit: { tool: 'update_dependency', lineId, change } };
  return refused({ path: '', message: 'nothing would change; give at least one field besides dependency_id' });
}

function conditionWith(type: string): Issue {
  const message = `a dependency that is ${type} has no condition; leave it out, or let the type be conditional`;
  return { path: 'condition', message };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1_000);
}

/** Tools count in seconds, from one on. */
function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.max(milliseconds, 1_000) / 1_000;
}

function retryOf(attempts: number | undefined): TaskStar['retry'] {
  return attempts === undefined ? undefined : { attempts, backoffMs: TOOL_BACKOFF_MS };
}

function forEachOf(waves: ToolTask['waves']): TaskStar['forEach'] {
  if (waves === undefined) return undefined;
  const { size, pause_seconds, max_failures } = waves;
  return present({ wave: size, pauseMs: milliseconds(pause_seconds), maxFailures: max_failures });
}

/** What tools would have said to get this. */
export function wavesOf(forEach: TaskStar['forEach']): ToolTask['waves'] {
  if (forEach === undefined) return undefined;
  const { wave, pauseMs, maxFailures } = forEach;
  const pause = pauseMs === undefined ? undefined : pauseMs / 1_000;
  return present({ size: wave, pause_seconds: pause, max_failures: maxFailures });
}

function issuesAt(list: string, made: readonly ({ readonly ok: true } | Refused)[]): Issue[] {
  return made.flatMap((one, index) =>
    one.ok ? [] : one.issues.map(({ path, message }) => ({ path: `${list}[${index}].${path}`, message })),
  );
}

/** The same fields but those that are undefined: absent is how the wire says that nothing was said. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function refused(...issues: Issue[]): Refused {
  return { ok: false, issues };
}

/** Fields of the wire that tools call something else, where they stand in a task or a line. */
const TASK_WORDS: Readonly<Record<string, string>> = {
  id: 'task_id',
  'target.device': 'target_device_id',
  timeoutMs: 'timeout_seconds',
  deadlineMs: 'deadline_seconds',
  retry: 'attempts',
  forEach: 'waves',
};
const LINE_WORDS: Readonly<Record<string, string>> = {
  id: 'dependency_id',
  from: 'from_task_id',
  to: 'to_task_id',
  description: 'condition_description',
};

/**
 * A violation of an edit as it is said to the caller: its path leads into the call's arguments (empty: the call as
 * a whole) instead of the proposal. `edits[2].task.target` of a task with a device becomes `target_device_id`.
 */
export function violationOfCall(violation: EditViolation, edit: Edit): EditViolation {
  const within = violation.path.replace(/^edits(?:\[\d+\])?\.?/u, '');
  const message = violation.message
    .replaceAll(/\bedits\[\d+\]\.constellation\.(?=(?:tasks|lines)\[)/gu, 'config.')
    .replaceAll('config.lines[', 'config.dependencies[');
  return { ...violation, path: pathInCall(within, edit), message };
}

function pathInCall(path: string, edit: Edit): string {
  const [head = '', ...rest] = path.split('.');
  const more = rest.join('.');
  switch (edit.tool) {
    case 'add_task':
      return head === 'task' ? taskPath(more, edit.task.target) : '';
    case 'remove_task':
      return head === 'taskId' ? 'task_id' : '';
    case 'update_task':
      if (head === 'taskId') return 'task_id';
      return head === 'change' ? taskPath(more, edit.change.target) : '';
    case 'add_dependency':
      return head === 'line' ? worded(more, LINE_WORDS) : '';
    case 'remove_dependency':
      return head === 'lineId' ? 'dependency_id' : '';
    case 'update_dependency':
      if (head === 'lineId') return 'dependency_id';
      return head === 'change' ? worded(more, LINE_WORDS) : '';
    case 'build_constellation':
      return head === 'constellation' ? pathInConfig(more, edit.constellation) : '';
  }
}

const ITEM = /^(?<list>tasks|lines)\[(?<index>\d+)\]\.?(?<more>.*)$/u;

function pathInConfig(path: string, { tasks }: TaskConstellation): string {
  const { list, index = '', more = '' } = ITEM.exec(path)?.groups ?? {};
  if (list === undefined) return path === '' ? 'config' : `config.${path}`;
  const within = list === 'tasks' ? taskPath(more, tasks[Number(index)]?.target) : worded(more, LINE_WORDS);
  const item = `config.${list === 'tasks' ? 'tasks' : 'dependencies'}[${index}]`;
  return within === '' ? item : `${item}.${within}`;
}

function taskPath(path: string, target: Target | undefined): string {
  if (path === 'target' && target !== undefined && 'device' in target) return 'target_device_id';
  return worded(path, TASK_WORDS);
}

function worded(path: string, words: Readonly<Record<string, string>>): string {
  const [head = '', ...rest] = path.split('.');
  return words[path] ?? [words[head] ?? head, ...rest].join('.');
}
