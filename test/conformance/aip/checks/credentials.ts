import { AIP_CLOSE } from '#proto';
import { demandEqual, type Check } from '../check.js';
import type { Client } from '../client.js';
import { revisedRegisterOf } from '../frames.js';
import type { Account, Lab } from '../lab.js';
import type { Peer } from '../peer.js';

/** On a busy machine a registration takes its time. */
const LASTS_TIMES = [1, 4, 16];

/** Credentials that are renewed, expire, or count no more. */
export const CREDENTIALS: readonly Check[] = [
  {
    id: 'r2.wrong-credential',
    what: 'a renewed credential that is none is answered with ERROR, and the old one goes on counting',
    source: 'our promise: credential',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      device.send({ type: 'credential', orrery: { credential: 'eyJhbGciOiJub25lIn0.e30.' } });
      await device.peer.nextOf('error');
      device.heartbeat();
      await device.peer.nextOf('heartbeat');
    },
  },
  {
    id: 'r2.credential-of-another',
    what: 'the credential of another device is answered with ERROR, and changes nothing',
    source: 'our promise: identity comes from the credential',
    profile: 'revision-2',
    needs: ['registry', 'two-devices'],
    run: async (lab) => {
      const device = await lab.resumed();
      const credential = await lab.revoker.credentialOf(lab.otherDevice.id, Date.now() + 60_000);
      device.send({ type: 'credential', orrery: { credential } });
      await device.peer.nextOf('error');
      device.heartbeat();
      await device.peer.nextOf('heartbeat');
    },
  },
  {
    id: 'r2.credential-expires',
    what: 'a connection whose credential expires is closed with 4002',
    source: 'our promise: at expiry the gateway closes with 4002',
    profile: 'revision-2',
    needs: ['registry'],
    waitsMs: 3_000,
    run: async (lab) => {
      const { device } = await whileItLasts(lab, 1_500, async (token) => {
        const found = await lab.revised(2, { id: lab.device.id, token });
        found.resume();
        return found;
      });
      const { code } = await device.peer.untilClosed(3_000 + lab.target.answerMs);
      demandEqual(code, AIP_CLOSE.expired, 'the close code');
    },
  },
  {
    id: 'r2.credential-renewed',
    what: 'a renewed credential keeps the connection beyond the expiry of the old one',
    source: 'our promise: tells an open connection by the frame credential',
    profile: 'revision-2',
    needs: ['registry'],
    waitsMs: 5_500,
    run: async (lab) => {
      const { device, expiresAt } = await whileItLasts(lab, 3_000, async (token) => {
        const credential = await lab.revoker.credentialOf(lab.device.id, Date.now() + 300_000);
        const found = await lab.revised(2, { id: lab.device.id, token });
        found.resume();
        await found.peer.nextOf('resumed');
        found.send({ type: 'credential', orrery: { credential } });
        await found.peer.nextOf('heartbeat');
        return found;
      });
      await pastInstant(expiresAt + 1_000);
      device.heartbeat();
      await device.peer.nextOf('heartbeat');
    },
  },
  {
    id: 'identity.revoked',
    what: 'a device whose credentials are revoked is sent away with 4001 within 2 s, and not let in again',
    source: 'our promise: revocation <= 2 s',
    profile: 'strict',
    needs: ['registry'],
    waitsMs: 2_000,
    run: async (lab) => {
      const { id, token } = await lab.revoker.newAccount('device');
      const peer = await lab.dial({ token, tokenIn: 'header' });
      peer.send(revisedRegisterOf(id, 1));
      await peer.nextOf('heartbeat');
      await demandRevoked(lab, { id, token }, peer);
    },
  },
  {
    id: 'identity.constellation-revoked',
    what: 'a constellation client whose credentials are revoked is sent away with 4001 within 2 s, and not let in again',
    source: 'our promise: revocation <= 2 s',
    profile: 'strict',
    needs: ['registry'],
    waitsMs: 2_000,
    run: async (lab) => {
      const account = await lab.revoker.newAccount('constellation');
      const { peer } = await lab.constellation(null, account);
      await demandRevoked(lab, account, peer);
    },
  },
];

async function demandRevoked(lab: Lab, { id, token }: Account, peer: Peer): Promise<void> {
  await lab.revoker.revoke(id);
  demandEqual((await peer.untilClosed(2_000 + lab.target.answerMs)).code, AIP_CLOSE.revoked, 'the close code');
  demandEqual(await lab.statusOf({ token }), 401, 'the status of the next upgrade');
}

/** What a device does with a credential that ends soon. One that ends before it is done shows nothing: the next lasts longer. */
async function whileItLasts(
  lab: Lab,
  leastMs: number,
  begin: (token: string) => Promise<Client>,
): Promise<{ device: Client; expiresAt: number }> {
  let failure: unknown;
  for (const lastsMs of LASTS_TIMES.map((times) => times * leastMs)) {
    const expiresAt = Date.now() + lastsMs;
    const token = await lab.revoker.credentialOf(lab.device.id, expiresAt);
    try {
      return { device: await begin(token), expiresAt };
    } catch (error) {
      if (Date.now() < expiresAt) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** The clock itself is what is waited for here. */
async function pastInstant(ms: number): Promise<void> {
  while (Date.now() <= ms) await new Promise((resolve) => setTimeout(resolve, Math.max(1, ms + 1 - Date.now())));
}
