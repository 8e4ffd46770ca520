import { expect, it } from '@jest/globals';
import type { AskedWall } from '#proto';
import { wallText } from './wall-text.js';

it.each<[AskedWall, string]>([
  [{ kind: 'none', views: ['loopback'] }, 'no wall: it may do and see all that the device client may'],
  [{ kind: 'read', views: [] }, 'writes nothing; speaks to nobody; sees no secrets'],
  [
    { kind: 'write', views: ['host-processes'], internet: true, writable: ['/srv/app', '/data'], runsAs: '65533' },
    'may write where commands work and in /srv/app, /data; speaks to the internet; sees all processes; runs as 65533; sees no secrets',
  ],
  [{ kind: 'read', views: [], writable: ['/x'] }, 'may write in /x; speaks to nobody; sees no secrets'],
])('%j is said in words', (wall, text) => expect(wallText(wall)).toBe(text));
