import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { labelsText, parseWith, QUERIES, sentenceOf, type RunId, type RunStatus } from '#proto';
import { withBus } from '../../bus/index.js';
import { shownAgain } from '../../live/index.js';
import {
  badInput,
  type ExitCode,
  type CliContext,
  type SaidOption,
  spanText,
  tellTable,
  typedLine,
} from '../../terminal/index.js';

export interface RunsWords {
  readonly limit: number;
  readonly status: readonly RunStatus[];
  readonly by?: string;
  readonly device?: string;
  /** Milliseconds before now. */
  readonly since?: number;
  readonly id?: string;
  readonly label?: readonly string[];
  readonly before?: string;
  readonly watch?: boolean;
}

/** Lists the runs that the logging service has projected, newest first. */
export function listRuns(context: CliContext, { watch = false, ...words }: RunsWords): Promise<ExitCode> {
  return shownAgain(context, watch, (shown) => showRuns(shown, words));
}

async function showRuns(context: CliContext, words: RunsWords): Promise<ExitCode> {
  const asked = askedIn(words, context.now());
  const { runs, more } = await withBus(context, (nc) => query(nc, 'logging', 'runs', asked));
  const { isTerminal } = context.terminal;
  const isAll = Object.keys(asked).length === 1;
  const code = tellTable(context, {
    json: { runs, ...(more && { more }) },
    rows: runs,
    nothing: isAll
      ? 'There are no runs yet; a first one: orrery submit fleet-health --wait'
      : 'There is no such run; "orrery runs" lists all of them.',
    columns: [
      { title: 'RUN', value: (run) => run.runId },
      { title: 'STATUS', value: (run) => (isTerminal ? endText(run) : run.status), status: true },
      ...(isTerminal ? [] : [{ title: 'OUTCOME', value: ({ outcome }: Listed) => outcome ?? '-' }]),
      { title: 'TASKS', value: ({ tasks }) => String(tasks), spare: true },
      { title: 'REQUESTED', value: ({ requestedAt }) => requestedAt, time: true },
      { title: 'REQUEST', value: ({ requestId }) => requestId, spare: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'LABELS', value: ({ labels }) => (labels === undefined ? '-' : labelsText(labels)), spare: true },
    ],
  });
  const last = runs.at(-1);
  if (more && last !== undefined && !context.json)
    context.terminal.err(`there are older ones: ${nextPage(context, words, last.runId)}`);
  return code;
}

/** The command line that lists what is older than a run, with all that was said for this page. */
function nextPage(
  context: CliContext,
  { limit, status, since, label = [], by, device, id }: RunsWords,
  before: RunId,
): string {
  const options: SaidOption[] = [
    ['status', status.length === 0 ? undefined : status.join(',').toLowerCase()],
    ...label.map((one) => ['label', one] as const),
    ['by', by],
    ['device', device],
    ['id', id],
    ['since', since === undefined ? undefined : spanText(since)],
    ['limit', limit],
    ['before', before],
  ];
  return typedLine(context, 'runs', { options });
}

type Listed = QueryAnswer<'logging', 'runs'>['runs'][number];

/** In one word what a person looks for: a run that has completed may have failed in part. */
const endText = ({ status, outcome }: Listed): string => (outcome === 'partially_failed' ? outcome : status);

/** Throws CliError with the option that cannot be meant. */
function askedIn({ status, since, ...words }: RunsWords, now: number): QueryRequest<'logging', 'runs'> {
  const asked = {
    ...words,
    ...(status.length > 0 && { status }),
    ...(since !== undefined && { since: new Date(now - since).toISOString() }),
  };
  const parsed = parseWith(QUERIES.logging.runs.request, asked);
  if (parsed.ok) return parsed.value;
  throw badInput(parsed.issues.map((issue) => `--${sentenceOf(issue)}`).join('; '));
}
