import { describe, expect, it } from '@jest/globals';
import type { JsMsg } from '@nats-io/jetstream';
import { retryAfterFailure } from './outcome.js';
import { settle } from './settle.js';

/** Writes down what is done to it, in order. */
function recordedMessage(): { message: JsMsg; done: string[] } {
  const done: string[] = [];
  const message = {
    ack: () => done.push('ack'),
    nak: (delayMs: number) => done.push(`nak ${delayMs}`),
    term: (reason: string) => done.push(`term ${reason}`),
  } as unknown as JsMsg;
  return { message, done };
}

describe('settle', () => {
  it('acknowledges what is done', async () => {
    const { message, done } = recordedMessage();
    await settle(message, { kind: 'done' }, () => Promise.reject(new Error('nothing to bury')));
    expect(done).toEqual(['ack']);
  });

  it('asks for a retry after the delay, never after a negative one', async () => {
    const { message, done } = recordedMessage();
    const bury = () => Promise.reject(new Error('nothing to bury'));
    await settle(message, { kind: 'retry', delayMs: 250, reason: 'later' }, bury);
    await settle(message, { kind: 'retry', delayMs: -1, reason: 'now' }, bury);
    expect(done).toEqual(['nak 250', 'nak 0']);
  });

  it('terminates poison only after it is buried', async () => {
    const { message, done } = recordedMessage();
    await settle(message, { kind: 'poison', reason: 'not\n JSON' }, async (_, reason) => {
      await Promise.resolve();
      done.push(`bury ${reason}`);
    });
    expect(done).toEqual(['bury not\n JSON', 'term not JSON']);
  });

  it('leaves poison alone that could not be buried', async () => {
    const { message, done } = recordedMessage();
    const settling = settle(message, { kind: 'poison', reason: 'bad' }, () => Promise.reject(new Error('no DLQ')));
    await expect(settling).rejects.toThrow('no DLQ');
    expect(done).toEqual([]);
  });
});

describe('retryAfterFailure', () => {
  it('waits longer each time, at most 5 s', () => {
    const delays = [1, 2, 3, 6, 7, 1_000].map((deliveries) => {
      const outcome = retryAfterFailure(new Error('x'), deliveries);
      return outcome.kind === 'retry' ? outcome.delayMs : undefined;
    });
    expect(delays).toEqual([100, 200, 400, 3_200, 5_000, 5_000]);
  });
});
