import { describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { AIP_LIMITS } from '#proto';
import { LiveOutput } from './live-output.adapter.js';

function rig() {
  const sent: { subject: string; bytes: number }[] = [];
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const nc = {
    publish: (subject: string, body: string) => void sent.push({ subject, bytes: Buffer.byteLength(body) }),
  } as Partial<NatsConnection> as NatsConnection;
  const output = new LiveOutput({ nc, clock, deviceId: 'web-1' });
  const say = (text: string): boolean => output.publish('r.t.1.0.0', { stream: 'stdout', offset: 0, text });
  return { sent, clock, say, bytes: () => sent.reduce((sum, { bytes }) => sum + bytes, 0) };
}

describe('LiveOutput', () => {
  it('publishes what a device writes, for its command', () => {
    const { sent, say } = rig();
    expect(say('hello')).toBe(true);
    expect(sent).toMatchObject([{ subject: 'orrery.output.r.t.1.0.0' }]);
  });

  it('leaves out pieces of a device that sends too many', () => {
    const { clock, say } = rig();
    const taken = (): number => Array.from({ length: 2_000 }, () => say('x')).filter(Boolean).length;
    expect(taken()).toBe(800);
    clock.nowMs = 1_000;
    expect(taken()).toBe(400);
  });

  it('leaves out pieces that take many bytes of the bus, as they are written there', () => {
    const { clock, say, bytes } = rig();
    // A control character has six bytes as JSON.
    const large = '\u0001'.repeat(AIP_LIMITS.outputChunkCharsMax);
    for (let second = 0; second <= 10; second++) {
      clock.nowMs = second * 1_000;
      for (let count = 0; count < 400; count++) say(large);
    }
    expect(bytes()).toBeLessThanOrEqual((8 + 10 * 4) * 1024 * 1024);
    expect(bytes()).toBeGreaterThan(40 * 1024 * 1024);
  });
});
