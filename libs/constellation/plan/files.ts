import {
  type FileInput,
  filePatternOf,
  FilePath,
  filesTaken,
  type Issue,
  isPlainPath,
  isWorkspaceTool,
  landsAt,
  matchesGlob,
  meantName,
  type TaskId,
  type TaskStar,
} from '#proto';
import { listOfIds } from '../values/index.js';

type Named = Pick<TaskStar, 'id' | 'files' | 'forEach'>;

/**
 * What is wrong with the files of a task, with paths from `files` on; nothing when they can go along its lines. Names that are said
 * are held to what predecessors leave; what only globs find is told when it is found. `before`: its predecessors by id.
 */
export function checkFiles({ id, files, command, verify }: TaskStar, before: ReadonlyMap<TaskId, Named>): Issue[] {
  const issues: Issue[] = [];
  for (const [path, tool] of [
    ['command.tool', command?.tool],
    ['verify.command.tool', verify?.command?.tool],
  ] as const) {
    if (tool === undefined || !isWorkspaceTool(tool)) continue;
    issues.push({
      path,
      message: `${tool} is no tool of a plan; name the files of the task in files.in and files.out`,
    });
  }
  const inputs = files?.in ?? [];
  for (const [index, input] of inputs.entries()) {
    const wrong = checkInput(id, input, before);
    if (wrong !== undefined) issues.push({ path: `files.in[${index}]${wrong.path}`, message: wrong.message });
  }
  return issues.length > 0 ? issues : clashes(inputs, before);
}

function checkInput(taskId: TaskId, input: FileInput, before: ReadonlyMap<TaskId, Named>): Issue | undefined {
  const { from, file, to } = filesTaken(input);
  const at = (field: string): string => (typeof input === 'string' ? '' : `.${field}`);
  const source = before.get(from);
  if (source === undefined) {
    const message = `"${from}" is not a predecessor of "${taskId}"; its predecessors are ${listOfIds([...before.keys()])}`;
    return { path: at('from'), message };
  }
  const out = source.files?.out ?? [];
  if (out.length === 0) {
    const message = `"${from}" leaves no files; name them there, e.g. files: {"out": ["report.csv"]}, or take its text with inputs`;
    return { path: at('from'), message };
  }
  const said = file === undefined ? undefined : saidPath(file);
  if (said !== undefined && !out.some((pattern) => matchesGlob(said, filePatternOf(pattern).glob))) {
    const meant = meantName(said, out);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return { path: at('file'), message: `"${from}" leaves no "${said}"; it leaves ${out.join(', ')}${hint}` };
  }
  if (to === undefined || to.endsWith('/')) return undefined;
  if (source.forEach !== undefined) {
    const message = `"${from}" runs on several devices, and the files of each land in a directory with its name; end "${to}" with /`;
    return { path: at('to'), message };
  }
  if (said !== undefined || (file === undefined && saidPaths(out).length === out.length && out.length === 1))
    return undefined;
  const message = `"${to}" is the path of one file, and more than one may come; end it with / for a directory, or name one in file`;
  return { path: at('to'), message };
}

/** Two files at one place, or one at the place of a directory of the other, as far as their names are said. */
function clashes(inputs: readonly FileInput[], before: ReadonlyMap<TaskId, Named>): Issue[] {
  const places = new Map<string, { readonly from: TaskId; readonly path: string }>();
  for (const [index, input] of inputs.entries()) {
    const { from, file, to } = filesTaken(input);
    // Where those of several devices land is known when they are chosen.
    if (before.get(from)?.forEach !== undefined) continue;
    const out = saidPaths(before.get(from)?.files?.out ?? []);
    const said = file === undefined ? undefined : saidPath(file);
    const taken = said === undefined ? out.filter((one) => isMeant(one, file)) : [said];
    const path = typeof input === 'string' ? `files.in[${index}]` : `files.in[${index}].to`;
    for (const one of taken) {
      const place = landsAt(one, to);
      if (!FilePath.safeParse(place).success)
        return [{ path, message: `"${one}" of "${from}" would land at "${place}", which is too long, or too deep` }];
      const [other] = [...places].filter(([there]) => isSamePlace(there, place)).map(([, it]) => it);
      if (other !== undefined && (other.from !== from || other.path !== one)) {
        const message = `"${other.path}" of "${other.from}" and "${one}" of "${from}" would both land at "${place}"; give one another place, e.g. {"from": "${from}", "to": "${from}/"}`;
        return [{ path, message }];
      }
      places.set(place, { from, path: one });
    }
  }
  return [];
}

const isMeant = (path: string, file: string | undefined): boolean =>
  file === undefined || matchesGlob(path, filePatternOf(file).glob);

const isSamePlace = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/** The one path that a pattern without wildcards means. */
function saidPath(pattern: string): string | undefined {
  const { glob } = filePatternOf(pattern);
  return isPlainPath(glob) ? glob : undefined;
}

const saidPaths = (patterns: readonly string[]): string[] => patterns.flatMap((pattern) => saidPath(pattern) ?? []);
