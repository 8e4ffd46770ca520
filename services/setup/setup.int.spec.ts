import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { busUsers, proveActor } from '#libs/keys';
import { Actors, connectBus, natsUsers } from '#libs/messaging';
import { startTestNats, type TestNats } from '#libs/testing';
import { subjects } from '#proto';
import { makeKeys } from './keys.runner.js';
import { secretsAt, type Secrets } from './secrets.js';
import { runSetup } from './setup.runner.js';

const AT = '2026-11-20T15:40:40.489Z';
const command = { subject: subjects.verb('run-1', 'CANCEL'), body: { id: 'verb-1' } };

let server: TestNats;
let secrets: Secrets;
let said: string[];

beforeAll(async () => {
  secrets = secretsAt(await mkdtemp(join(tmpdir(), 'orrery-setup-')));
  await makeKeys(secrets, () => undefined);
  server = await startTestNats({ users: await busUsers(natsUsers(), secrets) });
});
afterAll(async () => {
  await server.stop();
  await rm(secrets.root, { recursive: true, force: true });
});

async function streams(): Promise<string[]> {
  said = [];
  const env = { ORRERY_SECRETS_DIR: secrets.root, ORRERY_NATS_URL: server.url };
  expect(await runSetup(['streams'], { env, say: (line) => void said.push(line) })).toBe(0);
  return said;
}

describe('the step "streams"', () => {
  it('says whose the keys are, and has nothing to do the second time', async () => {
    expect(await streams()).toEqual([
      expect.stringMatching(/^streams: \d+ made, 0 changed$/u),
      'actors: 5 written, 0 removed',
    ]);
    expect(await streams()).toEqual(['streams: as they have to be', 'actors: as they have to be']);
    const user = 'orchestrator';
    const seedFile = secrets.seedFile(user);
    const nc = await connectBus({ url: server.url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile });
    const actors = await Actors.open(nc);
    const proof = proveActor((await readFile(secrets.seedFile('cli'), 'utf8')).trim(), { ...command, at: AT });
    expect(actors.actorOf(proof, { ...command, now: Date.parse(AT) })).toMatchObject({ actor: { id: 'cli' } });
    await actors.stop();
    await nc.close();
  });

  it('does not take everybody for nobody when it is not told whose the keys are', async () => {
    await rm(secrets.actorsFile);
    await expect(streams()).rejects.toThrow(/run the step "keys" again/u);
    await makeKeys(secrets, () => undefined);
    expect(await streams()).toEqual(['streams: as they have to be', 'actors: as they have to be']);
  });
});
