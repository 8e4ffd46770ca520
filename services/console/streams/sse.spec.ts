import { describe, expect, it } from '@jest/globals';
import { FeedMessage, type FeedMessage as Message } from '#proto';
import { isEnd, sseEvent, sseOutput } from './sse.js';

const message = (change: Partial<Message>): Message => ({
  ...FeedMessage.parse({
    specversion: '1.0',
    id: 'r1-1',
    source: '/orrery/runs/r1',
    type: 'orrery.TASK_STARTED',
    time: '2026-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    orreryrunid: 'r1',
    orrerysequence: 1,
    orrerysource: '1.0',
    data: {},
  }),
  ...change,
});

describe('sseEvent', () => {
  it('names id, type and data', () => {
    const text = sseEvent(message({ data: { text: 'a\nb\r\n\ndata: c' } }));
    expect(text.split('\n').map((line) => line.split(':', 1)[0])).toEqual(['id', 'event', 'data', '', '']);
    expect(text).toContain('id: r1-1\nevent: TASK_STARTED\n');
  });

  it('cannot be broken out of by an id', () => {
    expect(sseEvent(message({ id: 'a\n\ndata: evil\r' })).split('\n')[0]).toBe('id: adata: evil');
  });
});

describe('sseOutput', () => {
  it('cannot be broken out of by what a task writes', () => {
    const chunk = { commandId: 'r1.a.1.0.0', deviceId: 'web-1', stream: 'stdout', offset: 0 } as const;
    const text = sseOutput({ ...chunk, text: 'a\n\nevent: evil\r\rdata: b' });
    expect(text.split(/[\r\n]/u).map((line) => line.split(':', 1)[0])).toEqual(['event', 'data', '', '']);
  });
});

describe('isEnd', () => {
  it.each(['orrery.RUN_COMPLETED', 'orrery.RUN_FAILED'] as const)('%s ends the stream', (type) =>
    expect(isEnd(message({ type }))).toBe(true),
  );
  it.each(['orrery.TASK_STARTED', 'orrery.RUN_ANNOTATED', 'orrery.RUN_PAUSED'] as const)('%s does not', (type) =>
    expect(isEnd(message({ type }))).toBe(false),
  );
});
