import { expect, it } from '@jest/globals';
import { tokenHash } from '#libs/keys';
import { MetricsAccess, type Scrape } from './metrics-access.js';

const HASH = tokenHash('t0ken');
const LOCAL: Scrape = { address: '127.0.0.1', host: '127.0.0.1:8081', authorization: undefined, isForwarded: false };
const FAR: Scrape = { ...LOCAL, address: '10.0.0.7', host: 'logging:8081' };
const statusOf = (scrape: Partial<Scrape>, hash: string | undefined = HASH) => {
  const verdict = new MetricsAccess(hash).judge({ ...LOCAL, ...scrape });
  return verdict.ok ? 200 : verdict.status;
};

it.each<Partial<Scrape>>([
  {},
  { address: '::1', host: '[::1]:8081' },
  { address: '::ffff:127.0.0.1', host: 'localhost' },
])('shows metrics to this machine: %j', (scrape) => expect(statusOf(scrape)).toBe(200));

it.each<Partial<Scrape>>([
  FAR,
  { ...FAR, host: 'localhost' },
  { ...FAR, authorization: 'Bearer wrong' },
  { ...FAR, authorization: `Bearer ${HASH}` },
  { ...FAR, authorization: 'Basic t0ken' },
  { isForwarded: true },
  { host: 'evil.example' },
  { host: undefined },
  { address: undefined },
])('asks %j for a token', (scrape) => expect(statusOf(scrape)).toBe(401));

it('takes the token from anywhere', () => {
  expect(statusOf({ ...FAR, authorization: 'Bearer t0ken' })).toBe(200);
  expect(statusOf({ isForwarded: true, authorization: 'bearer t0ken' })).toBe(200);
});

it('shows nobody anything beyond this machine while there is no token', () => {
  expect(new MetricsAccess(undefined).judge({ ...FAR, authorization: 'Bearer ' })).toMatchObject({ status: 403 });
  expect(new MetricsAccess(undefined).judge({ ...FAR, authorization: 'Bearer t0ken' })).toMatchObject({ status: 403 });
  expect(new MetricsAccess(undefined).judge(LOCAL)).toEqual({ ok: true });
});
