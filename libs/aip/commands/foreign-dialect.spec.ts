import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { commandAddressOf, dialectOf, dialectProblem, listedAgents, unlistedTools } from './foreign-dialect.js';

const on = { agent: 'AppAgent', application: 'EXCEL.EXE', window: 'Book1 - Excel', snapshot: '3.1' };
const nobody = { process_name: '', root_name: '' };

describe('a client of UFO', () => {
  it.each([
    ['linux', 'command-line'],
    ['Windows', 'windows'],
    ['mobile', 'mobile'],
    ['android', 'command-line'],
  ])('of the platform %s is spoken to as %s', (platform, dialect) => {
    expect(dialectOf({ telemetry: { platform } })).toBe(dialect);
  });

  it.each([
    ['command-line', 'execute_command', undefined, { agent_name: 'LinuxAgent', ...nobody, tool_type: 'action' }],
    ['mobile', 'capture_screenshot', undefined, { agent_name: 'MobileAgent', ...nobody, tool_type: 'data_collection' }],
    [
      'mobile',
      'get_app_window_controls_target_info',
      on,
      { agent_name: 'MobileAgent', ...nobody, tool_type: 'data_collection' },
    ],
    ['mobile', 'click_control', on, { agent_name: 'MobileAgent', ...nobody, tool_type: 'action' }],
    [
      'windows',
      'get_desktop_app_target_info',
      undefined,
      { agent_name: 'HostAgent', ...nobody, tool_type: 'data_collection' },
    ],
    [
      'windows',
      'get_range_values',
      on,
      { agent_name: 'AppAgent', process_name: 'Book1 - Excel', root_name: 'EXCEL.EXE', tool_type: 'action' },
    ],
  ] as const)('(%s) is asked for %s under the name that it knows', (dialect, tool, place, address) => {
    expect(commandAddressOf(dialect, tool, place)).toEqual(address);
  });

  it('of a phone is asked for the tools of its one agent, and has what looks without listing it', () => {
    expect(listedAgents('mobile')).toEqual(['MobileAgent']);
    const tap = { name: 'tap', description: '', readOnly: false };
    expect(unlistedTools('mobile', [tap]).map(({ name }) => name)).toEqual([
      'tap',
      'capture_screenshot',
      'get_ui_tree',
      'get_device_info',
      'get_mobile_app_target_info',
      'get_app_window_controls_target_info',
    ]);
    expect(unlistedTools('command-line', [tap])).toEqual([tap]);
  });
});

describe('what the tool server of a phone would hand to a shell', () => {
  it.each<[string, string, Json, boolean]>([
    ['type_text', 'text', 'Meet at 10:30, room 4', true],
    ['type_text', 'text', '', true],
    ['type_text', 'text', 'x;reboot', false],
    ['type_text', 'text', 'x\nreboot', false],
    ['type_text', 'text', '$(reboot)', false],
    ['type_text', 'text', '`reboot`', false],
    ['type_text', 'text', 'a & reboot', false],
    ['type_text', 'text', "it's", false],
    ['type_text', 'text', 'say "x"', false],
    ['type_text', 'text', 'a|b', false],
    ['type_text', 'text', 'a>b', false],
    ['type_text', 'text', 'a\\b', false],
    ['type_text', 'text', '100%s', false],
    ['type_text', 'text', 'Grüße', false],
    ['type_text', 'text', ['x'], false],
    ['press_key', 'key_code', 'KEYCODE_ENTER', true],
    ['press_key', 'key_code', '4;reboot', false],
    ['launch_app', 'package_name', 'com.example.notes', true],
    ['launch_app', 'package_name', 'com.example.notes -c x', false],
  ])('is not sent when it could be more than a word: %s, %s %j', (tool, argument, value, isSent) => {
    const problem = dialectProblem('mobile', { tool, arguments: { [argument]: value } });
    if (isSent) expect(problem).toBeNull();
    else expect(problem).toMatch(new RegExp(`^arguments\\.${argument}: .* may be .* only$`, 'u'));
  });

  it('is nothing to other clients', () => {
    const call = { tool: 'type_text', arguments: { text: 'x;reboot' } };
    expect([dialectProblem('windows', call), dialectProblem('command-line', call)]).toEqual([null, null]);
  });
});
