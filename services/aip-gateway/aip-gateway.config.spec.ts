import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '#libs/platform';
import { AipGatewayConfig } from './aip-gateway.config.js';

const read = (environment: Record<string, string>) => parseConfig(AipGatewayConfig, environment);

describe('AipGatewayConfig', () => {
  it('has plain TCP on port 5000 for its default', () =>
    expect(read({})).toEqual({
      port: 5_000,
      origins: [],
      connectionsMax: 10_000,
      liveness: { deadAfterMs: 45_000, pingEveryMs: 20_000 },
      tls: undefined,
      injectFile: undefined,
      offerDir: expect.stringContaining('device-archive'),
    }));

  it('waits for silent devices as long as it is told, within reason', () => {
    const { liveness } = read({ ORRERY_AIP_DEAD_AFTER_MS: '9000' });
    expect(liveness).toEqual({ deadAfterMs: 9_000, pingEveryMs: 4_000 });
    expect(() => read({ ORRERY_AIP_DEAD_AFTER_MS: '100' })).toThrow('ORRERY_AIP_DEAD_AFTER_MS');
  });

  it('takes a certificate with its key, and perhaps the authority of clients', () => {
    const files = { ORRERY_AIP_TLS_CERT_FILE: 'c', ORRERY_AIP_TLS_KEY_FILE: 'k' };
    expect(read(files).tls).toEqual({ certFile: 'c', keyFile: 'k', clientCaFile: undefined });
    expect(read({ ...files, ORRERY_AIP_TLS_CLIENT_CA_FILE: 'a' }).tls).toMatchObject({ clientCaFile: 'a' });
  });

  it.each([
    [
      { ORRERY_AIP_TLS_CERT_FILE: 'c' },
      'ORRERY_AIP_TLS_KEY_FILE is not set; it must be set together with ORRERY_AIP_TLS_CERT_FILE.',
    ],
    [
      { ORRERY_AIP_TLS_KEY_FILE: 'k' },
      'ORRERY_AIP_TLS_CERT_FILE is not set; it must be set together with ORRERY_AIP_TLS_KEY_FILE.',
    ],
    [{ ORRERY_AIP_TLS_CLIENT_CA_FILE: 'a' }, 'ORRERY_AIP_TLS_CERT_FILE is not set; it must be set together with'],
  ])('refuses half of it: %j', (environment, sentence) => {
    expect(() => read(environment)).toThrow(sentence);
  });
});
