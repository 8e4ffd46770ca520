// What ran because its plan was approved before: whose words those were, and whether they counted by then. That the plan was that one is
// found out where the run is folded. Whether who approved for himself was alone. And whose words ran as they stand: what is recorded as of an
// operator was of somebody who was one by then.
import { checkKeptProof } from '#libs/keys';
import { subjects, type Actor, type Instant, type RecordedRunEvent, type RunCommit } from '#proto';
import { approversAt, type KnownActors, stood, whoSpoke, whyNotRole } from './known-keys.js';
import { isSelfApproved, standingOf } from './signed-facts.js';

const SUBJECT = subjects.query('registry', 'content-approve');

/** What is wrong with the words that an event names; nothing when it names none. */
export function standingFaults(event: RecordedRunEvent, actors: KnownActors | undefined): string[] {
  const named = standingOf(event);
  if (named === undefined || actors === undefined) return [];
  const { standing, words, at } = named;
  const { contentHash, ids } = standing;
  const where = `event ${event.sequence}, ${event.type}`;
  if (ids.length !== words.length)
    return [`${where}: it names ${ids.length} standing approvals of ${words.length} persons`];
  return ids.flatMap((approvalId, index) => {
    const by = words[index];
    if (by === undefined) return [];
    const word = stood(actors, { by, approvalId, contentHash, at });
    if ('problem' in word) return [`${where}: ${word.problem}`];
    const problem = unproven(word, { approvalId, contentHash, id: by.id }, actors);
    return problem === undefined ? [] : [`${where}: the standing approval ${approvalId} of ${by.id} ${problem}`];
  });
}

/** What is wrong with a word for one's own: it counts while nobody else could say it. */
export function selfApprovalFaults(event: RecordedRunEvent, at: Instant, actors: KnownActors | undefined): string[] {
  if (actors === undefined || !isSelfApproved(event)) return [];
  const approvers = approversAt(actors, at);
  if (approvers.length < 2) return [];
  const who = approvers.toSorted().join(', ');
  return [
    `event ${event.sequence}, ${event.type}: marked as of the only approver, and there were ${approvers.length}: ${who}`,
  ];
}

/** What is wrong with commands that nobody judged: the mark was left out for somebody who was no operator when he spoke. */
export function unjudgedFaults({ at, causes, events }: RunCommit, actors: KnownActors | undefined): string[] {
  if (actors === undefined) return [];
  const vouched = causes.flatMap(({ proof }) => proof?.vouched ?? []);
  return events.flatMap((event) => {
    const by = believed(event);
    if (by === undefined) return [];
    const login = vouched.find(({ actor }) => actor === by.id);
    const why = whyNotRole(actors, { id: by.id, role: 'operator', at, vouched: login });
    return why === undefined
      ? []
      : [`event ${event.sequence}, ${event.type}: what ${by.id} wrote is not judged, and ${why}`];
  });
}

/** Who was taken for an operator; undefined where nobody was. What the planner proposes is judged by what it comes from. */
function believed({ type, data }: RecordedRunEvent): Actor | undefined {
  if (type === 'RUN_REQUESTED') return data.judgeCommands === true ? undefined : data.requestedBy;
  if (type !== 'CONSTELLATION_MODIFIED' || data.source !== undefined || data.judgeCommands === true) return undefined;
  return data.edits === undefined ? undefined : data.proposedBy;
}

type Word = Exclude<ReturnType<typeof stood>, { readonly problem: string }>;

function unproven(
  { proof, from }: Word,
  said: { readonly approvalId: string; readonly contentHash: string; readonly id: string },
  actors: KnownActors,
): string | undefined {
  if (proof === undefined) return 'was signed by nobody';
  if (proof.subject !== SUBJECT) return `was signed for ${proof.subject}`;
  if (checkKeptProof(proof) !== 'good') return 'has a signature that does not fit what was signed and the key';
  if (proof.body?.['id'] !== said.approvalId || proof.body['contentHash'] !== said.contentHash) {
    return 'was signed for something else';
  }
  const spoke = whoSpoke(actors, { ...proof, at: from });
  if ('problem' in spoke) return `is not proven: ${spoke.problem}`;
  return spoke.actor.id === said.id ? undefined : `was signed by ${spoke.actor.id}`;
}
