import { describe, expect, it } from '@jest/globals';
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
});
