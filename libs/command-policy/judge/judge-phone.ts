import type { CommandCall } from '#proto';
import type { Settings } from '../policy/index.js';
import type { CommandFinding } from '../words/index.js';

/** Tools for a phone, by what they do at the worst. */
const LOOKS: ReadonlySet<string> = new Set([
  'get_mobile_app_target_info',
  'get_app_window_controls_target_info',
  'get_device_info',
  'capture_screenshot',
  'wait',
]);
const ACTS: ReadonlyMap<string, string> = new Map([
  ['click_control', 'what a control of a phone does is known to its application only'],
  ['type_text', 'what becomes of a text is known to its application only'],
  ['swipe', 'a swipe over a phone can answer a call or throw something away'],
  ['tap', 'what lies under a bare place on a phone is not known'],
]);

/** They move about, or change a text that is being written: none of them sends, calls or switches off. */
const PLAIN_KEYS: ReadonlySet<string> = new Set(
  [
    'BACK',
    'HOME',
    'APP_SWITCH',
    'ESCAPE',
    'TAB',
    'DEL',
    'FORWARD_DEL',
    'DPAD_UP',
    'DPAD_DOWN',
    'DPAD_LEFT',
    'DPAD_RIGHT',
    'PAGE_UP',
    'PAGE_DOWN',
    'MOVE_HOME',
    'MOVE_END',
    'VOLUME_UP',
    'VOLUME_DOWN',
    'VOLUME_MUTE',
  ].map((name) => `KEYCODE_${name}`),
);

/** What is to be said about a call of a tool for a phone; undefined: it is none. */
export function phoneFinding(
  { tool, arguments: given }: CommandCall,
  { phoneApplications }: Pick<Settings, 'phoneApplications'>,
): CommandFinding | undefined {
  if (LOOKS.has(tool)) return { ...found(tool, `${tool} looks at a phone.`), class: 'read' };
  if (tool === 'back') return found(tool, 'It goes back on a phone.');
  if (tool === 'press_key') return keyFinding(given['key_code']);
  if (tool === 'launch_app') return launchFinding(given['package_name'], phoneApplications);
  const why = ACTS.get(tool);
  return why === undefined ? undefined : onceAsking(tool, `A person decides: ${why}.`);
}

function keyFinding(key: unknown): CommandFinding {
  const name = typeof key === 'string' ? key : '';
  if (PLAIN_KEYS.has(name)) return found('press_key', `${name} moves about on a phone.`);
  return onceAsking('press_key', 'A person decides: the key can send, call or switch off.');
}

function launchFinding(name: unknown, applications: ReadonlySet<string>): CommandFinding {
  if (typeof name === 'string' && applications.has(name)) return found('launch_app', `${name} may be started.`);
  return asking('launch_app', 'A person decides: the application is not among phoneApplications of the policy.');
}

const found = (tool: string, reason: string): CommandFinding => ({
  kind: 'program',
  class: 'write',
  rule: `phone.${tool}`,
  reason,
});

/** On another screen the same call is another deed: who has allowed it once has not allowed that. */
const onceAsking = (tool: string, reason: string): CommandFinding => ({ ...asking(tool, reason), grantable: false });

const asking = (tool: string, reason: string): CommandFinding => ({
  ...found(tool, reason),
  class: 'privileged',
  atLeast: 'approve',
});
