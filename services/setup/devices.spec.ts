import { describe, expect, it } from '@jest/globals';
import { parseDevices } from './devices.js';

describe('parseDevices', () => {
  it('reads ids and tags, in any number', () => {
    expect(parseDevices(' web-1:web,eu  db-1:db plain ')).toEqual([
      { deviceId: 'web-1', admin: { tags: ['web', 'eu'], capabilities: [] } },
      { deviceId: 'db-1', admin: { tags: ['db'], capabilities: [] } },
      { deviceId: 'plain', admin: { tags: [], capabilities: [] } },
    ]);
    expect(parseDevices('')).toEqual([]);
    expect(parseDevices('desk-1:desktop:DesktopAgent')).toEqual([
      { deviceId: 'desk-1', admin: { tags: ['desktop'], capabilities: [] }, agent: 'DesktopAgent' },
    ]);
  });

  it.each([
    '../web-1:web',
    'web-1:web:eu',
    'web-1:web:LinuxAgent:eu',
    ':web',
    'web-1:a web-1:b',
    `web-1:${'t'.repeat(65)}`,
  ])('does not guess what %j means', (text) => {
    expect(parseDevices(text)).toBeUndefined();
  });
});
