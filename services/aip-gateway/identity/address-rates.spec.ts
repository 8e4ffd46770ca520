import { describe, expect, it } from '@jest/globals';
import { AddressRates, networkOf } from './address-rates.js';

const OPTIONS = {
  perAddress: { perSecond: 1, burst: 2 },
  inTotal: { perSecond: 10, burst: 4 },
  addressesMax: 3,
};

describe('AddressRates', () => {
  it('lets an address have its burst, then one a second', () => {
    const rates = new AddressRates(OPTIONS, 0);
    expect([rates.take('a', 0), rates.take('a', 0)]).toEqual([0, 0]);
    expect(rates.take('a', 0)).toBe(1_000);
    expect(rates.take('a', 900)).toBeGreaterThan(0);
    expect(rates.take('a', 1_000)).toBe(0);
  });

  it('refuses for as long as it says, however often it is asked meanwhile', () => {
    const rates = new AddressRates(OPTIONS, 0);
    for (let count = 0; count < 100; count++) rates.take('a', 0);
    expect(rates.take('a', 1_000)).toBe(0);
  });

  it('does not let one address pay for another, but all together', () => {
    const rates = new AddressRates(OPTIONS, 0);
    for (let count = 0; count < 100; count++) rates.take('a', 0);
    expect([rates.take('b', 0), rates.take('b', 0)]).toEqual([0, 0]);
    expect(rates.take('c', 0)).toBe(100);
    expect(rates.take('c', 100)).toBe(0);
  });

  it('forgets the address that was quiet for longest', () => {
    const rates = new AddressRates({ ...OPTIONS, inTotal: { perSecond: 10, burst: 100 } }, 0);
    for (const address of ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']) rates.take(address, 0);
    expect(rates.take('b', 0)).toBeGreaterThan(0);
    expect(rates.take('a', 0)).toBe(0);
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('%s belongs to %s', (address, network) => expect(networkOf(address)).toBe(network));
});
