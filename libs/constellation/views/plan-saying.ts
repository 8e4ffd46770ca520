import type { Edit, EditId, PlanCommit, PlanEvent, PlannerState } from '#proto';

/** What the planner said in one try of a round: in PLANS only, and read when a report is written. */
export interface PlanSaying {
  readonly editId: EditId;
  readonly try: number;
  /** `model`, `rule`, or the name of a runbook; null for what nobody has said anything about. */
  readonly by: string | null;
  readonly observation: string;
  readonly thought: string;
  /** The reply to the requester, with FINISH and FAIL. */
  readonly answer: string;
  /** Null: there was no proposal. */
  readonly proposed: { readonly state: PlannerState; readonly edits: readonly Edit[] } | null;
  /** Why it came to no proposal. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** What commits of PLANS say, a try after the other; the replies of models themselves are left out. */
export function planSayingsOf(commits: readonly PlanCommit[]): PlanSaying[] {
  const sayings = new Map<string, PlanSaying>();
  for (const { events } of commits) {
    for (const event of events) {
      const part = partOf(event);
      if (part === undefined) continue;
      const key = keyOfTry(part);
      sayings.set(key, { ...NOTHING, ...sayings.get(key), ...part });
    }
  }
  return [...sayings.values()];
}

export function keyOfTry({ editId, try: number }: Pick<PlanSaying, 'editId' | 'try'>): string {
  return `${editId} try ${number}`;
}

const NOTHING = { by: null, observation: '', thought: '', answer: '', proposed: null, error: null };

type Part = Partial<PlanSaying> & Pick<PlanSaying, 'editId' | 'try'>;

function partOf(event: PlanEvent): Part | undefined {
  switch (event.type) {
    case 'ROUND_PLANNED': {
      const { editId, try: number, source, runbook } = event.data;
      return { editId, try: number, by: runbook?.name ?? source };
    }
    case 'PLAN_PROPOSED': {
      const { editId, try: number, state, edits, trace = {}, answer } = event.data.proposal;
      if (editId === null) return undefined;
      const { observation = '', thought = '', result = '' } = trace;
      return { editId, try: number, observation, thought, answer: answer?.text ?? result, proposed: { state, edits } };
    }
    case 'ROUND_FAILED': {
      const { editId, try: number, error } = event.data;
      return { editId, try: number, error };
    }
    case 'RUN_EVALUATED':
    case 'RUN_SUMMARISED':
      return undefined;
  }
}
