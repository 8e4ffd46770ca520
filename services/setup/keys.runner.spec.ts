import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyOf, tokenHash, writeSecret } from '#libs/keys';
import { dropBusPerson, keepBusPerson, natsUsers, parseActors } from '#libs/messaging';
import { keepOidcSecret, makeKeys, renewAdminToken, turnOffAdminToken } from './keys.runner.js';
import { OWNERS, secretsAt, WITH_METRICS, type Secrets } from './secrets.js';

let secrets: Secrets;
let said: string[];
const say = (line: string): void => void said.push(line);
const text = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim();

beforeEach(async () => {
  secrets = secretsAt(await mkdtemp(join(tmpdir(), 'orrery-setup-')));
  said = [];
});
afterEach(() => rm(secrets.root, { recursive: true, force: true }));

/** Every file with its content and mode. */
async function contents(): Promise<Record<string, string>> {
  const files = (await readdir(secrets.root, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const entries = files.map(async ({ parentPath, name }) => {
    const file = join(parentPath, name);
    return [file, `${((await stat(file)).mode & 0o777).toString(8)} ${await text(file)}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe('makeKeys', () => {
  it('has a directory for every user of the bus, and makes all of it private', async () => {
    expect(OWNERS).toEqual(expect.arrayContaining(natsUsers().map(({ name }) => name)));
    await makeKeys(secrets, say);
    for (const owner of OWNERS) expect((await stat(secrets.directory(owner))).mode & 0o777).toBe(0o700);
    for (const content of Object.values(await contents())) expect(content).toMatch(/^600 /u);
  });

  it('lets the server listen for other containers, know every user, and no seed', async () => {
    await makeKeys(secrets, say);
    const config = await text(secrets.natsConfigFile);
    expect(config).toContain('listen: "0.0.0.0:4222"');
    expect(config).toContain('sync_interval: always');
    for (const { name } of natsUsers()) {
      expect(config).toContain(`# ${name}\n`);
      expect(config).not.toContain(await text(secrets.seedFile(name)));
    }
    expect(config).toContain(await text(secrets.passwordFile('external')));
  });

  it('tells the registry whom the keys stand for', async () => {
    await makeKeys(secrets, say);
    const actors = parseActors(await text(secrets.actorsFile));
    const known = await Promise.all(
      ['cli', 'console', 'planner', 'admin', 'external', 'aip-gateway', 'auditor', 'device-agent'].map(async (user) => [
        await keyOf(secrets.seedFile(user)),
        expect.objectContaining({ id: user }),
      ]),
    );
    expect(Object.fromEntries(actors ?? [])).toEqual(Object.fromEntries(known));
    expect(secrets.actorsFile.startsWith(`${secrets.directory('registry')}/`)).toBe(true);
  });

  it('gives the database password to those who need it, the same to all', async () => {
    await makeKeys(secrets, say);
    const password = await text(secrets.databasePasswordFile('postgres'));
    expect(password).toHaveLength(32);
    expect(await text(secrets.databasePasswordFile('registry'))).toBe(password);
    expect(await text(secrets.databasePasswordFile('logging'))).toBe(password);
    await expect(text(secrets.databasePasswordFile('orchestrator'))).rejects.toThrow();
  });

  it('gives every service the hash of the token for metrics, and the token to nobody', async () => {
    await makeKeys(secrets, say);
    const token = await text(secrets.metricsTokenFile);
    for (const service of WITH_METRICS)
      expect(await text(secrets.metricsTokenHashFile(service))).toBe(tokenHash(token));
    expect(said.join()).not.toContain(token);
  });

  it('changes nothing and tells no token when it runs again', async () => {
    await makeKeys(secrets, say);
    const before = await contents();
    const token = /^admin token, shown only now: (ora_\S+)$/u.exec(said[0] ?? '')?.[1] ?? '';
    expect(await text(secrets.adminTokenHashFile)).toBe(tokenHash(token));
    said = [];
    await makeKeys(secrets, say);
    expect(await contents()).toEqual(before);
    expect(said).toEqual(['keys: as they were']);
  });

  it('makes what a killed predecessor had not come to', async () => {
    await makeKeys(secrets, say);
    const before = await contents();
    const lost = [secrets.natsConfigFile, secrets.databasePasswordFile('logging')];
    for (const file of lost) await rm(file);
    await makeKeys(secrets, say);
    expect(await contents()).toEqual(before);
  });

  it('lets in whom an operator has let in, and keeps to it when it runs again', async () => {
    await makeKeys(secrets, say);
    const before = await text(secrets.natsConfigFile);
    const key = await keyOf(join(secrets.peopleKeys, 'anna.seed'));
    await keepBusPerson(secrets.peopleKeys, { id: 'anna', kind: 'person', key });
    await makeKeys(secrets, say);
    expect(await text(secrets.natsConfigFile)).toContain(key);
    await dropBusPerson(secrets.peopleKeys, { key });
    await makeKeys(secrets, say);
    expect(await text(secrets.natsConfigFile)).toBe(before);
  });

  it('says that nats-server has to read a changed configuration', async () => {
    await makeKeys(secrets, say);
    await writeSecret(secrets.natsConfigFile, 'of an earlier release');
    said = [];
    await makeKeys(secrets, say);
    expect(said[0]).toBe('nats.conf has changed; it counts from the step "nats" on');
    expect(await text(secrets.natsConfigFile)).toContain('ORRERY {');
  });
});

describe('renewAdminToken', () => {
  it('lets in whoever has the newest token, and nobody else', async () => {
    await makeKeys(secrets, say);
    said = [];
    await renewAdminToken(secrets, say);
    expect(said).toHaveLength(1);
    expect(await text(secrets.adminTokenHashFile)).toBe(tokenHash(said[0]?.split(': ')[1] ?? ''));
  });

  it('lets nobody in when it is off, until there is a new one', async () => {
    await makeKeys(secrets, say);
    await turnOffAdminToken(secrets, say);
    expect(await text(secrets.adminTokenHashFile)).toBe('off');
    await makeKeys(secrets, say);
    expect(await text(secrets.adminTokenHashFile)).toBe('off');
    await renewAdminToken(secrets, say);
    expect(await text(secrets.adminTokenHashFile)).toMatch(/^[0-9a-f]{64}$/u);
  });
});

describe('keepOidcSecret', () => {
  it('keeps what it is given for the console alone, says none of it, and keeps nothing when there is nothing', async () => {
    await makeKeys(secrets, say);
    said = [];
    expect(await keepOidcSecret(secrets, 'a-secret-of-the-provider\n', say)).toBe(true);
    expect(await keepOidcSecret(secrets, ' \n', say)).toBe(false);
    expect((await contents())[secrets.oidcSecretFile]).toBe('600 a-secret-of-the-provider');
    expect(secrets.oidcSecretFile.startsWith(`${secrets.directory('console')}/`)).toBe(true);
    expect(said.join()).not.toContain('a-secret');
  });
});
