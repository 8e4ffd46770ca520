import { figuresCsv } from '#libs/constellation';
import { query } from '#libs/messaging';
import { FiguresRequest, parseWith, sentenceOf, type FiguresAnswer, type RunStatus } from '#proto';
import { withBus } from '../../bus/index.js';
import { badInput, EXIT, printJson, type CliContext, type ExitCode } from '../../terminal/index.js';
import { metricsLines, remarksOf } from './metrics-text.js';

/** Longer than the service takes for as many runs as it adds up, with others before it. */
const ANSWER_MS_MAX = 45_000;

/** When something was, as a person says it. */
export type SaidMoment = { readonly agoMs: number } | { readonly at: string };

export interface MetricsOptions {
  readonly label?: readonly string[];
  readonly since?: SaidMoment;
  readonly until?: SaidMoment;
  readonly requester?: string;
  readonly status?: readonly RunStatus[];
  readonly by?: string;
  readonly csv?: boolean;
}

/** Shows figures over all runs that match. That none does is no failure. */
export async function showMetrics(context: CliContext, { csv = false, ...options }: MetricsOptions): Promise<ExitCode> {
  if (csv && context.json) throw badInput('--csv and --json cannot be said together.');
  const asked = askedIn(options, context.now());
  const answer = await withBus(context, (nc) => query(nc, 'logging', 'metrics', asked, { timeoutMs: ANSWER_MS_MAX }));
  await print(context, answer, csv);
  for (const line of remarksOf(answer)) context.terminal.err(line);
  return EXIT.ok;
}

async function print(context: CliContext, answer: FiguresAnswer, csv: boolean): Promise<void> {
  const { terminal } = context;
  if (context.json) return printJson(context, answer);
  if (csv) return terminal.bytes(Buffer.from(figuresCsv(answer)));
  const lines = metricsLines(answer, terminal);
  if (lines.length > 0) terminal.out(lines.join('\n'));
}

/** Throws CliError with the option that cannot be meant. */
function askedIn({ since, until, ...options }: Omit<MetricsOptions, 'csv'>, now: number): FiguresRequest {
  const instantOf = (moment: SaidMoment): string =>
    'at' in moment ? moment.at : new Date(now - moment.agoMs).toISOString();
  const asked = {
    ...options,
    ...(since !== undefined && { since: instantOf(since) }),
    ...(until !== undefined && { until: instantOf(until) }),
  };
  const parsed = parseWith(FiguresRequest, asked);
  if (parsed.ok) return parsed.value;
  throw badInput(parsed.issues.map((issue) => `--${sentenceOf(issue)}`).join('; '));
}
