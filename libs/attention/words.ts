import {
  instantOf,
  LIMITS,
  sameJson,
  unknownFact,
  type Actor,
  type AttentionAbout,
  type AttentionCommit,
  type AttentionEvent,
  type AttentionWord,
  type KeptProof,
} from '#proto';

/** What people have said to one entry. */
export interface Words {
  readonly about: AttentionAbout;
  /** The last word. */
  readonly word: AttentionWord;
  readonly facts: number;
  /** By the id of the command, what it came to and what was signed. */
  readonly answered: ReadonlyMap<string, { readonly word: AttentionWord; readonly proof: KeptProof | undefined }>;
}

/** Folds a stored commit; total over AttentionEvent. */
export function evolveWords(
  before: Words | undefined,
  { attentionId, events, causes }: AttentionCommit,
): Words | undefined {
  const after = events.reduce<Words | undefined>((words, { type, data }) => {
    const event = { type, data } as AttentionEvent;
    const { about, by, at } = event.data;
    const word = { attentionId, ...stateOf(event), by, at, changed: true, ...fromOf(words, event) };
    return { about, word, facts: (words?.facts ?? 0) + 1, answered: words?.answered ?? new Map() };
  }, before);
  if (after === undefined) return undefined;
  const answers = causes.map(({ id, proof }) => [id, { word: after.word, proof }] as const);
  return { ...after, answered: new Map([...after.answered, ...answers]) };
}

function stateOf(event: AttentionEvent): Pick<AttentionWord, 'state'> {
  switch (event.type) {
    case 'ATTENTION_TAKEN':
      return { state: 'taken' };
    case 'ATTENTION_SETTLED':
      return { state: 'settled' };
    default:
      return unknownFact(event);
  }
}

function fromOf(words: Words | undefined, { type, data }: AttentionEvent): Pick<AttentionWord, 'from'> {
  const holder = words?.word.state === 'taken' ? words.word.by : undefined;
  return type === 'ATTENTION_TAKEN' && holder !== undefined && !sameJson(holder, data.by) ? { from: holder } : {};
}

/** What somebody orders about an entry. */
export type WordOrder = { readonly kind: 'take' } | { readonly kind: 'settle'; readonly reason: string };

/** Who orders it, proven, under which id, and when, in milliseconds since the epoch. */
export interface OrderedWord {
  readonly id: string;
  readonly by: Actor;
  readonly proof: KeptProof;
  readonly now: number;
}

export type WordDecision =
  | { readonly kind: 'accepted'; readonly events: readonly AttentionEvent[] }
  /** It was decided before: as this command, or because it is settled. */
  | { readonly kind: 'answered'; readonly word: AttentionWord }
  | { readonly kind: 'rejected'; readonly reason: WordRefusal };

/** `GONE`: nothing of it needs anybody, it ended by itself or never was. */
export type WordRefusal = 'GONE' | 'ID_USED' | 'SETTLED' | 'TOO_MANY';

/** What was said and is decided before anybody looks whether the entry is there; undefined when that has to be known. */
export function decideBefore(
  words: Words | undefined,
  order: WordOrder,
  { id, proof }: OrderedWord,
): WordDecision | undefined {
  if (words === undefined) return undefined;
  const answered = words.answered.get(id);
  if (answered !== undefined) {
    const isSame =
      sameJson(answered.proof?.body ?? null, proof.body ?? null) && answered.proof?.subject === proof.subject;
    return isSame ? { kind: 'answered', word: answered.word } : { kind: 'rejected', reason: 'ID_USED' };
  }
  const { word, facts } = words;
  if (word.state === 'settled') {
    if (order.kind === 'take') return { kind: 'rejected', reason: 'SETTLED' };
    return { kind: 'answered', word: { ...word, changed: false } };
  }
  return facts >= LIMITS.attentionFactsMax && order.kind === 'take'
    ? { kind: 'rejected', reason: 'TOO_MANY' }
    : undefined;
}

/** What follows from an order that nothing was decided of before. `about`: the entry, undefined when it is not there. */
export function decideWord(
  about: AttentionAbout | undefined,
  order: WordOrder,
  { by, now }: OrderedWord,
): WordDecision {
  if (about === undefined) return { kind: 'rejected', reason: 'GONE' };
  const said = { about, by, at: instantOf(now) };
  const event: AttentionEvent =
    order.kind === 'take'
      ? { type: 'ATTENTION_TAKEN', data: said }
      : { type: 'ATTENTION_SETTLED', data: { ...said, reason: order.reason } };
  return { kind: 'accepted', events: [event] };
}
