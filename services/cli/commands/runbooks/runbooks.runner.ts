import { foldRun, listOfIds } from '#libs/constellation';
import { query } from '#libs/messaging';
import { runbookOf, secretLookingPaths, wantedValue } from '#libs/planner';
import { parseRunbookFile } from '#libs/prompts';
import {
  RunbookName,
  type Json,
  type RunbookInfo,
  type RunbookParameter,
  type RunId,
  type TaskConstellation,
} from '#proto';
import { stringify } from 'yaml';
import { withBus } from '../../bus/index.js';
import {
  cleanLine,
  cleanText,
  badInput,
  type CliError,
  EXIT,
  type ExitCode,
  renderTable,
  type CliContext,
  tell,
} from '../../terminal/index.js';
import { readRequestFile, sentencesOf, writeWhole } from '../../files/index.js';
import { commitsOf, unknownRun, openOneRun } from '../../sources/index.js';

/** The runbooks that the planner has, and files of it that cannot be used. */
export async function listRunbooks(context: CliContext): Promise<ExitCode> {
  const { runbooks, problems } = await withBus(context, (nc) => query(nc, 'planner', 'runbooks', {}));
  const { terminal, json } = context;
  if (json) return tell(context, { runbooks, problems });
  const columns = [
    { title: 'RUNBOOK', value: ({ name }: RunbookInfo) => name },
    { title: 'PARAMETERS', value: ({ parameters }: RunbookInfo) => parameters.map(parameterWord).join(' ') || '-' },
    { title: 'FROM', value: ({ source }: RunbookInfo) => source },
    { title: 'WHAT IT DOES', value: ({ title }: RunbookInfo) => title },
  ];
  if (runbooks.length > 0) terminal.out(renderTable(runbooks, columns, terminal));
  else terminal.err('There is no runbook.');
  for (const problem of problems) terminal.err(`Not used: ${cleanLine(problem)}`);
  return EXIT.ok;
}

/** `service` when it is needed, `[days]` when it is not. */
const parameterWord = ({ name, required }: RunbookParameter): string => (required ? name : `[${name}]`);

/** A runbook and the plan that it makes now. @throws CliError bad input when a parameter that was given is wrong. */
export async function showRunbook(context: CliContext, name: string, words: readonly string[]): Promise<ExitCode> {
  const parameters = parametersFrom(words);
  const request = { name: runbookName(name), parameters };
  const { runbook, constellation, issues } = await withBus(context, (nc) => query(nc, 'planner', 'runbook', request));
  const { terminal, json } = context;
  if (words.length > 0 && issues.length > 0) {
    throw badInput(`The runbook ${runbook.name} makes no plan of that: ${sentencesOf(issues)}.`, issues);
  }
  if (json) return tell(context, { runbook, constellation, issues });
  terminal.out(cleanText(aboutText(runbook)));
  if (constellation !== null) terminal.out(cleanText(`\nPlan now:\n${planText(constellation)}`));
  else terminal.out(cleanText(`\nNo plan without more: ${sentencesOf(issues)}`));
  return EXIT.ok;
}

/** @throws CliError bad input. */
export function runbookName(name: string): string {
  const parsed = RunbookName.safeParse(name);
  if (parsed.success) return parsed.data;
  throw badInput(`"${cleanLine(name)}" is no name of a runbook: it has lower-case letters, digits and "-".`);
}

/** `key=value` words as parameters. @throws CliError bad input. */
export function parametersFrom(words: readonly string[]): Record<string, Json> {
  const pairs = words.map((word) => {
    const at = word.indexOf('=');
    if (at > 0) return [word.slice(0, at), word.slice(at + 1)] as const;
    throw badInput(`"${cleanLine(word)}" is no parameter; write key=value.`);
  });
  return Object.fromEntries(pairs);
}

function aboutText({ name, title, description, source, hash, parameters, matches }: RunbookInfo): string {
  const lines = [`${name}: ${title}`, description, `${source}, ${hash}`];
  lines.push('', parameters.length === 0 ? 'Parameters: none' : 'Parameters:');
  for (const parameter of parameters) {
    const otherwise =
      parameter.default === undefined ? 'may be left out' : `default ${JSON.stringify(parameter.default)}`;
    const need = parameter.required ? 'required' : otherwise;
    lines.push(`  ${parameter.name}: ${parameter.description} (${wantedValue(parameter)}; ${need})`);
  }
  lines.push('', 'Goals:', `  ${name}${parameters.map((one) => exampleWord(one)).join('')}`);
  for (const match of matches) lines.push(`  ${match}`);
  return lines.join('\n');
}

