import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { openBashGrammar, openPolicy, parsePolicy, type CommandPolicy, type ShellParser } from '../index.js';

let parser: ShellParser;
let policy: CommandPolicy;
beforeAll(async () => {
  parser = await openBashGrammar();
  policy = openPolicy({}, parser);
});

const judged = (of: CommandPolicy, tool: string, given: Record<string, Json> = {}) => {
  const { decision, rule } = of.judge({ tool, arguments: given }, undefined);
  return [decision, rule];
};

describe('what is done to a phone', () => {
  it.each<[string, Record<string, Json>, string, string]>([
    ['get_app_window_controls_target_info', {}, 'allow', 'phone.get_app_window_controls_target_info'],
    ['get_mobile_app_target_info', { filter: 'a' }, 'allow', 'phone.get_mobile_app_target_info'],
    ['get_device_info', {}, 'allow', 'phone.get_device_info'],
    ['capture_screenshot', {}, 'allow', 'phone.capture_screenshot'],
    ['wait', { seconds: 2 }, 'allow', 'phone.wait'],
    ['back', {}, 'log', 'phone.back'],
    ['press_key', { key_code: 'KEYCODE_BACK' }, 'log', 'phone.press_key'],
    ['press_key', { key_code: 'KEYCODE_DPAD_DOWN' }, 'log', 'phone.press_key'],
    ['press_key', { key_code: 'KEYCODE_POWER' }, 'approve', 'phone.press_key'],
    ['press_key', { key_code: 'KEYCODE_CALL' }, 'approve', 'phone.press_key'],
    ['press_key', { key_code: 'KEYCODE_ENTER' }, 'approve', 'phone.press_key'],
    ['press_key', { key_code: '4' }, 'approve', 'phone.press_key'],
    ['press_key', { key_code: ['KEYCODE_BACK'] }, 'approve', 'phone.press_key'],
    ['press_key', {}, 'approve', 'phone.press_key'],
    ['tap', { x: 1, y: 2 }, 'approve', 'phone.tap'],
    ['swipe', { start_x: 1, start_y: 1, end_x: 1, end_y: 1 }, 'approve', 'phone.swipe'],
    ['click_control', { control_id: '1', control_name: 'Cancel' }, 'approve', 'phone.click_control'],
    ['type_text', { text: 'a', control_id: '1', control_name: 'b' }, 'approve', 'phone.type_text'],
    ['launch_app', { package_name: 'com.example.notes' }, 'approve', 'phone.launch_app'],
    ['adb_shell', { line: 'reboot' }, 'approve', 'unknown-tool'],
  ])('%s of %j: %s', (tool, given, decision, rule) => {
    expect(judged(policy, tool, given)).toEqual([decision, rule]);
  });

  it('is allowed once and not for ever, for on another screen the same call is another deed', () => {
    const call = { tool: 'click_control', arguments: { control_id: '1', control_name: 'OK' } };
    expect(policy.judge(call, undefined).grantable).toBe(false);
  });

  it('may be more where a policy says so, and a rule of it counts', () => {
    const text = [
      'version: 1',
      'phoneApplications: [com.example.notes]',
      'tools: { click_control: write }',
      'rules: [{ id: no-back, match: { program: back }, decision: deny }]',
      'devices: [{ match: { ids: [work] }, phoneApplications: [] }]',
    ].join('\n');
    const parsed = parsePolicy(text);
    if (!parsed.ok) throw new Error(parsed.errors.join());
    const own = openPolicy({ file: text }, parser);
    expect(judged(own, 'launch_app', { package_name: 'com.example.notes' })).toEqual(['log', 'phone.launch_app']);
    expect(judged(own, 'launch_app', { package_name: 'com.example.mail' })[0]).toBe('approve');
    expect(judged(own, 'click_control')).toEqual(['log', 'tool.click_control']);
    expect(judged(own, 'back')).toEqual(['deny', 'policy.no-back']);
    const launch = { tool: 'launch_app', arguments: { package_name: 'com.example.notes' } };
    expect(own.judge(launch, { deviceId: 'work', os: 'android', tags: [] }).decision).toBe('approve');
  });

  it('is refused a policy whose applications are no packages', () => {
    expect(parsePolicy('version: 1\nphoneApplications: ["*"]')).toEqual({
      ok: false,
      errors: [expect.stringContaining('phoneApplications')],
    });
  });
});
