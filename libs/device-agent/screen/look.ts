import { imagesOf, type ToolCalled } from '#libs/attempt';
import { fieldsOf, type CommandCall, type ContentPart, type Json } from '#proto';
import { AgentFailure, failed, strategyOf, type Strategy, type StrategyCall, type Work } from '../agent/index.js';
import type { AgentReply } from '../effects/index.js';
import { outcomeText } from '../memory/index.js';
import { callTool, readOutput } from '../strategies/index.js';
import { seenListingOf, listingText, NOTHING_LISTED, type SeenListing } from './listing.js';
import { screenPlaceOf, type SeenPlace } from './place-call.js';
import { drawsMarks, pictureParts, rectIn, seenPictureOf, textPart, type SeenPicture } from './seen-picture.js';
import { APP_AGENT, failureText, HOST_AGENT, type Screen, type ScreenValues, answeredValue } from './screen.js';

const OF_FILES =
  'It is a dialog for files. Files of this run are set as a whole path below its runDirectory, with clear_current_text; for other places a person is asked.';
const FIELDS = ['control_text', 'control_type', 'control_rect', 'source'];
/** An answer that is too long for the log is read in pieces of so many lines. */
const PIECE_LINES = 2_000;
const PIECES_MAX = 12;

type At = StrategyCall<Screen>;

/** Looks at the desktop and lists its windows; also what became of the subtasks that were given away. */
export function lookAtDesktop<R extends AgentReply>(sees: boolean): Strategy<ScreenValues<R>, Screen> {
  return strategyOf<ScreenValues<R>, Screen>()({
    name: 'look-at-desktop',
    dependsOn: [],
    provides: ['observation', 'listing', 'picture'],
    *execute(at) {
      const seen = { agent: HOST_AGENT, chosen: at.context.get('chosen'), listing: NOTHING_LISTED };
      const taken = sees
        ? yield* look(at, seen, { tool: 'capture_desktop_screenshot', arguments: { all_screens: true } })
        : null;
      const picture = taken === null ? [] : imagesOf(taken.ended);
      const asked = { remove_empty: true, refresh_app_windows: true };
      const listing = yield* list(at, seen, { tool: 'get_desktop_app_target_info', arguments: asked });
      const ends = at.context.subtasks.map((end) => JSON.stringify(end));
      return {
        listing,
        picture,
        observation: [
          ...trouble(at),
          ...kept(at),
          ...pictureParts('The desktop as it is now:', picture),
          textPart(`Windows that can be chosen:\n${listingText(listing)}`),
          ...(ends.length === 0 ? [] : [textPart(`Subtasks so far, and what became of them:\n${ends.join('\n')}`)]),
        ],
      };
    },
  });
}

/** Looks at the window that was chosen and lists its controls. */
export function lookAtWindow<R extends AgentReply>(sees: boolean): Strategy<ScreenValues<R>, Screen> {
  return strategyOf<ScreenValues<R>, Screen>()({
    name: 'look-at-window',
    dependsOn: [],
    provides: ['observation', 'listing', 'picture'],
    *execute(at) {
      const { context } = at;
      const before = context.get('before') ?? [];
      const marks = sees && drawsMarks(context.task, 'capture_window_screenshot');
      const clean = sees && !marks ? yield* windowPictures(at, {}) : null;
      const info = yield* look(at, placed(at), { tool: 'get_app_window_info', arguments: { field_list: FIELDS } });
      const listed = yield* listControls(at);
      const called = marks ? yield* windowPictures(at, { annotated: true }, listed) : clean;
      const both = called === null ? [] : imagesOf(called.ended);
      const picture = both.slice(0, 1);
      const listing = withPicture(listed, called, info);
      context.set('before', picture);
      const { tips = [] } = context.get('assigned') ?? {};
      return {
        listing,
        picture,
        observation: [
          ...trouble(at),
          ...kept(at),
          ...pictureParts('The window when you decided last:', before),
          ...pictureParts('The window as it is now:', picture),
          ...pictureParts('The same with the ids of its controls:', both.slice(1, 2)),
          textPart(`The window that you work in:\n${JSON.stringify(context.get('chosen') ?? {})}`),
          ...(context.get('chosen')?.runDirectory === undefined ? [] : [textPart(OF_FILES)]),
          textPart(`Its controls:\n${listingText(listing)}`),
          ...(tips.length === 0 ? [] : [textPart(`Tips of the HostAgent:\n${tips.join('\n')}`)]),
        ],
      };
    },
  });
}

