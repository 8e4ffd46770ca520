import { readFileSync } from 'node:fs';
import { testing } from '#libs/device-agent';
import type { ActionResult, Json } from '#proto';

/* Sessions of UFO's own server with its client of a Windows machine, as they were recorded: proto/fixtures/aip/ufo. */

/** What of a frame is compared. */
export interface Frame {
  readonly type: string;
  readonly agent_name: string;
  readonly process_name: string;
  readonly root_name: string;
  readonly actions: readonly { readonly tool_name: string; readonly parameters: Json; readonly tool_type: string }[];
  readonly action_results: readonly ActionResult[];
}

const fixture = (name: string): Frame[] =>
  readFileSync(new URL(`../../proto/fixtures/aip/ufo/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: Frame }).msg);

/** Whom a command is for and what it says. */
export const said = ({
  agent_name,
  process_name,
  root_name,
  actions,
}: Pick<Frame, 'agent_name' | 'process_name' | 'root_name' | 'actions'>) => ({
  agent_name,
  process_name,
  root_name,
  actions: actions.map(({ tool_name, parameters, tool_type }) => ({ tool_name, parameters, tool_type })),
});

/** Each recorded command with what the client answered. */
function exchanges(name: string) {
  const frames = fixture(name);
  const answers = frames.filter(({ type }) => type === 'command_results');
  return frames
    .filter(({ type }) => type === 'command')
    .map((frame, at) => ({ frame, answer: answers[at]?.action_results[0] }));
}

/**
 * What the recorded server sends and ours does not: tools are asked for when the client registers; a turn without a call sends
 * nothing; and no picture is taken that nobody looks at (after a subtask, and at the end of a round).
 */
const isLeftOut = ({ actions }: Frame, later: readonly Frame[]): boolean => {
  const [action] = actions;
  if (action === undefined || action.tool_name === 'list_tools') return true;
  return action.tool_name === 'capture_window_screenshot' && later[0]?.actions[0]?.tool_name !== 'get_app_window_info';
};

/** What our server sends of a recorded session, with what the client answered to it. */
export function wantedOf(name: string) {
  const recorded = exchanges(name);
  const later = (at: number) => recorded.slice(at + 1).map(({ frame }) => frame);
  return recorded.filter(({ frame }, at) => !isLeftOut(frame, later(at)));
}

const TITLE = 'Untitled 1 - Mousepad';
export const TYPED = { id: '8', name: '', text: 'hello from UFO', clear_current_text: false };

/** The window of the recorded sessions is chosen. */
export const chosen = testing.hostAssigns('write hello', '1', TITLE);

/** What models say in a session that is done, and in one whose subtask fails. */
export const REPLIES = {
  'windows-session': [
    chosen,
    testing.appSays([['set_edit_text', TYPED]]),
    testing.appEnds('FINISH', 'written'),
    testing.hostSays({ status: 'FINISH', result: 'hello is written' }),
  ],
  'windows-session-fail': [
    chosen,
    testing.appSays([['set_edit_text', TYPED, 'CONTINUE']]),
    testing.appEnds('FAIL', 'the document is read-only'),
    testing.hostSays({ status: 'FAIL', result: 'not written' }),
  ],
} satisfies Record<string, readonly testing.Said[]>;
