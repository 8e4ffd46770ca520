import { query, searchAccess } from '#libs/messaging';
import { parseWith, SearchRequest, sentenceOf, type FoundState, type SearchAnswer } from '#proto';
import { recordAccess, withBus } from '../../bus/index.js';
import {
  badInput,
  EXIT,
  printJson,
  spanText,
  typedLine,
  type CliContext,
  type ExitCode,
  type SaidOption,
} from '../../terminal/index.js';
import { endText, foundLines, nothingText } from './search-text.js';
import { searchedWords } from './searched-words.js';

/** Longer than the service looks for at the most, with others before it. */
const ANSWER_MS_MAX = 8_000;

export interface SearchOptions extends Omit<SearchRequest, 'words' | 'since' | 'until' | 'exit' | 'state'> {
  readonly exit?: number[];
  readonly state?: FoundState[];
  /** Milliseconds before now. */
  readonly since?: number;
  readonly until?: number;
}

/** Shows commands of all runs, newest first. What is looked for is recorded first: what is shown are outputs. */
export async function search(context: CliContext, words: readonly string[], options: SearchOptions): Promise<ExitCode> {
  const asked = askedIn(words, options, context.now());
  const answer = await withBus(context, async (nc) => {
    await recordAccess(nc, searchAccess(asked));
    return query(nc, 'logging', 'search', asked, { timeoutMs: ANSWER_MS_MAX });
  });
  if (context.json) printJson(context, answer);
  else show(context, answer, { asked, nextPage: (before) => nextPage(context, words, { ...options, before }) });
  return EXIT.ok;
}

interface Asked {
  readonly asked: SearchRequest;
  /** The command line that shows what is older than that place. */
  readonly nextPage: (before: string) => string;
}

function show({ terminal }: CliContext, answer: SearchAnswer, { asked, nextPage: page }: Asked): void {
  for (const command of answer.commands) terminal.out(foundLines(command, terminal).join('\n'));
  const nothing = answer.commands.length === 0 && answer.cut !== true ? nothingText(asked) : [];
  for (const line of [...nothing, ...endText(answer, page)]) terminal.err(line);
}

function nextPage(context: CliContext, words: readonly string[], { since, until, ...said }: SearchOptions): string {
  const { device, by, exit = [], rule, state = [], run, task, limit, before } = said;
  const options: SaidOption[] = [
    ['device', device],
    ['by', by],
    ['exit', exit.length === 0 ? undefined : exit.join(',')],
    ['rule', rule],
    ['state', state.length === 0 ? undefined : state.join(',').toLowerCase()],
    ['run', run],
    ['task', task],
    ['since', since === undefined ? undefined : spanText(since)],
    ['until', until === undefined ? undefined : spanText(until)],
    ['limit', limit],
    ['before', before],
  ];
  return typedLine(context, 'search', { options, words });
}

/** Throws CliError with the option that cannot be meant. */
function askedIn(
  words: readonly string[],
  { exit, state, since, until, ...options }: SearchOptions,
  now: number,
): SearchRequest {
  const before = (ms: number): string => new Date(now - ms).toISOString();
  const asked = {
    ...options,
    ...(words.length > 0 && { words: searchedWords(words) }),
    ...(exit !== undefined && { exit }),
    ...(state !== undefined && { state }),
    ...(since !== undefined && { since: before(since) }),
    ...(until !== undefined && { until: before(until) }),
  };
  const parsed = parseWith(SearchRequest, asked);
  if (parsed.ok) return parsed.value;
  const problems = parsed.issues.map((issue) =>
    issue.path === 'words' ? sentenceOf(issue) : `--${sentenceOf(issue)}`,
  );
  throw badInput(problems.join('; '));
}
