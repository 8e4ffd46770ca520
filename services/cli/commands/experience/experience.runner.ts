import { query } from '#libs/messaging';
import type { Experience } from '#proto';
import { withBus, withSignedBus, orderOfPlanner } from '../../bus/index.js';
import { cleanLine, badInput, EXIT, type ExitCode, printJson, type CliContext, tell } from '../../terminal/index.js';
import { experiencesTable, experienceText, parseDemonstrationText } from './experience-text.js';
import { readRequestFile } from '../../files/index.js';
import { runIdFrom } from '../../sources/index.js';

/** A PostgreSQL that says nothing is noticed by the planner before this, which then says so. */
const STORE_MS_MAX = 40_000;

export interface ListWords {
  /** Only what is about this, the most alike first. */
  readonly text?: string | undefined;
  readonly limit: number;
}

/** What the planner has learnt, newest first. */
export async function listExperiences(context: CliContext, { text, limit }: ListWords): Promise<ExitCode> {
  const wanted = text === undefined ? { limit } : { text, limit };
  const answer = await withBus(context, (nc) =>
    query(nc, 'planner', 'experiences', wanted, { timeoutMs: STORE_MS_MAX }),
  );
  const { terminal, json } = context;
  const { enabled, experiences } = answer;
  if (json) printJson(context, answer);
  else if (experiences.length > 0) terminal.out(experiencesTable(experiences, terminal));
  else if (enabled)
    terminal.err(text === undefined ? 'Nothing was learnt yet.' : 'Nothing that was learnt is about that.');
  if (!json && !enabled) terminal.err('The planner uses no examples; start it with ORRERY_EXPERIENCE=on.');
  return EXIT.ok;
}

export interface LearnWords {
  readonly timeoutMs: number;
}

/** Makes an example of a run that went well, or shows the one that is there. */
export function learn(context: CliContext, run: string, { timeoutMs }: LearnWords): Promise<ExitCode> {
  const runId = runIdFrom(run);
  return withSignedBus(context, async (nc) => {
    const body = { runId };
    return print(context, await orderOfPlanner(nc, context, { name: 'learn', body, timeoutMs }));
  });
}

/** Makes an example of what somebody did by hand. @throws CliError bad input that names every field that is wrong. */
export async function demonstrate(
  context: CliContext,
  { file, timeoutMs }: LearnWords & { readonly file: string },
): Promise<ExitCode> {
  const parsed = parseDemonstrationText(await readRequestFile(file));
  if (!parsed.ok) throw badInput(`${file === '-' ? '' : `${file}: `}${parsed.message}`, parsed.issues);
  return withSignedBus(context, async (nc) => {
    const body = { demonstration: parsed.demonstration };
    return print(context, await orderOfPlanner(nc, context, { name: 'demonstrate', body, timeoutMs }));
  });
}

/** Takes examples away; that their runs were made into some stays recorded. */
export function forget(context: CliContext, ids: readonly string[]): Promise<ExitCode> {
  return withSignedBus(context, async (nc) => {
    const changes: { id: string; changed: boolean }[] = [];
    for (const id of new Set(ids)) {
      const order = { name: 'forget', body: { id }, timeoutMs: STORE_MS_MAX } as const;
      const { changed } = await orderOfPlanner(nc, context, order);
      changes.push({ id, changed });
      if (!context.json) {
        context.terminal.out(
          `${cleanLine(id)} ${changed ? 'is forgotten' : 'was not there; see: orrery experience ls'}`,
        );
      }
    }
    return tell(context, { changes });
  });
}

function print(context: CliContext, answer: { readonly experience: Experience }): ExitCode {
  return tell(context, answer, experienceText(answer.experience));
}
