import { AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check } from '../check.js';
import { registerOf } from '../frames.js';
import { rawSocket, upgradeHead } from '../raw-socket.js';

const REFUSED = [401, 403];
const DENIED = 'our promise: identity is proven before the upgrade';

const refusesToken = (status: number): void =>
  demand(REFUSED.includes(status), `the upgrade should be refused with 401 or 403, it was ${status}`);

/** Before there is a WebSocket at all. */
export const HANDSHAKE: readonly Check[] = [
  {
    id: 'handshake.token-in-the-url',
    what: 'a token in the URL lets a client in that cannot send headers',
    source: 'recordings: every connection',
    profile: 'core',
    run: async (lab) => demandEqual(await lab.statusOf({ tokenIn: 'query' }), 101, 'the status of the upgrade'),
  },
  {
    id: 'handshake.no-token',
    what: 'no token: 401 or 403 instead of the upgrade',
    source: 'UFO',
    profile: 'core',
    run: async (lab) => refusesToken(await lab.statusOf({ token: '' })),
  },
  {
    id: 'handshake.wrong-token',
    what: 'a wrong token: 401 or 403 instead of the upgrade',
    source: 'UFO',
    profile: 'core',
    run: async (lab) => refusesToken(await lab.statusOf({ token: 'nobody-has-this-token' })),
  },
  {
    id: 'handshake.token-in-the-header',
    what: 'a token in the header Authorization lets a client in',
    source: DENIED,
    profile: 'strict',
    run: async (lab) => demandEqual(await lab.statusOf({ tokenIn: 'header' }), 101, 'the status of the upgrade'),
  },
  {
    id: 'handshake.wrong-header-token',
    what: 'a wrong token in the header is refused, whatever stands in the URL',
    source: DENIED,
    profile: 'strict',
    run: async (lab) => {
      refusesToken(await lab.statusOf({ token: 'nobody-has-this-token', tokenIn: 'header' }));
      refusesToken(await lab.statusOf({ headers: { Authorization: 'Bearer nobody-has-this-token' } }));
      refusesToken(await lab.statusOf({ headers: { Authorization: `Basic ${lab.device.token}` } }));
    },
  },
  {
    id: 'handshake.credential-in-the-url',
    what: 'a credential, which its device can send as a header, is refused in the URL: URLs end up in logs',
    source: 'our promise: secrets never in URLs',
    profile: 'strict',
    needs: ['registry'],
    run: async (lab) => {
      const token = await lab.revoker.credentialOf(lab.device.id, Date.now() + 60_000);
      refusesToken(await lab.statusOf({ token, tokenIn: 'query' }));
      demandEqual(await lab.statusOf({ token, tokenIn: 'header' }), 101, 'the status with the same in the header');
    },
  },
  {
    id: 'handshake.endless-token',
    what: 'a token of any length is refused like any other that is wrong, never with an error of the server',
    source: 'our promise: every payload has a limit',
    profile: 'strict',
    run: async (lab) => {
      for (const token of ['x'.repeat(600), 'x'.repeat(6_000), '\u0001\u0002', 'a.b.c', 'join-'.repeat(100)]) {
        const status = await lab.statusOf({ token });
        demand(status >= 400 && status < 500, `a token of ${token.length} characters was answered with ${status}`);
      }
    },
  },
  {
    id: 'handshake.foreign-origin',
    what: 'a page of another site is refused even with a good token',
    source: 'our promise: deny by default',
    profile: 'strict',
    run: async (lab) => {
      for (const origin of ['https://evil.example', 'null']) {
        demandEqual(await lab.statusOf({ headers: { Origin: origin } }), 403, `the status for the origin ${origin}`);
      }
    },
  },
  {
    id: 'handshake.other-path',
    what: 'there is no AIP under another path',
    source: 'our promise: AIP is GET /ws',
    profile: 'strict',
    run: async (lab) => {
      for (const path of ['/', '/wss', '/ws/other', '/%77%73/x']) {
        const status = await lab.statusOf({ url: new URL(path, lab.target.url).href });
        demand(status >= 400 && status < 500, `${path} should be refused, it was ${status}`);
      }
    },
  },
  {
    id: 'handshake.deflate',
    what: 'a client that offers compression is let in, compressed or not',
    source: 'UFO: both sides negotiate permessage-deflate, a server that declines is accepted',
    profile: 'core',
    run: async (lab) => {
      const peer = await lab.dial({ deflate: true });
      peer.send(registerOf(lab.device.id));
      await peer.nextOf('heartbeat');
    },
  },
  {
    id: 'handshake.slow',
    what: 'a handshake that does not come to an end is cut off',
    source: 'our promise: handshake timeout',
    profile: 'strict',
    waitsMs: AIP_LIMITS.handshakeMs + 2_000,
    run: async (lab) => {
      const socket = await rawSocket(lab.target.url);
      socket.write(upgradeHead(lab.target.url, lab.device.token).slice(0, 40));
      await socket.untilEnded(AIP_LIMITS.handshakeMs + 2_000 + lab.target.answerMs);
    },
  },
  {
    id: 'handshake.garbage',
    what: 'what is no HTTP is cut off or answered with 4xx, and the server goes on',
    source: 'our promise: every wrong frame is answered',
    profile: 'strict',
    run: async (lab) => {
      const socket = await rawSocket(lab.target.url);
      socket.write('\u0016\u0003\u0001\u0002\u0000 this is not HTTP\r\n\r\n');
      await socket.untilEnded(lab.target.answerMs);
      demand(/^$|^HTTP\/1\.1 4\d\d /u.test(socket.received), `it was answered with ${socket.received.slice(0, 40)}`);
      demandEqual(await lab.statusOf({}), 101, 'the status of the next upgrade');
    },
  },
  {
    id: 'handshake.silent-sockets',
    what: 'one identity does not get any number of sockets that never register',
    source: 'our promise: every queue has a limit',
    profile: 'strict',
    run: async (lab) => {
      const statuses = await Promise.all(Array.from({ length: 16 }, () => lab.statusOf({})));
      const refused = statuses.filter((status) => status !== 101);
      demand(refused.length > 0, '16 silent sockets of one identity were all let in');
      demand(
        refused.every((status) => status === 429 || status === 503),
        `they were refused with ${refused.join(', ')}`,
      );
    },
  },
];
