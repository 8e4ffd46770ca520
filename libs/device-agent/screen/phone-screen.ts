import { imagesOf, type ToolCalled } from '#libs/attempt';
import { fieldsOf, isObject, type CommandCall, type Json, type ScreenPlace } from '#proto';
import { strategyOf, type StrategyCall, type Work } from '../agent/index.js';
import type { AgentReply } from '../effects/index.js';
import { callTool, type ActionPlace, type RoundValues } from '../strategies/index.js';
import { listingText, NOTHING_LISTED, seenListingOf, targetProblem, type SeenListing } from './listing.js';
import { wholeAnswer } from './look.js';
import { drawsMarks, pictureParts, seenPictureOf, shownPlace, textPart } from './seen-picture.js';

export const MOBILE_AGENT = 'MobileAgent';

/** What the agent of a phone keeps from one turn to the next. */
export interface PhoneMemory {
  /** Applications that are installed, as they were told once. */
  applications: string;
  /** The screen as it was listed before this turn. */
  listing: SeenListing;
}

type PhoneValues = RoundValues & Pick<PhoneMemory, 'applications'>;

/** What acts on a control of the listing, and what acts on the screen as a whole. */
const ON_CONTROLS: ReadonlySet<string> = new Set(['click_control', 'type_text']);
const ON_SCREEN: ReadonlySet<string> = new Set(['tap', 'swipe', 'press_key', 'back']);

const LIST_APPLICATIONS: CommandCall = {
  tool: 'get_mobile_app_target_info',
  arguments: { include_system_apps: false },
};
/** Servers of UFO keep a listing for five seconds, and would give one from before something came up by itself. */
const LIST_CONTROLS: CommandCall = {
  tool: 'get_app_window_controls_target_info',
  arguments: { force_refresh: true },
};

/** Looks at the phone before a turn: its picture where the model sees, its applications once, its controls. */
export const lookAtPhone = <R extends AgentReply>(sees: boolean) =>
  strategyOf<PhoneValues & RoundValues<R>, PhoneMemory>()({
    name: 'look-at-phone',
    dependsOn: [],
    provides: ['observation', 'applications'],
    *execute({ context }) {
      const picture = { tool: 'capture_screenshot', arguments: {} };
      const marks = sees && drawsMarks(context.task, picture.tool);
      const clean = sees && !marks ? yield* callTool(picture) : null;
      const applications =
        context.get('applications') ?? applicationsIn(yield* answerOf(yield* callTool(LIST_APPLICATIONS)));
      const listed = yield* callTool(LIST_CONTROLS);
      const taken = marks ? yield* callTool({ ...picture, arguments: { annotated: true } }) : clean;
      const shown = taken === null ? undefined : seenPictureOf(taken.ended, undefined);
      const said = yield* answerOf(listed);
      const listing = isDone(listed) ? seenListingOf(said, `${listed.step}.${listed.index}`) : NOTHING_LISTED;
      context.set('listing', { ...listing, ...(shown && { picture: shown }) });
      // Of a picture that could not be taken nothing is said: the listing is there.
      const images = taken === null ? [] : imagesOf(taken.ended);
      const observation = [
        ...pictureParts('The screen as it is now:', images.slice(0, 1)),
        ...pictureParts('The same with the ids of its controls:', images.slice(1, 2)),
        textPart(applications),
        textPart(controlsIn(said)),
      ];
      return { observation, applications };
    },
    fallback: () => ({ observation: [], applications: 'Applications that are installed: nothing is known of them.' }),
  });

/** Where a call acts, as its agent has seen it: what is not on the screen any more is not sent. */
export function placedOnPhone({ context }: StrategyCall<PhoneMemory>, command: CommandCall): ActionPlace {
  const listing = context.get('listing') ?? NOTHING_LISTED;
  const before = listingText(listing);
  if (ON_CONTROLS.has(command.tool)) return onControl(command, listing);
  // Where nothing could be listed, such as a film, going back is the way out.
  if (!ON_SCREEN.has(command.tool) || listing.snapshot === '') return { command, before };
  return { command: { ...command, on: placeOf(listing) }, before };
}

function onControl(command: CommandCall, listing: SeenListing): ActionPlace {
  const { control_id: id, control_name: name } = command.arguments;
  if (typeof id !== 'string') return { command };
  const problem = targetProblem(listing, id, typeof name === 'string' ? name : undefined);
  if (problem !== null) return { problem: `${command.tool} was not done: ${problem}` };
  const target = listing.targets.find((one) => one.id === id);
  const control = { id, type: target?.type ?? '', name: target?.name ?? '' };
  return {
    command: { ...command, on: { ...placeOf(listing), control } },
    shows: shownPlace(listing.picture, target?.rect),
    before: listingText(listing),
  };
}

const placeOf = ({ place, snapshot }: SeenListing): ScreenPlace => ({
  agent: MOBILE_AGENT,
  application: (place?.application ?? '').slice(0, 256),
  window: (place?.window ?? '').slice(0, 1_024),
  snapshot,
});

const isDone = ({ ended }: ToolCalled): boolean => ended.kind === 'finished' && ended.state === 'COMPLETED';

/** What a look gave, or the words for why it gave nothing. */
function* answerOf(called: ToolCalled): Work<Json> {
  const { ended } = called;
  if (isDone(called)) return yield* wholeAnswer(called);
  return `Nothing was seen: ${ended.message ?? 'no reason was given'}`;
}

/** Ours says `{result, ...}`; foreign servers give the list alone, and null when it is empty. */
const listIn = (said: Json): readonly Json[] | null => {
  const list = isObject(said) ? (said['result'] ?? null) : (said ?? []);
  return Array.isArray(list) ? list : null;
};

function applicationsIn(said: Json): string {
  const names = listIn(said)?.map((one) => {
    const { name, listed } = fieldsOf(one);
    return `${JSON.stringify(name ?? null)}${listed === true ? ' (meant for you)' : ''}`;
  });
  return names === undefined
    ? `Applications that are installed: ${wordsOf(said)}`
    : `Applications that are installed, ${names.length}:\n${names.join('\n')}`;
}

function controlsIn(said: Json): string {
  const controls = listIn(said);
  if (controls === null) return `The screen now: ${wordsOf(said)}`;
  const { window, more } = fieldsOf(said);
  const { application } = fieldsOf(window);
  const lines = controls.map((one) => {
    const { id, name, type, rect, state, value } = fieldsOf(one);
    const states = Array.isArray(state) && state.length > 0 ? { state } : {};
    return JSON.stringify({ id, name, type, rect, ...states, ...(value === undefined ? {} : { value }) });
  });
  return [
    `The screen now${typeof application === 'string' ? `, of the application ${JSON.stringify(application)}` : ''}; its controls, ${lines.length}:`,
    ...lines,
    ...(typeof more === 'number' && more > 0 ? [`(${more} more are left out; swipe, and they come nearer)`] : []),
  ].join('\n');
}

const wordsOf = (said: Json): string => (typeof said === 'string' ? said : JSON.stringify(said));
