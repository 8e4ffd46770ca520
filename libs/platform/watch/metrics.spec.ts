import { describe, expect, it, jest } from '@jest/globals';
import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it('shows the default metrics and its own ones with the service as label', async () => {
    const metrics = new Metrics('registry');
    metrics.counter('facts_total', 'facts appended', ['type']).inc({ type: 'DEVICE_LOST' }, 2);
    const text = await metrics.registry.metrics();
    expect(text).toContain('orrery_facts_total{type="DEVICE_LOST",service="registry"} 2');
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('gives the same metric for the same name', () => {
    const metrics = new Metrics('registry');
    expect(metrics.gauge('lag', 'x')).toBe(metrics.gauge('lag', 'x'));
  });

  it('keeps two services of one process apart', async () => {
    const [first, second] = [new Metrics('a'), new Metrics('b')];
    first.counter('only_a', 'x').inc();
    expect(await second.registry.metrics()).not.toContain('only_a');
  });

  it('looks things up when somebody collects, once for all who do at the same time', async () => {
    const metrics = new Metrics('registry');
    const gauge = metrics.gauge('devices', 'devices', ['status']);
    let looks = 0;
    metrics.look('devices', [gauge], async () => gauge.set({ status: `seen-${++looks}` }, 1));
    const [first, second] = await Promise.all([metrics.text(), metrics.text()]);
    expect(looks).toBe(1);
    for (const text of [first, second]) expect(text).toContain('orrery_devices{status="seen-1",service="registry"} 1');
    expect(await metrics.text()).not.toContain('seen-1');
  });

  it('shows everything else when a look fails, and no old value of that one', async () => {
    const metrics = new Metrics('registry');
    const gauge = metrics.gauge('devices', 'devices');
    let answers = true;
    metrics.look('bus', [gauge], () => {
      gauge.set(7);
      if (!answers) throw new Error('the bus is away');
    });
    expect(await metrics.text()).toContain('orrery_devices{service="registry"} 7');
    answers = false;
    const text = await metrics.text();
    expect(text).not.toContain('orrery_devices{');
    expect(text).toContain('orrery_look_failed{look="bus",service="registry"} 1');
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('does not wait for a look that hangs longer than who collects does', async () => {
    const metrics = new Metrics('registry');
    metrics.look('bus', [], () => new Promise(() => {}));
    jest.useFakeTimers({ now: 0 });
    const text = metrics.text();
    await jest.advanceTimersByTimeAsync(4_000);
    jest.useRealTimers();
    expect(await text).toContain('orrery_look_failed{look="bus",service="registry"} 1');
  });
});
