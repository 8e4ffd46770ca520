import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StandInPhone, StandInServer } from '#libs/testing';
import { makeHome, startDevice, type DeviceHome, type DeviceProcess } from '../testing/device-process.js';
import { ATTEMPT, startScriptedServer, type ScriptedServer } from '../testing/scripted-server.js';

const SCREEN = `<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="com.example.notes" bounds="[0,0][1080,2340]"><node class="android.widget.Button" package="com.example.notes" text="OK" clickable="true" enabled="true" bounds="[100,200][300,260]" /></node></hierarchy>`;

let home: DeviceHome;
let server: ScriptedServer;
let phones: readonly [StandInPhone, StandInPhone];
let adb: StandInServer;
let device: DeviceProcess;

beforeEach(async () => {
  phones = [await StandInPhone.make('phone-a'), await StandInPhone.make('phone-b')];
  for (const phone of phones) await phone.put('screen.xml', SCREEN);
  [home, server, adb] = await Promise.all([makeHome(), startScriptedServer(), StandInServer.start(phones)]);
  const config = join(home.dir, 'tools.yaml');
  await writeFile(config, `tools: { mobile: { serial: phone-b, server: "127.0.0.1:${adb.address.port}" } }\n`);
  device = startDevice(home, server.url, ['--config', config]);
});
afterEach(async () => {
  await device.kill('SIGKILL');
  await server.stop();
  await Promise.all(phones.map((phone) => phone.remove()));
  await adb.close();
  await home.remove();
});

describe('a device with a phone', () => {
  it('offers its tools, and acts on the phone that was said', async () => {
    const { connection, register } = await server.registeredWith('tap');
    const tools = register.metadata?.orrery?.telemetry.tools ?? [];
    const readOnly = new Map(tools.map((tool) => [tool.name, tool.readOnly]));
    expect([readOnly.get('EXEC_CLI'), readOnly.get('wait'), readOnly.get('tap')]).toEqual([false, true, false]);
    connection.command('c1', 'get_app_window_controls_target_info', {});
    expect(await connection.outcome('c1')).toMatchObject({
      state: 'COMPLETED',
      result: { result: [{ id: '1', name: 'OK', type: 'Button' }], window: { application: 'com.example.notes' } },
    });
    connection.command('c2', 'click_control', { control_id: '1', control_name: 'OK' });
    expect(await connection.outcome('c2')).toMatchObject({
      state: 'COMPLETED',
      result: { result: 'Tapped Button "OK".' },
    });
    connection.command('c3', 'click_control', { control_id: '1', control_name: 'OK' });
    expect(await connection.outcome('c3')).toMatchObject({
      state: 'FAILED',
      error: { message: expect.stringMatching(/^WINDOW_CHANGED: /u) },
    });
    expect([await phones[0].calls(), await phones[1].calls()]).toEqual([[], [['input', 'tap', '200', '230']]]);
    // Its screen is one attempt's at a time: what a later one of the task has looked at, the earlier one does not touch any more.
    const later = { ...ATTEMPT, attempt: ATTEMPT.attempt + 1 };
    connection.command('c4', 'get_app_window_controls_target_info', {}, { attempt: later });
    expect(await connection.outcome('c4')).toMatchObject({ state: 'COMPLETED' });
    connection.command('c5', 'back', {});
    expect(await connection.outcome('c5')).toMatchObject({ state: 'FAILED', error: { code: 'SCREEN_BUSY' } });
    expect(await phones[1].calls()).toEqual([]);
  });
});