/** Lists the controls of the window that was chosen; a dialog of the same program that is in front of it is followed. */
export function* listControls(at: At): Work<SeenListing> {
  const { context } = at;
  const listing = yield* list(at, placed(at), {
    tool: 'get_app_window_controls_target_info',
    arguments: { field_list: FIELDS },
  });
  const { place } = listing;
  if (place !== undefined && place.application === context.get('chosen')?.application) context.set('chosen', place);
  return listing;
}

const placed = ({ context }: At): SeenPlace => ({
  agent: APP_AGENT,
  chosen: context.get('chosen'),
  listing: NOTHING_LISTED,
});

/** A picture of the window for people, where its agent is shown none: of a device that says where it was taken. */
export function* pictureForPeople(at: At, listing: SeenListing): Work<SeenPicture | undefined> {
  const { tools } = at.context.task.device;
  if (!tools.some(({ name }) => name === 'capture_window_screenshot')) return undefined;
  const called = yield* windowPictures(at, {}, listing);
  return called === null ? undefined : seenPictureOf(called.ended, listing.frame);
}

const windowPictures = (at: At, asked: Record<string, Json>, listing = NOTHING_LISTED): Work<ToolCalled | null> =>
  look(at, { ...placed(at), listing }, { tool: 'capture_window_screenshot', arguments: asked });

/** A picture that is not there is no reason to stop: what is listed says the same in words. */
function withPicture(listing: SeenListing, taken: ToolCalled | null, info: ToolCalled | null): SeenListing {
  const frame = info === null ? undefined : rectIn(fieldsOf(answeredValue(info.ended))['control_rect']);
  const picture = taken === null ? undefined : seenPictureOf(taken.ended, frame);
  return { ...listing, ...(frame && { frame }), ...(picture && { picture }) };
}

function* list(at: At, seen: SeenPlace, call: CommandCall): Work<SeenListing> {
  const called = yield* look(at, seen, call);
  if (called === null) return NOTHING_LISTED;
  return seenListingOf(yield* wholeAnswer(called), `${called.step}.${called.index}`);
}

/** One look. One that fails is told to the model, which may do something about it; one that goes on failing ends the attempt. */
function* look(at: At, seen: SeenPlace, call: CommandCall): Work<ToolCalled | null> {
  const { agent } = at;
  const command = { ...call, on: screenPlaceOf(seen) };
  const hopeless = agent.repeats.hopeless(command);
  if (hopeless !== null) throw new AgentFailure(failed(`gave up: ${call.tool} failed ${hopeless} times the same way`));
  const called = yield* callTool(command);
  const problem = failureText(called.ended);
  if (problem === null) return called;
  agent.repeats.note(command, outcomeText(called.ended), true);
  agent.trouble(`${call.tool} showed nothing. ${problem}`);
  return null;
}

/** The whole of an answer, also of one that the log holds in part. */
export function* wholeAnswer({ step, index, ended }: ToolCalled): Work<Json> {
  if (ended.kind !== 'finished' || ended.result?.artifact === undefined) return answeredValue(ended);
  const pieces: string[] = [];
  for (let piece = 0, fromLine = 1; piece < PIECES_MAX; piece++) {
    const { text: lines, totalLines } = yield* readOutput({
      step,
      index,
      stream: 'result',
      fromLine,
      lines: PIECE_LINES,
    });
    pieces.push(lines);
    fromLine += lines === '' ? PIECE_LINES : lines.split('\n').length;
    if (fromLine > totalLines) break;
  }
  try {
    return JSON.parse(pieces.join('\n')) as Json;
  } catch {
    return null;
  }
}

/** What this look did not show: the model hears of it at once, and not only in its memory. */
const trouble = ({ agent: { problems } }: At): ContentPart[] =>
  problems.length === 0 ? [] : [textPart(`What went wrong just now:\n${problems.join('\n')}`)];

const kept = ({ context }: At): ContentPart[] =>
  (context.get('kept') ?? []).flatMap(({ image, reason }) =>
    pictureParts(`A picture that was kept: ${reason}`, [image]),
  );
