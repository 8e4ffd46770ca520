import { beforeAll, describe, expect, it } from '@jest/globals';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';

let policy: CommandPolicy;
beforeAll(async () => {
  policy = openPolicy({}, await openBashGrammar());
});

describe('what is done to a desktop', () => {
  it.each([
    ['get_desktop_app_target_info', 'allow'],
    ['get_app_window_info', 'allow'],
    ['get_app_window_controls_info', 'allow'],
    ['get_app_window_controls_target_info', 'allow'],
    ['get_ui_tree', 'allow'],
    ['capture_window_screenshot', 'allow'],
    ['capture_desktop_screenshot', 'allow'],
    ['wait_until_settled', 'allow'],
    ['select_application_window', 'log'],
    ['wheel_mouse_input', 'log'],
    ['click_input', 'approve'],
    ['click_on_coordinates', 'approve'],
    ['drag_on_coordinates', 'approve'],
    ['set_edit_text', 'approve'],
    ['keyboard_input', 'approve'],
    ['launch_application', 'approve'],
    // Names that any server may give its tools.
    ['texts', 'approve'],
    ['run_shell', 'approve'],
  ])('%s: %s', (tool, decision) => {
    expect(policy.judge({ tool, arguments: {} }, undefined).decision).toBe(decision);
  });

  it.each(['click_input', 'set_edit_text', 'keyboard_input', 'launch_application'])(
    '%s is allowed once and not for ever, for in another window it is another deed',
    (tool) => {
      expect(policy.judge({ tool, arguments: { id: '1', name: 'OK' } }, undefined).grantable).toBe(false);
    },
  );
});
