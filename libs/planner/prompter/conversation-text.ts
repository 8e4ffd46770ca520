import type { ConversationItem, EditTrigger } from '#proto';
import { clipped, jsonLine, lineTokens, type Telling } from './bounded.js';
import { PLANNER_TOKENS } from './parts.js';

interface Talk {
  readonly conversation?: readonly ConversationItem[] | undefined;
  readonly triggers?: readonly EditTrigger[] | undefined;
}

/** What of an item is shown, less where there is more: what is asked about now keeps all of it as long as it can. */
const CHARS = [
  { now: 20_000, before: 600 },
  { now: 20_000, before: 200 },
  { now: 6_000, before: 100 },
  { now: 2_000, before: 0 },
  { now: 400, before: 0 },
  { now: 60, before: 0 },
] as const;

/**
 * What people have said since the request, what agents asked and were answered, and what the planner said itself, one line of JSON each, the
 * last ones. Nothing where nobody has said anything: the request, the reasons and the plan say the rest.
 */
export function conversationText({ conversation = [], triggers = [] }: Talk, { fence, countTokens }: Telling): string {
  if (!conversation.some(({ kind }) => kind === 'words' || kind === 'answer')) return '';
  const items = conversation.filter(({ kind }) => TOLD.has(kind));
  const asked = new Set(triggers.flatMap((trigger) => (trigger.kind === 'words' ? [trigger.number] : [])));
  const isNow = ({ number }: ConversationItem): boolean => number !== undefined && asked.has(number);
  const requester = conversation.find(({ kind }) => kind === 'goal')?.by;
  for (const chars of CHARS) {
    const shown: string[] = [];
    let left: number = PLANNER_TOKENS.conversation;
    let lacking = asked.size;
    for (const item of items.toReversed()) {
      const charsMax = isNow(item) ? chars.now : chars.before;
      const line = lineOf(item, { charsMax, requester });
      const tokens = line.length > left * CHARS_PER_TOKEN_MAX ? Infinity : lineTokens(line, countTokens);
      if (charsMax === 0 || tokens > left) {
        if (isNow(item)) break;
        continue;
      }
      left -= tokens;
      shown.push(line);
      if (isNow(item)) lacking--;
    }
    if (lacking > 0 && chars !== CHARS.at(-1)) continue;
    const omitted = items.length - shown.length;
    const more = omitted === 0 ? [] : [`[${omitted} more are not shown]`];
    return [fence.around('conversation', shown.toReversed().join('\n')), ...more].join('\n');
  }
  return '';
}

/** What stands elsewhere in the prompt is left out. */
const TOLD: ReadonlySet<ConversationItem['kind']> = new Set(['words', 'question', 'answer', 'plan', 'end', 'reopened']);
const CHARS_PER_TOKEN_MAX = 12;

function lineOf(
  { kind, by, text, at, number, model, editId }: ConversationItem,
  { charsMax, requester }: { readonly charsMax: number; readonly requester: string | undefined },
): string {
  const isWords = kind === 'words';
  return jsonLine({
    ...(number !== undefined && { words: `w${number}` }),
    kind: isWords ? undefined : kind,
    by,
    requester: isWords ? by === requester : undefined,
    model: model === true,
    round: editId,
    at,
    text: clipped(text, charsMax),
  });
}
