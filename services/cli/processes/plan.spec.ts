import { describe, expect, it } from '@jest/globals';
import {
  addressesWithCredentials,
  deviceEnvironment,
  givenSecrets,
  serviceEnvironment,
  withoutPassword,
} from '../system/environment.js';
import { homeAt, homeDirOf } from '../home/home.js';
import { heapFlags, instancesOf, localDevices, portChoice, SERVICES, startFlags, type ServiceName } from './plan.js';
import { deathsAfter, restartDelayMs, STABLE_MS } from './restarts.js';

describe('portChoice', () => {
  it('prefers the port people know', () =>
    expect(portChoice('console', {})).toEqual({ kind: 'preferred', port: 8080 }));
  it('takes exactly the one that is asked for', () =>
    expect(portChoice('aip', { ORRERY_AIP_PORT: '5001' })).toEqual({ kind: 'wanted', port: 5001 }));
  it('takes any free one for 0', () => expect(portChoice('nats', { ORRERY_NATS_PORT: '0' })).toEqual({ kind: 'any' }));
  it.each(['65536', '-1', 'http', '80.5'])('refuses %s by the name of the variable', (text) =>
    expect(() => portChoice('postgres', { ORRERY_POSTGRES_PORT: text })).toThrow(
      `ORRERY_POSTGRES_PORT: "${text}" is not a port; 0 is any free one.`,
    ),
  );
});

describe('instancesOf', () => {
  it('has one process of each service', () =>
    expect(instancesOf({}).map(({ name }) => name)).toEqual([
      'orchestrator',
      'registry',
      'aip-gateway',
      'device-agent',
      'planner',
      'logging',
      'console',
    ]));
  it('numbers replicas from the second one on, and only the first has the announced ports', () =>
    expect(instancesOf({ orchestrator: 3 }).slice(0, 3)).toEqual([
      { service: 'orchestrator', name: 'orchestrator', first: true },
      { service: 'orchestrator', name: 'orchestrator-2', first: false },
      { service: 'orchestrator', name: 'orchestrator-3', first: false },
    ]));
  it('refuses a service that does not exist', () =>
    expect(() => instancesOf({ planer: 2 })).toThrow(
      '--replicas: there is no service "planer"; there are orchestrator, ',
    ));
});

describe('localDevices', () => {
  it('begins with the ones the examples speak of', () =>
    expect(localDevices(3)).toEqual([
      { id: 'web-1', tags: ['web'] },
      { id: 'db-1', tags: ['db'] },
      { id: 'dev-3', tags: [] },
    ]));
  it('may be none', () => expect(localDevices(0)).toEqual([]));
});

describe('the room of a service for what is new', () => {
  it('is there at once, and within its bound', () => {
    for (const service of SERVICES)
      expect(heapFlags(service)).toContain(startFlags(service).join(' ').replace('--min-', '--max-'));
  });
});

describe('homeDirOf', () => {
  const owner = { uid: 1000, directory: '/home/ann' };
  it('is what the environment says', () =>
    expect(homeDirOf({ ORRERY_HOME: '/srv/orrery' }, owner)).toBe('/srv/orrery'));
  it('is in the home of its user', () => expect(homeDirOf({}, owner)).toBe('/home/ann/.orrery'));
  it('is outside of /root for root, where PostgreSQL could not go', () =>
    expect(homeDirOf({}, { uid: 0, directory: '/root' })).toBe('/var/lib/orrery'));
});

