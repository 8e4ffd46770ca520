import type {
  Actor,
  Budget,
  Edit,
  EditId,
  EditTrigger,
  EditViolation,
  Instant,
  PlanCommit,
  PlannerState,
  PlanSource,
  RunCommit,
  Target,
} from '#proto';

/** What was planned of a run, round by round, as `orrery plan --json` prints it. Fields may be added, none is taken away. */
interface PlanningStory {
  readonly rounds: readonly PlanRound[];
  /** What was changed without a round: by people, and by assistants in their names. */
  readonly otherEdits: readonly OtherEdit[];
}

/** Why the planner was asked, what it put forward, and what became of that. */
interface PlanRound {
  readonly editId: EditId;
  readonly mode: 'creation' | 'editing';
  readonly triggers: readonly EditTrigger[];
  /** Of the constellation that it was asked about. */
  readonly revision: number;
  /** What the round may use up of the run's budget; null: the run has none. */
  readonly budget: Budget | null;
  readonly openedAt: Instant;
  readonly deadlineAt: Instant;
  /** In the order of their tries. */
  readonly proposals: readonly JudgedProposal[];
  /** Null: it is open still. */
  readonly end: RoundEnd | null;
}

interface JudgedProposal {
  readonly try: number;
  /** Null when the planner's own records are not at hand: an export may be without them, and a program that plans has none. */
  readonly proposedAt: Instant | null;
  /** Null, like the next two, when neither those records nor the run say it: the run does of what it has accepted. */
  readonly source: PlanSource | null;
  readonly state: PlannerState | null;
  readonly edits: readonly Edit[] | null;
  /** Where later edits may run things besides the targets of the plan. */
  readonly spare: readonly Target[];
  /** Null: nobody has judged it yet. */
  readonly fate: ProposalFate | null;
}

type ProposalFate =
  | { readonly kind: 'accepted'; readonly revision: number; readonly at: Instant }
  /** Nothing of it was applied. */
  | {
      readonly kind: 'refused';
      readonly revision: number;
      readonly violations: readonly EditViolation[];
      readonly at: Instant;
    }
  /** The round ended without it. */
  | { readonly kind: 'unused' };

type RoundEnd =
  | { readonly kind: 'accepted'; readonly try: number; readonly revision: number; readonly at: Instant }
  | { readonly kind: 'given_up'; readonly code: string; readonly message: string; readonly at: Instant };

interface OtherEdit {
  readonly revision: number;
  readonly by: Actor | null;
  readonly edits: readonly Edit[];
  readonly at: Instant;
}

/** The rounds of a run out of its own events and those of its planner, in the order in which they were opened. */
export function planningStoryOf(plans: readonly PlanCommit[], commits: readonly RunCommit[]): PlanningStory {
  const events = commits.flatMap((commit) => commit.events);
  const proposed = Map.groupBy(plans.flatMap(proposedIn), ({ editId }) => editId);
  const judged = Map.groupBy(events.flatMap(judgedBy), ({ editId }) => editId);
  const ends = new Map(events.flatMap(endedBy));
  const rounds = events.flatMap((event): PlanRound[] => {
    if (event.type !== 'EDIT_OPENED') return [];
    const { editId, mode, triggers, revision, budget = null, openedAt, deadlineAt } = event.data;
    const end = ends.get(editId) ?? null;
    const proposals = withFates(proposed.get(editId) ?? [], judged.get(editId) ?? [], end !== null);
    return [{ editId, mode, triggers, revision, budget, openedAt, deadlineAt, proposals, end }];
  });
  return { rounds, otherEdits: events.flatMap(otherEditIn) };
}

type RunEvent = RunCommit['events'][number];
type Proposed = Omit<JudgedProposal, 'fate'> & { readonly editId: EditId };
type Said = Pick<JudgedProposal, 'source' | 'state' | 'edits' | 'spare'>;
interface Judged {
  readonly editId: EditId;
  readonly try: number;
  /** What the run itself says of it. */
  readonly said: Said;
  readonly fate: ProposalFate;
}
const NOTHING_SAID: Said = { source: null, state: null, edits: null, spare: [] };

function proposedIn({ at, events }: PlanCommit): Proposed[] {
  return events.flatMap((event): Proposed[] => {
    if (event.type !== 'PLAN_PROPOSED') return [];
    const { proposal, source } = event.data;
    const { editId, try: count, state, edits, spare = [] } = proposal;
    return editId === null ? [] : [{ editId, try: count, proposedAt: at, source, state, edits, spare }];
  });
}

function judgedBy(event: RunEvent): Judged[] {
  if (event.type === 'EDIT_REJECTED') {
    const { editId, try: count, revision, violations, rejectedAt: at } = event.data;
    return [{ editId, try: count, said: NOTHING_SAID, fate: { kind: 'refused', revision, violations, at } }];
  }
  if (event.type !== 'CONSTELLATION_MODIFIED' || event.data.editId === undefined) return [];
  const { editId, try: count = 1, revision, modifiedAt: at } = event.data;
  const { source = null, state = null, edits = null, spare = [] } = event.data;
  const said = { source, state, edits, spare };
  return [{ editId, try: count, said, fate: { kind: 'accepted', revision, at } }];
}

function endedBy(event: RunEvent): [EditId, RoundEnd][] {
  if (event.type === 'EDIT_ABANDONED') {
    const { editId, reason, abandonedAt: at } = event.data;
    return [[editId, { kind: 'given_up', ...reason, at }]];
  }
  if (event.type !== 'CONSTELLATION_MODIFIED' || event.data.editId === undefined) return [];
  const { editId, try: count = 1, revision, modifiedAt: at } = event.data;
  return [[editId, { kind: 'accepted', try: count, revision, at }]];
}

function withFates(proposed: readonly Proposed[], judged: readonly Judged[], isOver: boolean): JudgedProposal[] {
  const puts = new Map(proposed.map((put) => [put.try, put]));
  const judgements = new Map(judged.map((one) => [one.try, one]));
  const tries = [...new Set([...puts.keys(), ...judgements.keys()])].toSorted((one, other) => one - other);
  return tries.map((count) => {
    const put = puts.get(count);
    const judgement = judgements.get(count);
    const { source, state, edits, spare } = put ?? judgement?.said ?? NOTHING_SAID;
    const fate = judgement?.fate ?? (isOver ? ({ kind: 'unused' } as const) : null);
    return { try: count, proposedAt: put?.proposedAt ?? null, source, state, edits, spare, fate };
  });
}

function otherEditIn(event: RunEvent): OtherEdit[] {
  if (event.type !== 'CONSTELLATION_MODIFIED') return [];
  const { editId, edits, revision, proposedBy: by = null, modifiedAt: at } = event.data;
  return editId !== undefined || edits === undefined ? [] : [{ revision, by, edits, at }];
}
