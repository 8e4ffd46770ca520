import { query, searchAccess } from '#libs/messaging';
import { parseWith, SearchRequest, sentenceOf, type FoundState, type SearchAnswer } from '#proto';
import { recordAccess, withBus } from '../../bus/index.js';
import { badInput, EXIT, printJson, type CliContext, type ExitCode } from '../../terminal/index.js';
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
  else show(context, asked, answer);
  return EXIT.ok;
}

function show({ terminal }: CliContext, asked: SearchRequest, answer: SearchAnswer): void {
  for (const command of answer.commands) terminal.out(foundLines(command, terminal).join('\n'));
  const nothing = answer.commands.length === 0 && answer.cut !== true ? nothingText(asked) : [];
  for (const line of [...nothing, ...endText(answer)]) terminal.err(line);
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