describe('environments', () => {
  const env = {
    PATH: '/bin',
    HOME: '/home/ann',
    OPENAI_API_KEY: 'sk-secret',
    OPENAI_API_KEY_FILE: '/key',
    ORRERY_MODEL: 'some-model',
    ORRERY_EMBEDDING_MODEL: 'points',
    ORRERY_LOG_LEVEL: 'debug',
    ORRERY_DATABASE_URL: 'postgres://u:p@h/d',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  const home = homeAt('/srv/orrery');
  const addresses = {
    natsUrl: 'nats://127.0.0.1:4222',
    natsMonitorUrl: 'http://127.0.0.1:8222',
    databaseUrl: 'postgres://orrery@127.0.0.1:5432/orrery',
    databasePasswordFile: '/srv/orrery/keys/postgres.password',
    foreignSeedFile: undefined,
    policyFile: undefined,
    runbooksDir: undefined,
  };
  const environmentOf = (service: ServiceName, policyFile?: string, given: NodeJS.ProcessEnv = env) =>
    serviceEnvironment(
      { service, name: service, first: true },
      { home, env: given, addresses: { ...addresses, policyFile }, ports: { health: 7, own: 5000 } },
    );

  it('tells a device nothing of ours and nothing that is secret', () =>
    expect(deviceEnvironment(env)).toEqual({ PATH: '/bin', HOME: '/home/ann' }));

  it('tells a service its own key, and what the operator set', () =>
    expect(environmentOf('orchestrator')).toMatchObject({
      ORRERY_NATS_URL: 'nats://127.0.0.1:4222',
      ORRERY_NATS_SEED_FILE: '/srv/orrery/keys/orchestrator.seed',
      ORRERY_INSTANCE: 'orchestrator',
      ORRERY_HEALTH_PORT: '7',
      ORRERY_LOG_LEVEL: 'debug',
    }));

  it('tells the database only to those that use it, and other secrets to nobody', () => {
    const place = {
      ORRERY_DATABASE_URL: addresses.databaseUrl,
      ORRERY_DATABASE_PASSWORD_FILE: addresses.databasePasswordFile,
    };
    expect(environmentOf('logging')).toMatchObject(place);
    for (const name of Object.keys(place)) expect(environmentOf('orchestrator')).not.toHaveProperty(name);
    expect(environmentOf('logging')).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
  });

  it('tells nobody a secret, but in which file it lies', () => {
    const given = { ...env, ORRERY_TEAM_TOKEN: 'geheim', OPENAI_TEAM_KEY: 'sk-other', ORRERY_KEEP_PROMPTS: 'on' };
    expect(Object.fromEntries(givenSecrets(given))).toEqual({
      OPENAI_API_KEY: 'sk-secret',
      ORRERY_TEAM_TOKEN: 'geheim',
      OPENAI_TEAM_KEY: 'sk-other',
    });
    for (const service of SERVICES) {
      const told = Object.values(environmentOf(service, undefined, given)).join(' ');
      expect(told).not.toMatch(/sk-|geheim|u:p@/u);
    }
  });

  it('takes the password out of the address of a database, whatever is in it', () => {
    expect(withoutPassword('postgres://u:a%2Fb@h:5/d?x=1')).toEqual({ url: 'postgres://u@h:5/d?x=1', password: 'a/b' });
    expect(withoutPassword('postgres://u@h/d')).toEqual({ url: 'postgres://u@h/d', password: undefined });
    const parameter = withoutPassword('postgres://u:old@h/d?password=a%2Fb&x=1');
    expect(parameter).toEqual({ url: 'postgres://u@h/d?x=1', password: 'a/b' });
    expect(withoutPassword('no address')).toEqual({ url: 'no address', password: undefined });
  });

  it('tells nobody how other programs come to what they need, and takes no address that says who comes', () => {
    const foreign = {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer geheim',
      HTTPS_PROXY: 'http://u:geheim@proxy:3128',
      SSH_AUTH_SOCK: '/geheim',
    };
    for (const service of SERVICES) {
      expect(Object.values(environmentOf(service, undefined, { ...env, ...foreign })).join(' ')).not.toContain(
        'geheim',
      );
    }
    expect(
      addressesWithCredentials({
        ORRERY_NATS_URL: 'nats://a:4222, nats://geheim@b:4222',
        OPENAI_BASE_URL: 'https://u:geheim@models/v1',
        ORRERY_DATABASE_URL: 'postgres://u:p@h/d',
        ORRERY_NATS_MONITOR_URL: 'http://127.0.0.1:8222',
        ORRERY_LOG_LEVEL: 'debug',
        HOME: 'http://u:p@h',
      }),
    ).toEqual(['ORRERY_NATS_URL', 'OPENAI_BASE_URL']);
  });

  it('tells who asks models which one and where its key is, and nobody else', () => {
    const settings = { OPENAI_API_KEY_FILE: '/key', ORRERY_MODEL: 'some-model', ORRERY_EMBEDDING_MODEL: 'points' };
    for (const service of ['device-agent', 'planner'] as const) expect(environmentOf(service)).toMatchObject(settings);
    expect(environmentOf('planner')).not.toHaveProperty('OPENAI_API_KEY');
    for (const service of SERVICES) {
      if (service === 'device-agent' || service === 'planner') continue;
      for (const name of Object.keys(settings)) expect(environmentOf(service)).not.toHaveProperty(name);
    }
  });

  it('tells of the policy that the operator wrote', () => {
    expect(environmentOf('device-agent', '/srv/orrery/policy.yaml')).toMatchObject({
      ORRERY_POLICY_FILE: '/srv/orrery/policy.yaml',
    });
    expect(environmentOf('device-agent')).not.toHaveProperty('ORRERY_POLICY_FILE');
  });

  it('tells a service its port', () => {
    expect(environmentOf('aip-gateway')).toMatchObject({ ORRERY_AIP_PORT: '5000' });
  });
});

describe('restarts', () => {
  it('starts at once after the first death, and ever later after more of them', () =>
    expect([1, 2, 3, 4, 20].map(restartDelayMs)).toEqual([0, 250, 500, 1_000, 10_000]));
  it('counts deaths in a row', () => expect(deathsAfter(2, STABLE_MS - 1)).toBe(3));
  it('forgets them after a long life', () => expect(deathsAfter(9, STABLE_MS)).toBe(1));
});
