import { describe, expect, it } from '@jest/globals';
import { AIP_CLOSE, ServerMessage } from '#proto';
import { LINK_ANSWER_MS, openLink, resumeMessages, stepLink, type LinkEffect, type LinkInput } from './device-link.js';

const message = (frame: object): LinkInput => ({ kind: 'message', message: ServerMessage.parse(frame) });
const OK = { type: 'heartbeat', status: 'ok' };
const confirmed = (revision: number, more: object = {}): LinkInput =>
  message({ ...OK, orrery: { revision, session_id: 's1', server_time: '2026-11-20T00:00:00.000Z', ...more } });
const FOREIGN = message(OK);
const RESUMED = message({ type: 'resumed', status: 'ok' });
const COMMAND = message({ type: 'command', status: 'continue', response_id: 'r1', actions: [] });
const TICK: LinkInput = { kind: 'tick' };

/** All inputs at 0 ms; the phase afterwards and the effects of the last one. */
function after(...inputs: LinkInput[]) {
  let link = openLink(0);
  let effects: LinkEffect[] = [];
  for (const input of inputs) [link, effects] = stepLink(link, input, 0);
  return { link, phase: link.phase, effects };
}

describe('a confirmation', () => {
  const server = { revision: null, sessionId: null, credentialUntil: null, takesBytes: false };

  it('of a foreign server opens everything', () =>
    expect(after(FOREIGN)).toMatchObject({ phase: 'READY', effects: [{ kind: 'ready', server }] }));

  it('of revision 1 opens everything', () =>
    expect(after(confirmed(1))).toMatchObject({
      phase: 'READY',
      effects: [{ kind: 'ready', server: { revision: 1, sessionId: 's1' } }],
    }));

  it('of revision 2 asks for the journal first', () => {
    expect(after(confirmed(2))).toMatchObject({ phase: 'RESUMING', effects: [{ kind: 'resume' }] });
    const credential_until = '2026-11-20T01:00:00.000Z';
    expect(after(confirmed(2, { credential_until }), RESUMED)).toMatchObject({
      phase: 'READY',
      effects: [
        {
          kind: 'ready',
          server: { revision: 2, sessionId: 's1', credentialUntil: credential_until, takesBytes: false },
        },
      ],
    });
  });

  it('of a revision that was not offered is none', () =>
    expect(after(confirmed(3))).toMatchObject({
      phase: 'CLOSED',
      effects: [{ kind: 'close', code: AIP_CLOSE.protocolError }],
    }));

  it('that says no is one', () =>
    expect(after(message({ type: 'heartbeat', status: 'error' }))).toMatchObject({ phase: 'CLOSED' }));

  it('comes once: later heartbeats change nothing', () =>
    expect(after(FOREIGN, confirmed(2))).toMatchObject({ phase: 'READY', effects: [] }));
});

describe('a server', () => {
  it('that does not answer in time is left, in either phase', () => {
    for (const inputs of [[], [confirmed(2)]]) {
      const { link } = after(...inputs);
      expect(stepLink(link, TICK, LINK_ANSWER_MS - 1)[1]).toEqual([]);
      expect(stepLink(link, TICK, LINK_ANSWER_MS)).toMatchObject([{ phase: 'CLOSED' }, [{ kind: 'close' }]]);
    }
    expect(stepLink(after(FOREIGN).link, TICK, 1e9)[1]).toEqual([]);
  });

  it('may send commands before it confirms anything', () =>
    expect(after(COMMAND).effects).toMatchObject([{ kind: 'deliver', server: null }]));

  it('is named with everything that it asks for', () =>
    expect(after(confirmed(1), COMMAND).effects).toMatchObject([{ kind: 'deliver', server: { revision: 1 } }]));

  it('that complains is quoted, and not at any length', () => {
    const { phase, effects } = after(FOREIGN, message({ type: 'error', status: 'error', error: 'x'.repeat(9_000) }));
    expect(phase).toBe('READY');
    expect(effects).toEqual([{ kind: 'complaint', error: 'x'.repeat(4_000) }]);
  });

  it('is not left for a frame that nobody can read', () =>
    expect(after(FOREIGN, { kind: 'unreadable', error: 'not JSON' })).toMatchObject({
      phase: 'READY',
      effects: [{ kind: 'ignored', error: 'not JSON' }],
    }));

  it.each([
    [{ kind: 'gap', error: 'frame 5 came, 3 was expected' }, AIP_CLOSE.protocolError],
    [{ kind: 'unacknowledged' }, AIP_CLOSE.unacknowledged],
  ] as const)('is left for %j', (input, code) =>
    expect(after(confirmed(2), RESUMED, input)).toMatchObject({ phase: 'CLOSED', effects: [{ kind: 'close', code }] }),
  );

  it('is told why in words that fit into a close frame, whatever it has sent', () => {
    const { effects } = after(confirmed(2), { kind: 'gap', error: '€'.repeat(500) });
    const [close] = effects;
    expect(close?.kind === 'close' && Buffer.byteLength(close.reason)).toBeLessThanOrEqual(123);
  });

  it('that was left has nothing to say any more', () =>
    expect(after(confirmed(3), FOREIGN, COMMAND)).toMatchObject({ phase: 'CLOSED', effects: [] }));
});

describe('RESUME', () => {
  const ids = (count: number, name: string): string[] => Array.from({ length: count }, (_, n) => `${name}${n}`);

  it('is said also when there is nothing to say', () =>
    expect(resumeMessages({ running: [], finished: [] })).toEqual([
      { type: 'resume', status: 'ok', client_type: 'device', orrery: { running: [], finished: [], more: false } },
    ]));

  it('needs several frames for many ids, and says them all, each once', () => {
    const held = { running: ids(3, 'r'), finished: ids(2_001, 'f') };
    const said = resumeMessages(held).map((frame) => (frame.type === 'resume' ? frame.orrery : undefined));
    expect(said.map((part) => part?.more)).toEqual([true, true, false]);
    expect(said.flatMap((part) => part?.running ?? [])).toEqual(held.running);
    expect(said.flatMap((part) => part?.finished ?? [])).toEqual(held.finished);
  });
});
