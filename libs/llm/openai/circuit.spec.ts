import { beforeEach, describe, expect, it } from '@jest/globals';
import { CircuitBreaker, type Shown } from './circuit.js';

const REST_MS = 1_000;

describe('a circuit', () => {
  let nowMs: number;
  let circuit: CircuitBreaker;
  const asked = (shows: Shown['shows']) => circuit.run(() => Promise.resolve({ shows }));
  const isOpen = async () => (await asked('health')) === 'open';

  beforeEach(() => {
    nowMs = 0;
    circuit = new CircuitBreaker({ failures: 2, openMs: REST_MS }, () => nowMs);
  });

  const opened = async () => {
    await asked('illness');
    await asked('illness');
  };

  it('opens after failures in a row, and not for what lies between good answers', async () => {
    await asked('illness');
    await asked('health');
    await asked('illness');
    expect(await isOpen()).toBe(false);
    await opened();
    expect(await isOpen()).toBe(true);
  });

  it('closes with the first good answer after its rest', async () => {
    await opened();
    nowMs = REST_MS - 1;
    expect(await isOpen()).toBe(true);
    nowMs = REST_MS;
    expect(await isOpen()).toBe(false);
    await asked('illness');
    expect(await isOpen()).toBe(false);
  });

  it.each(['illness', 'nothing'] as const)('rests anew after a trial that shows %s', async (shows) => {
    await opened();
    nowMs = REST_MS;
    expect(await asked(shows)).toEqual({ shows });
    nowMs = 2 * REST_MS - 1;
    expect(await isOpen()).toBe(true);
    nowMs = 2 * REST_MS;
    expect(await isOpen()).toBe(false);
  });

  it('is tried by one request at a time', async () => {
    await opened();
    nowMs = REST_MS;
    const { promise, resolve } = Promise.withResolvers<Shown>();
    const trial = circuit.run(() => promise);
    expect(await isOpen()).toBe(true);
    resolve({ shows: 'health' });
    await trial;
    expect(await isOpen()).toBe(false);
  });

  it('is tried again at once when a trial throws', async () => {
    await opened();
    nowMs = REST_MS;
    await expect(circuit.run(() => Promise.reject(new Error('a defect')))).rejects.toThrow('a defect');
    expect(await isOpen()).toBe(false);
  });

  it('is not closed by what was asked before it opened', async () => {
    const { promise, resolve } = Promise.withResolvers<Shown>();
    const early = circuit.run(() => promise);
    await opened();
    resolve({ shows: 'health' });
    await early;
    expect(await isOpen()).toBe(true);
  });
});
