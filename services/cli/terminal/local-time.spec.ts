import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { clockText, dayText, momentText, preciseMomentText, shortMomentText } from './local-time.js';

const AT = '2026-11-23T22:31:02.987Z';

describe('a time for people', () => {
  it.each([
    ['UTC', '2026-11-23 22:31:02Z', '11-23 22:31Z'],
    ['Europe/London', '2026-11-23 22:31:02Z', '11-23 22:31Z'],
    ['Europe/Berlin', '2026-11-23 23:31:02+01:00', '11-23 23:31+01:00'],
    ['Asia/Kolkata', '2026-11-24 04:01:02+05:30', '11-24 04:01+05:30'],
    ['America/St_Johns', '2026-11-23 19:01:02-03:30', '11-23 19:01-03:30'],
  ])('is that of %s, and says so', (zone, moment, short) => {
    expect([momentText(AT, zone), shortMomentText(AT, zone)]).toEqual([moment, short]);
    expect(`${dayText(AT, zone)} ${clockText(AT, zone)}`).toBe(moment);
    expect(preciseMomentText(Date.parse(AT), zone)).toBe(moment.replace(':02', ':02.987'));
  });

  it('tells the two hours of a night apart in which clocks go back', () => {
    const both = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((at) => clockText(at, 'Europe/Berlin'));
    expect(both).toEqual(['02:30:00+02:00', '02:30:00+01:00']);
  });

  it('is the same moment to whoever reads it back, wherever it was written', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'Asia/Kathmandu',
      'America/New_York',
      'Pacific/Chatham',
      undefined,
    );
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(seconds, zones, (second, zone) => {
        expect(Date.parse(momentText(second * 1_000, zone))).toBe(second * 1_000);
      }),
      { seed: 20_261_123, numRuns: 300 },
    );
  });
});