const exampleWord = ({ name, required }: RunbookParameter): string => (required ? ` ${name}=...` : ` [${name}=...]`);

function planText({ tasks, lines }: TaskConstellation): string {
  const text = tasks.map(({ id, name, target, command }) => {
    const where = 'device' in target ? target.device : `any ${JSON.stringify(target)}`;
    const after = lines.filter(({ to }) => to === id).map(({ from, type }) => `${from} (${type})`);
    const waits = after.length === 0 ? '' : `, after ${afterText(after)}`;
    return `  ${id}: ${name}, ${command?.tool ?? 'an agent'} on ${where}${waits}`;
  });
  return text.join('\n');
}

const AFTER_MAX = 5;

const afterText = (after: readonly string[]): string =>
  after.slice(0, AFTER_MAX).join(', ') + (after.length > AFTER_MAX ? ` and ${after.length - AFTER_MAX} more` : '');

/** Whether a file is a runbook. @throws CliError bad input that names every field that is wrong. */
export async function checkRunbook(context: CliContext, path: string): Promise<ExitCode> {
  const parsed = parseRunbookFile(Buffer.from(await readRequestFile(path)), 'operator');
  const name = path === '-' ? 'standard input' : path;
  if (!parsed.ok) throw badInput(`${name} is no runbook: ${sentencesOf(parsed.issues)}.`, parsed.issues);
  const { info, file } = parsed.runbook;
  const { tasks, dependencies } = file.constellation;
  const counts = { tasks: tasks.length, dependencies: dependencies.length };
  return tell(
    context,
    { valid: true, name: info.name, hash: info.hash, ...counts },
    `${cleanLine(name)} is the runbook ${info.name} (${info.hash})`,
  );
}

export interface SaveRunbookOptions {
  readonly name: string;
  readonly output?: string | undefined;
  /** Somebody has looked at what looks like a secret. */
  readonly allowSecretLooking?: boolean | undefined;
}

/**
 * Writes the constellation of a run that has ended as a runbook. @throws CliError bad input when there is none in it, or when
 * something in it looks like a secret.
 */
export async function saveRunbook(
  context: CliContext,
  runOrFile: string,
  { name, output, allowSecretLooking = false }: SaveRunbookOptions,
): Promise<ExitCode> {
  const wanted = runbookName(name);
  const [runId, records] = await openOneRun(context, runOrFile);
  const run = foldRun(commitsOf(runId, records));
  if (run === undefined) throw unknownRun(runId);
  const saved = runbookOf(run, { name: wanted });
  if (!saved.ok) throw badInput(`Run ${runId} cannot be saved as a runbook: ${saved.message}.`);
  const paths = secretLookingPaths(saved.file);
  if (paths.length > 0 && !allowSecretLooking) throw secretLooking(runId, paths);
  const review =
    paths.length === 0
      ? saved.review
      : [`Something in these looks like a secret; it was saved all the same: ${listOfIds(paths)}.`, ...saved.review];
  const comments = [`A draft, made of run ${runId}. Before it is used:`, ...review.map((one) => `- ${one}`)];
  const head = comments.map((line) => `# ${cleanLine(line)}`).join('\n');
  const text = `${head}\n${stringify(saved.file, { lineWidth: 0 })}`;
  const toFile = output !== undefined && output !== '-';
  if (toFile) await writeWhole(output, text);
  return tell(
    context,
    { runId, name: wanted, file: output ?? null, runbook: saved.file, review },
    toFile ? `draft of the runbook ${wanted} written to ${output}; read its first lines` : text.trimEnd(),
  );
}

/** Where it is, never what it is. */
function secretLooking(runId: RunId, paths: readonly string[]): CliError {
  const sentence =
    `Run ${runId} was not saved: something in ${listOfIds(paths)} looks like a secret. A command names a secret of its device ` +
    'instead, e.g. {"env": {"DB_PASSWORD": {"secret": "db-password"}}}; if it is none, add --allow-secret-looking.';
  return badInput(
    sentence,
    paths.map((path) => ({ path, message: 'looks like a secret; name a secret of the device instead' })),
  );
}
