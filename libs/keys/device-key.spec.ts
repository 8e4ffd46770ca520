import { describe, expect, it } from '@jest/globals';
import { deviceKeyOf, makeDeviceSecret, parseDeviceSecret, publicKeyOf, thumbprintOf } from './device-key.js';

describe('the key of a device', () => {
  it('is made anew each time, and kept as JSON', () => {
    const secret = makeDeviceSecret();
    expect(parseDeviceSecret(JSON.stringify(secret))).toEqual(secret);
    expect(publicKeyOf(makeDeviceSecret())).not.toBe(publicKeyOf(secret));
  });

  it('is none when something else was kept, or half of it', () => {
    const { d: _, ...half } = makeDeviceSecret();
    for (const text of ['', 'no JSON', 'null', '{}', JSON.stringify(half), JSON.stringify({ ...half, d: 'short' })]) {
      expect(() => parseDeviceSecret(text)).toThrow();
    }
  });

  it('is none when its halves are of two keys', () => {
    const mixed = { ...makeDeviceSecret(), x: publicKeyOf(makeDeviceSecret()) };
    expect(() => parseDeviceSecret(JSON.stringify(mixed))).toThrow();
  });

  it('has one spelling', () => {
    // The last letter of 32 bytes in base64url carries two bits that mean nothing: only zeros are right.
    const key = `${'A'.repeat(42)}A`;
    expect(deviceKeyOf(key)).toBe(key);
    expect(deviceKeyOf(`${'A'.repeat(42)}B`)).toBeUndefined();
    for (const other of [undefined, null, 7, '', 'A'.repeat(42), 'A'.repeat(44)]) {
      expect(deviceKeyOf(other)).toBeUndefined();
    }
  });

  it('has the thumbprint of RFC 8037, appendix A.3', async () => {
    const key = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(await thumbprintOf(key)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});
