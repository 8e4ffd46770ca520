import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { desktopServer } from './desktop-tools.adapter.js';

/** What says in a person's own session where that is. */
const SESSION = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XAUTHORITY', 'XDG_SESSION_ID'];
const SETTINGS = { display: ':7', bus: 'unix:path=/run/user/1001/bus', applications: {} };

let before: Record<string, string | undefined>;
beforeEach(() => {
  before = Object.fromEntries(SESSION.map((name) => [name, process.env[name]]));
  for (const name of SESSION) process.env[name] = `of a person: ${name}`;
});
afterEach(() => {
  for (const name of SESSION) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});

it('tells the tools of a desktop nothing of the session that their client was started in', () => {
  const { spec } = desktopServer(SETTINGS);
  expect(JSON.stringify(spec)).not.toContain('of a person');
  expect(JSON.stringify(spec)).toContain('":7\\"');
});

it('has them read the key of the display that the settings name, and no other', () => {
  const { spec } = desktopServer({ ...SETTINGS, authority: '/srv/desk/authority' });
  expect(JSON.stringify(spec)).toContain('"XAUTHORITY":"/srv/desk/authority"');
  expect(JSON.stringify(spec)).not.toContain('of a person');
});
