import type {
  Actor,
  ConversationItem,
  PlannerState,
  RecordedRunEvent,
  RunCommit,
  RunEventData,
  Speaking,
} from '#proto';
import { triggersText } from './event-text.js';

/**
 * The conversation of a run as its commits tell it: what was asked and said by whom, what agents asked, what the planner was asked about and
 * answered, and how it ended, each time that it did. In the order of the log, and of some commits what is said in them alone: two parts
 * of a run are two parts of its conversation. Texts are as they came.
 */
export function conversationOf(commits: readonly RunCommit[]): ConversationItem[] {
  return commits.flatMap(({ events, at }) => events.flatMap((event) => itemsOf(event, at)));
}

type Said = Omit<ConversationItem, 'sequence' | 'at'> & Partial<Pick<ConversationItem, 'at'>>;

function itemsOf(event: RecordedRunEvent, at: string): ConversationItem[] {
  return saidIn(event).map((said) => ({ sequence: event.sequence, at, ...said }));
}

function saidIn({ type, data }: RecordedRunEvent): Said[] {
  switch (type) {
    case 'RUN_REQUESTED':
      return [{ kind: 'goal', ...byActor(data.requestedBy), text: data.goal ?? data.constellation?.name ?? '' }];
    case 'RUN_FORKED': {
      const goal = { kind: 'goal', ...byActor(data.requestedBy), text: data.goal ?? data.name } as const;
      return [goal, ...(data.words ?? []).map(words)];
    }
    case 'WORDS_SAID':
      return [words(data)];
    case 'APPROVAL_REQUESTED': {
      const { ask } = data;
      if (ask.kind !== 'question') return [];
      const by = `${ask.agent} on ${ask.deviceId}`;
      return [{ kind: 'question', who: 'agent', by, text: ask.question, model: true, approvalId: ask.approvalId }];
    }
    case 'APPROVAL_DECIDED':
      return data.answer === undefined
        ? []
        : [{ kind: 'answer', ...byActor(data.by), text: data.answer, approvalId: data.approvalId }];
    case 'EDIT_OPENED':
      return [{ kind: 'round', ...SYSTEM, text: triggersText(data.triggers), editId: data.editId }];
    case 'EDIT_ABANDONED': {
      const { reason, editId } = data;
      return [{ kind: 'silence', ...SYSTEM, text: `${reason.code}: ${reason.message}`, editId }];
    }
    case 'CONSTELLATION_MODIFIED':
      return planned(data);
    case 'RUN_COMPLETED':
      return [ended(data.outcome, data.answer)];
    case 'RUN_FAILED':
      return [ended(`${data.reason.code}: ${data.reason.message}`, data.answer)];
    case 'RUN_CANCELLED':
      return [{ kind: 'end', ...byActor(data.by), text: `cancelled: ${data.reason}` }];
    case 'RUN_REOPENED':
      return [{ kind: 'reopened', ...byActor(data.by), text: '' }];
    default:
      return [];
  }
}

const SYSTEM = { who: 'system', by: 'orchestrator' } as const;

const KINDS: Readonly<Record<Actor['kind'], Speaking>> = { person: 'person', external: 'program', system: 'system' };

function byActor({ kind, id }: Actor): Pick<ConversationItem, 'who' | 'by'> {
  return { who: KINDS[kind], by: id };
}

function words({ number, by, text, saidAt, delegated }: RunEventData<'WORDS_SAID'>): Said {
  return { kind: 'words', at: saidAt, ...byActor(by), text, number, ...(delegated && { delegated }) };
}

/** What the planner means by its last word. */
const STATES: Readonly<Record<PlannerState, readonly string[]>> = {
  CONTINUE: [],
  FINISH: ['it is done'],
  FAIL: ['it cannot be done'],
};

/** What the planner answered in a round: its last word with FINISH and FAIL, otherwise what it thought and what it changed. */
function planned({
  editId,
  state = 'CONTINUE',
  answer,
  trace = {},
  proposedBy,
  source,
  revision,
  edits = [],
}: RunEventData<'CONSTELLATION_MODIFIED'>): Said[] {
  if (editId === undefined) return [];
  const own = proposedBy === undefined || proposedBy.kind === 'system';
  const who = own ? ({ who: 'planner', by: proposedBy?.id ?? 'planner' } as const) : byActor(proposedBy);
  const changed =
    edits.length === 0
      ? 'the plan stays as it is'
      : revision === 1
        ? 'this is the plan'
        : `the plan is changed, this is its revision ${revision}`;
  const said = answer?.text ?? [trace.thought, trace.result].filter((text) => text !== undefined).join('\n');
  const text = [[...STATES[state], changed].join(', '), ...(said === '' ? [] : [said])].join(': ');
  return [{ kind: 'plan', ...who, text, editId, ...(source === 'model' && { model: true }) }];
}

function ended(how: string, answer: RunEventData<'RUN_COMPLETED'>['answer']): Said {
  const text = answer === undefined || answer.text === '' ? how : `${how}: ${answer.text}`;
  return { kind: 'end', ...SYSTEM, text, ...(answer?.by === 'model' && { model: true }) };
}

/** `anna`, `LinuxAgent on web-1`, `planner (a model)`: whose words an item is, as people are told. */
export function speakerText({ by, model, delegated }: ConversationItem): string {
  return `${by}${model === true ? ' (a model)' : ''}${delegated === true ? ' (through a program)' : ''}`;
}

/** `w2 anna said`: what an item is, without its text. */
export function itemText(item: ConversationItem): string {
  return `${speakerText(item)} ${DONE[item.kind]}${item.number === undefined ? '' : ` (${item.number})`}${item.editId === undefined ? '' : ` (${item.editId})`}`;
}

const DONE: Readonly<Record<ConversationItem['kind'], string>> = {
  goal: 'asked for',
  words: 'said',
  question: 'asks',
  answer: 'answered',
  round: 'asks the planner about',
  plan: 'answered',
  silence: 'has no answer',
  end: 'ended it',
  reopened: 'took the end back',
};

/** Something was said besides what was asked and what came of it. */
export function isTalk(items: readonly ConversationItem[]): boolean {
  return items.some(({ kind }) => kind !== 'goal' && kind !== 'end');
}
