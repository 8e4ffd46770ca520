import { describe, expect, it } from '@jest/globals';
import { renderNatsConfig, type NatsConfigOptions, type NatsUser } from './nats-config.js';

const options: NatsConfigOptions = {
  serverName: 'orrery-1',
  port: 4333,
  monitorPort: 8333,
  storeDir: '/data/store',
  logFile: '/data/nats.log',
};
const planner: NatsUser = {
  name: 'planner',
  nkeyPublic: `U${'A'.repeat(55)}`,
  publish: ['orrery.plan.>', '$JS.API.INFO'],
  subscribe: ['_INBOX_planner.>'],
};
const withUser = (change: Partial<NatsUser>): string =>
  renderNatsConfig({ ...options, users: [{ ...planner, ...change }] });

describe('renderNatsConfig', () => {
  it('listens on the loopback interface and syncs before it acknowledges', () => {
    const config = renderNatsConfig(options);
    expect(config).toContain('listen: "127.0.0.1:4333"');
    expect(config).toContain('http: "127.0.0.1:8333"');
    expect(config).toContain('sync_interval: always');
    expect(config).toContain('max_payload: 8MB');
    expect(config).toContain('default_max_consumers: 2000');
  });

  it('listens elsewhere when told so, for clients and monitoring alike', () => {
    const config = renderNatsConfig({ ...options, host: '0.0.0.0' });
    expect(config).toContain('listen: "0.0.0.0:4333"');
    expect(config).toContain('http: "0.0.0.0:8333"');
    expect(config).not.toContain('127.0.0.1');
  });

  it.each(['', 'localhost"\nhttp: "0.0.0.0', '0.0.0.0:4222', '*'])('refuses %j as an address', (host) => {
    expect(() => renderNatsConfig({ ...options, host })).toThrow(RangeError);
  });

  it('logs into the file with a limit, or to whoever started it', () => {
    expect(renderNatsConfig(options)).toMatch(/log_file: "\/data\/nats.log"\nlogfile_size_limit: 16MB/u);
    expect(renderNatsConfig({ ...options, logFile: undefined })).not.toContain('log');
  });

  it('has no accounts without users', () => {
    expect(renderNatsConfig(options)).not.toContain('accounts');
  });

  it('gives JetStream to ORRERY and keeps SYS apart', () => {
    const config = withUser({});
    expect(config).toMatch(/SYS \{\}\s+ORRERY \{\s+jetstream: enabled/u);
    expect(config).toContain('system_account: SYS');
    expect(config).toContain('authorization { timeout: 15 }');
    expect(config).toContain('publish: { allow: ["orrery.plan.>", "$JS.API.INFO"] }');
    expect(config).toContain('subscribe: { allow: ["_INBOX_planner.>"] }');
    expect(config).not.toContain('allow_responses');
  });

  it('takes a password where a client has nothing but a socket, and no other text in its place', () => {
    const { name, publish, subscribe } = planner;
    const config = (password: string) =>
      renderNatsConfig({ ...options, users: [{ name, password, publish, subscribe }] });
    expect(config('p'.repeat(32))).toContain(`user: "planner"\n        password: "${'p'.repeat(32)}"`);
    expect(config('p'.repeat(32))).not.toContain('nkey');
    for (const bad of ['short', `$2a$11$${'x'.repeat(30)}`, `${'p'.repeat(32)}"`])
      expect(() => config(bad)).toThrow(RangeError);
  });

  it('allows responses only when asked to', () => {
    expect(withUser({ allowResponses: true })).toContain('allow_responses: true');
    expect(withUser({ allowResponses: false })).not.toContain('allow_responses');
  });

  it('denies everything for an empty list', () => {
    expect(withUser({ publish: [] })).toContain('publish: { deny: [">"] }');
  });

  it('lets an account outside reach what any of its users names, once, and nothing else', () => {
    const limits = { connectionsMax: 1, subscriptionsMax: 1, payloadBytesMax: 1 };
    const users = ['a', 'b'].map((key, index) => ({
      ...planner,
      nkeyPublic: `U${'AB'.charAt(index).repeat(55)}`,
      outside: { name: 'PERSON_anna', services: [{ subject: 'all' }, { subject: key }], hears: ['news'], ...limits },
    }));
    const config = renderNatsConfig({ ...options, users });
    expect(config.match(/PERSON_anna \{/gu)).toHaveLength(1);
    expect(config.match(/service: \{ account: ORRERY, subject: "\w+" \}/gu)).toEqual(
      ['all', 'a', 'b'].map((subject) => `service: { account: ORRERY, subject: "${subject}" }`),
    );
    expect(config.match(/\{ (?:service|stream): "\w+", accounts: \[PERSON_anna\] \}/gu)).toHaveLength(4);
  });

  it('quotes a path with spaces, quotes and backslashes', () => {
    expect(renderNatsConfig({ ...options, storeDir: '/da ta/"x"\\y' })).toContain('store_dir: "/da ta/\\"x\\"\\\\y"');
  });

  it.each([
    ['a user name that would end its comment', { name: 'a\nb' }],
    ['a key that is not a public user key', { nkeyPublic: `SU${'A'.repeat(56)}` }],
    ['a subject with a quote', { publish: ['a"] } }'] }],
    ['a subject with a space', { subscribe: ['a b'] }],
    ['an empty subject', { subscribe: [''] }],
  ])('refuses %s', (_, change) => {
    expect(() => withUser(change)).toThrow(RangeError);
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])('refuses %p as a port', (port) => {
    expect(() => renderNatsConfig({ ...options, port })).toThrow(RangeError);
  });
});
