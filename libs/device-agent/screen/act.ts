import { actsOnPage, fieldsOf, type Json, type ToolInfo } from '#proto';
import { failed, type StrategyCall, type Work } from '../agent/index.js';
import { isFailing, outcomeText } from '../memory/index.js';
import { askPerson, callTool, isOwnTool, type Done, ownCall } from '../strategies/index.js';
import type { ShownPlace } from '../effects/index.js';
import { listingText, NOTHING_LISTED, seenListingOf, type SeenListing } from './listing.js';
import { placeOnScreen } from './page-place.js';
import { pictureForPeople, wholeAnswer } from './look.js';
import { shownPlace } from './seen-picture.js';
import { placedCall, type SeenPlace } from './place-call.js';
import type { Screen } from './screen.js';

type At = StrategyCall<Screen>;

/** One call that a model wants made. */
export interface WantedCall {
  readonly function: string;
  readonly arguments: Readonly<Record<string, Json>>;
  /** A person is to confirm it first. */
  readonly confirm: boolean;
}

/** What came of one call. */
export interface ScreenAct extends Omit<Done, 'status'> {
  readonly succeeded: boolean;
  /** The agent gives up: it was repeated in vain. */
  readonly hopeless: boolean;
  /** What the tool answered. */
  readonly value: Json;
}

const NOTHING_DONE: Omit<ScreenAct, 'succeeded'> = {
  calls: [],
  answers: [],
  reads: [],
  problems: [],
  hopeless: false,
  value: null,
};

/** Makes one call where its agent has looked. What is refused, stale or goes wrong is told to the model; repeated in vain, it ends the work. */
export function* act(at: At, wanted: WantedCall, seen: SeenPlace, tools: readonly ToolInfo[]): Work<ScreenAct> {
  const { agent } = at;
  const plan = placedCall(wanted, placeOf(at, wanted, seen), tools);
  const command = plan.ok ? plan.command : { tool: wanted.function, arguments: { ...wanted.arguments } };
  const hopeless = agent.repeats.hopeless(command);
  if (hopeless !== null) {
    agent.fail(failed(`gave up: ${command.tool} was called ${hopeless} times with the same outcome`));
    return { ...NOTHING_DONE, succeeded: false, hopeless: true };
  }
  if (!plan.ok) {
    const told = agent.repeats.note(command, plan.problem, true);
    return { ...NOTHING_DONE, problems: [plan.problem, ...told], succeeded: false };
  }
  if (isOwnTool(command.tool)) {
    const { succeeded, ...own } = yield* ownCall(at, command);
    return { ...NOTHING_DONE, ...own, succeeded };
  }
  const shows = yield* shownToPeople(at, wanted, seen.listing);
  const called = yield* callTool(command, { confirm: wanted.confirm, shows });
  const { index, command: ran, ended } = called;
  const failing = isFailing(ended);
  if (command.tool === 'read_page' && !failing)
    at.context.set('page', seenListingOf(yield* wholeAnswer(called), `${called.step}.${index}`));
  // The same answer before another screen is another outcome: scrolling and tabbing are done many times.
  const screen = failing ? '' : listingText(seen.listing);
  const told = agent.repeats.note(command, outcomeText(ended) + screen, failing);
  const value = ended.kind === 'finished' ? (ended.result?.value ?? null) : null;
  return { ...NOTHING_DONE, calls: [{ index, command: ran, ended }], problems: told, succeeded: !failing, value };
}

/** What acts on a page acts where that was read, and in nothing that was listed since. */
function placeOf({ context }: At, wanted: WantedCall, seen: SeenPlace): SeenPlace {
  if (!actsOnPage(wanted.function)) return seen;
  const listing = context.get('page') ?? NOTHING_LISTED;
  return { ...seen, chosen: listing.place ?? seen.chosen, listing };
}

/** The control as this look has shown it. An agent that wants a person to confirm what it does takes a picture for that, if it has none. */
function* shownToPeople(
  at: At,
  { function: tool, arguments: { id }, confirm }: WantedCall,
  listing: SeenListing,
): Work<ShownPlace | undefined> {
  const target = actsOnPage(tool)
    ? placeOnScreen(at.context.get('page') ?? NOTHING_LISTED, id, listing)
    : listing.targets.find((one) => one.id === id);
  if (target?.rect === undefined) return undefined;
  const picture = listing.picture ?? (confirm ? yield* pictureForPeople(at, listing) : undefined);
  return shownPlace(picture, target.rect);
}

/** Whether the tool says that another window has come to the front since. */
export const saysChanged = (value: Json): boolean => fieldsOf(value)['changed'] === true;

/** Why what is left of a sequence is not done: the target is not there any more as it was chosen. */
export function changedProblem(before: SeenListing, now: SeenListing, wanted: WantedCall): string | null {
  const { id } = wanted.arguments;
  if (before.place?.window !== now.place?.window) return 'WINDOW_CHANGED: another window is in front.';
  // Of a page the device itself compares what was read.
  if (typeof id !== 'string' || id === '' || actsOnPage(wanted.function)) return null;
  const [then, here] = [before, now].map(({ targets }) => targets.find((target) => target.id === id));
  if (then === undefined || (here?.name === then.name && here.type === then.type)) return null;
  return `WINDOW_CHANGED: the id ${JSON.stringify(id)} is of something else now.`;
}

/** Asks a person, one question after the other. */
export function* askAll(questions: readonly string[]): Work<Done['answers']> {
  const answers: Done['answers'][number][] = [];
  for (const question of questions) {
    const { text, note } = yield* askPerson(question);
    answers.push({ question, text, note });
  }
  return answers;
}
