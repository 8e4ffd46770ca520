import type { CommandCall } from '#proto';
import type { CommandFinding } from '../words/index.js';

/** Tools for a desktop, by what they do at the worst. */
const LOOKS: ReadonlySet<string> = new Set([
  'get_desktop_app_info',
  'get_desktop_app_target_info',
  'get_app_window_info',
  'get_app_window_controls_info',
  'get_ui_tree',
  'capture_window_screenshot',
  'capture_desktop_screenshot',
  'wait_until_settled',
]);
/** They bring something into view. */
const MOVES: ReadonlySet<string> = new Set(['select_application_window', 'wheel_mouse_input']);
const ACTS: ReadonlyMap<string, string> = new Map([
  ['click_input', 'what a control of a window does is known to its application only'],
  ['click_on_coordinates', 'what lies under a bare place of a window is not known'],
  ['drag_on_coordinates', 'what is dragged, and what takes it, is not known'],
  ['set_edit_text', 'what becomes of a text is known to its application only'],
  ['keyboard_input', 'what a key does is known to its application only'],
  ['launch_application', 'a program can do whatever its user can'],
]);

/** What is to be said about a call of a tool for a desktop; undefined: it is none. The device has floors of its own, and a list of programs. */
export function desktopFinding({ tool }: CommandCall): CommandFinding | undefined {
  const said = { kind: 'program', rule: `desktop.${tool}` } as const;
  if (LOOKS.has(tool)) return { ...said, class: 'read', reason: `${tool} looks at a desktop.` };
  if (MOVES.has(tool)) return { ...said, class: 'write', reason: `${tool} brings something of a desktop into view.` };
  const why = ACTS.get(tool);
  if (why === undefined) return undefined;
  // In another window the same call is another deed: who has allowed it once has not allowed that.
  return { ...said, class: 'privileged', atLeast: 'approve', grantable: false, reason: `A person decides: ${why}.` };
}
