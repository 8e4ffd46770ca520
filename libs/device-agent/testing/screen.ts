import { COLLECTOR_TOOLS, CONTROL_TOOLS, QUIET_TOOLS, WINDOW_TOOLS } from '#proto';
import type { AppAction, Json, ScreenAppReply, ScreenHostReply, ToolInfo } from '#proto';
import { screenAgent, WINDOWS_AGENT } from '../agents/windows-agent.js';
import type { AgentTask, ToolCalled } from '../effects/effect.js';
import { answered } from './drive.js';
import { sampleTask, SpyPrompter } from './samples.js';

/** Names of the tools of a screen, as a device lists them: without schemas, as many do. */
export const SCREEN_TOOLS: readonly ToolInfo[] = [
  ...COLLECTOR_TOOLS,
  ...WINDOW_TOOLS,
  ...CONTROL_TOOLS,
  ...QUIET_TOOLS,
].map((name) => ({ name, description: '', readOnly: false }));

export const screenTask = (changes: Partial<AgentTask> = {}): AgentTask => {
  const task = sampleTask(changes);
  return { ...task, device: { ...task.device, os: 'windows', tools: SCREEN_TOOLS } };
};

/** The two agents with prompters that remember what they were shown. */
export function spiedScreen(sees = false) {
  const [host, app] = [new SpyPrompter(), new SpyPrompter()];
  return { kind: screenAgent({ name: WINDOWS_AGENT, host, app, sees: () => sees }), host, app };
}

const SAID = { observation: '', thought: 'I think.', plan: [], comment: '', notes: [], questions: [], result: '' };

/** What the model of a HostAgent says. */
export const hostSays = (said: Partial<ScreenHostReply>): ScreenHostReply => ({
  ...SAID,
  function: '',
  arguments: {},
  status: 'CONTINUE',
  current_subtask: '',
  message: [],
  ...said,
});

/** It chooses the window that is listed under this id and name, for this part. */
export const hostAssigns = (subtask: string, id = '1', name = 'notes - Mousepad'): ScreenHostReply =>
  hostSays({
    status: 'ASSIGN',
    function: 'select_application_window',
    arguments: { id, name },
    current_subtask: subtask,
  });

type Acting = readonly [tool: string, args: Record<string, Json>, status?: AppAction['status']];

/** What the model of an AppAgent says: nothing to do ends or looks again, several actions are a list. */
export function appSays(actions: readonly Acting[], said: Partial<ScreenAppReply> = {}): ScreenAppReply {
  const made = actions.map(([name, args, status = 'CONTINUE']) => ({ function: name, arguments: args, status }));
  const [only, ...more] = made;
  return { ...SAID, action: only !== undefined && more.length === 0 ? only : made, ...said };
}

export const appEnds = (status: 'FINISH' | 'FAIL', result: string): ScreenAppReply =>
  appSays([['', {}, status]], { result });

export const window = (id: string, name: string): Json => ({ kind: 'window', id, name, type: 'Window' });
export const control = (id: string, name: string, type = 'Button'): Json => ({ kind: 'control', id, name, type });

/** A desktop with one editor, which answers as UFO's client does. */
export function answerOfEditor(tool: string): ToolCalled['ended'] {
  switch (tool) {
    case 'get_desktop_app_target_info':
      return answered([window('1', 'notes - Mousepad')]);
    case 'select_application_window':
      return answered({ root_name: 'mousepad', window_info: { title: 'notes - Mousepad' } });
    case 'get_app_window_info':
      return answered({ control_text: 'notes - Mousepad' });
    case 'get_app_window_controls_target_info':
      return answered([control('1', 'File', 'MenuItem'), control('2', '', 'Edit'), control('3', 'Send')]);
    default:
      return answered('done');
  }
}
