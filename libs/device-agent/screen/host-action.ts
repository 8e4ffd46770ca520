import { fieldsOf, type Json, type ScreenHostReply } from '#proto';
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
import { act, askAll, type ScreenAct } from './act.js';
import { handOver, HAND_OVER_TOOL } from './hand-over.js';
import type { SeenListing } from './listing.js';
import { ASSIGN, HOST_AGENT, PENDING, type Screen, type ScreenValues } from './screen.js';

const NOTHING: Omit<Done, 'status'> = { calls: [], answers: [], reads: [], problems: [] };

/**
 * Makes the call of a HostAgent: it chooses or starts what is worked in, or asks a device that has a command line. With ASSIGN the
 * subtask goes to the AppAgent, when the window is really chosen, or to another device of the run.
 */
export function hostAction(): Strategy<ScreenValues<ScreenHostReply>, Screen> {
  return strategyOf<ScreenValues<ScreenHostReply>, Screen>()({
    name: 'host-action',
    dependsOn: ['turn', 'tools', 'listing'],
    provides: ['done'],
    *execute(at, { turn: { reply }, tools, listing }) {
      const { status, result } = reply;
      if (status === FAIL) {
        at.agent.fail(failed(result), result);
        return { done: { ...NOTHING, status } };
      }
      if (status === PENDING) {
        const answers = yield* askAll(reply.questions);
        at.agent.decide(PENDING);
        return { done: { ...NOTHING, status, answers } };
      }
      if (reply.function === '') {
        at.agent.decide(status, result);
        return { done: { ...NOTHING, status } };
      }
      if (reply.function === HAND_OVER_TOOL.name) return { done: handOver(at, reply, tools) };
      const seen = { agent: HOST_AGENT, chosen: at.context.get('chosen'), listing };
      const wanted = { function: reply.function, arguments: reply.arguments, confirm: false };
      const acted = yield* act(at, wanted, seen, tools);
      return { done: conclude(at, reply, acted, listing) };
    },
    fallback: ({ turn }) => ({ done: { ...NOTHING, status: turn.reply.status === FAIL ? FAIL : CONTINUE } }),
  });
}

function conclude(at: StrategyCall<Screen>, reply: ScreenHostReply, acted: ScreenAct, listing: SeenListing): Done {
  const { status, result } = reply;
  const { calls, answers, reads, problems, succeeded } = acted;
  const done = { calls, answers, reads, problems };
  if (acted.hopeless) return { ...done, status: FAIL };
  if (succeeded) choose(at, reply, acted.value, listing);
  const isChosen = at.context.get('chosen') !== undefined;
  if (status === ASSIGN && succeeded && isChosen) {
    at.context.set('assigned', { subtask: reply.current_subtask, tips: reply.message });
    at.agent.decide(ASSIGN);
    return { ...done, status };
  }
  const early = status === ASSIGN ? NOT_ASSIGNED : status === FINISH && !succeeded ? TOO_EARLY : null;
  if (early === null) {
    at.agent.decide(status, result);
    return { ...done, status };
  }
  at.agent.decide(CONTINUE);
  return { ...done, status: CONTINUE, problems: [...problems, early] };
}

const NOT_ASSIGNED =
  'Nothing was assigned: the window was not chosen, because the call that came with ASSIGN did not succeed.';
const TOO_EARLY = 'FINISH was not taken: the call that came with it did not succeed.';

/** Tools that choose a window answer with its program; the title is the one that was listed, or what the device says of a new one. */
function choose({ context }: StrategyCall<Screen>, reply: ScreenHostReply, value: Json, listing: SeenListing): void {
  const { root_name: application, window_info: info } = fieldsOf(value);
  if (typeof application !== 'string') return;
  const listed = listing.targets.find(({ id }) => id === reply.arguments['id']);
  const { title } = fieldsOf(info);
  const window = listed?.name ?? (typeof title === 'string' ? title : '');
  context.set('chosen', { application, window });
  context.set('before', []);
}

/** Gives the subtask to the AppAgent, which then has control. */
export function* assignApp(context: StrategyCall<Screen>['context'], app: string): Work<void> {
  yield* [];
  const assigned = context.get('assigned');
  if (assigned === undefined) throw new Error(`${HOST_AGENT} is in ${ASSIGN} and has assigned nothing`);
  context.agent(app).begin(assigned.subtask);
}
