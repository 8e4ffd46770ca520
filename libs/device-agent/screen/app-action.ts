import type { AppAction, ScreenAppReply, ToolInfo } from '#proto';
import {
  CONTINUE,
  FAIL,
  failed,
  FINISH,
  strategyOf,
  type Strategy,
  type StrategyCall,
  type Work,
} from '../agent/index.js';
import type { Done } from '../strategies/index.js';
import { act, askAll, changedProblem, saysChanged, type WantedCall } from './act.js';
import type { SeenListing } from './listing.js';
import { listControls } from './look.js';
import { APP_AGENT, CONFIRM, PENDING, type Screen, type ScreenValues } from './screen.js';

type At = StrategyCall<Screen>;
type Acted = Omit<Done, 'status'> & { readonly status: string; readonly succeeded: boolean };

const NOTHING: Omit<Done, 'status'> = { calls: [], answers: [], reads: [], problems: [] };
const KEPT_MAX = 4;

/**
 * Makes the calls of an AppAgent, one after the other, each before a listing that still shows its target as it was chosen. What
 * is left of a list is not done when one went wrong or the window changed.
 */
export function appAction(): Strategy<ScreenValues<ScreenAppReply>, Screen> {
  return strategyOf<ScreenValues<ScreenAppReply>, Screen>()({
    name: 'app-action',
    dependsOn: ['turn', 'tools', 'listing', 'picture'],
    provides: ['done'],
    *execute(at, { turn: { reply }, tools, listing, picture }) {
      keepPicture(at, reply, picture);
      const actions = [reply.action].flat();
      const last = actions.at(-1)?.status ?? CONTINUE;
      const acted = yield* inOrder(at, actions, { tools, listing });
      const { succeeded, status, ...done } = acted;
      if (status === FAIL) {
        at.agent.fail(failed(reply.result), reply.result);
        return { done: { ...done, status } };
      }
      if (status === PENDING) {
        const answers = yield* askAll(reply.questions);
        at.agent.decide(PENDING);
        return { done: { ...done, status, answers: [...done.answers, ...answers] } };
      }
      if (last === FINISH && (!succeeded || status !== FINISH)) {
        at.agent.decide(CONTINUE);
        const problem = 'FINISH was not taken: not everything that came with it succeeded.';
        return { done: { ...done, status: CONTINUE, problems: [...done.problems, problem] } };
      }
      at.agent.decide(status, reply.result);
      return { done: { ...done, status } };
    },
    fallback: ({ turn }) => {
      const status = [turn.reply.action].flat().at(-1)?.status;
      return { done: { ...NOTHING, status: status === FAIL ? FAIL : CONTINUE } };
    },
  });
}

interface Before {
  readonly tools: readonly ToolInfo[];
  readonly listing: SeenListing;
}

function* inOrder(at: At, actions: readonly AppAction[], { tools, listing }: Before): Work<Acted> {
  let done: Acted = { ...NOTHING, status: CONTINUE, succeeded: true };
  let [now, stale] = [listing, false];
  for (const [place, action] of actions.entries()) {
    if (action.function === '' || action.status === FAIL) {
      done = { ...done, status: action.status };
      continue;
    }
    const wanted: WantedCall = { ...action, confirm: action.status === CONFIRM };
    const problem =
      place === 0 ? null : stale ? CHANGED : yield* checked(at, wanted, (listed) => (now = listed), listing);
    if (problem !== null) return stopped(done, problem, actions.length - place);
    const chosen = at.context.get('chosen');
    const acted = yield* act(at, wanted, { agent: APP_AGENT, chosen, listing: now }, tools);
    done = {
      calls: [...done.calls, ...acted.calls],
      answers: [...done.answers, ...acted.answers],
      reads: [...done.reads, ...acted.reads],
      problems: [...done.problems, ...acted.problems],
      status: acted.hopeless ? FAIL : acted.succeeded ? action.status : CONTINUE,
      succeeded: acted.succeeded,
    };
    if (acted.succeeded) stale = saysChanged(acted.value);
    else
      return place === actions.length - 1 ? done : stopped(done, 'The one before failed.', actions.length - place - 1);
  }
  return done;
}

const CHANGED = 'WINDOW_CHANGED: another window has come to the front.';

/** Before all but the first: the screen is another one by now, and ids are of a listing. */
function* checked(
  at: At,
  wanted: WantedCall,
  keep: (listing: SeenListing) => void,
  first: SeenListing,
): Work<string | null> {
  const listed = yield* listControls(at);
  keep(listed);
  return changedProblem(first, listed, wanted);
}

function stopped(done: Acted, why: string, left: number): Acted {
  const problem = `The other ${left === 1 ? 'action' : `${left} actions`} of the list ${left === 1 ? 'was' : 'were'} not tried. ${why}`;
  return {
    ...done,
    status: done.status === FAIL ? FAIL : CONTINUE,
    succeeded: false,
    problems: [...done.problems, problem],
  };
}

/** The newest few: each is shown in every prompt from then on. */
function keepPicture(
  at: At,
  { save_screenshot: save }: ScreenAppReply,
  picture: ScreenValues<ScreenAppReply>['picture'],
): void {
  const [image] = picture;
  if (save?.save !== true || image === undefined) return;
  const kept = [...(at.context.get('kept') ?? []), { image, reason: save.reason }];
  at.context.set('kept', kept.slice(-KEPT_MAX));
}
