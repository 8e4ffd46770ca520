import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { commandMessage, commandOutcomeOf, dialectOf } from '#libs/aip';
import { testing, type ToolCalled } from '#libs/device-agent';
import { pngOfRun } from '#libs/picture';
import type { CommandOutcome } from '#proto';
import { isPicture, withPicture } from '../../services/aip-gateway/devices/screen-pictures.adapter.js';
import { chosen, REPLIES, said, TYPED, wantedOf, type Frame } from './recorded-windows.js';

/*
 * Sessions of UFO's own server with its client of a Windows machine, as they were recorded (pictures made small). Here our agents
 * take the place of that server: the client's recorded answers are given to them, and what is sent to it is compared, frame by
 * frame. Windows stood for by a Linux desktop behind UFO's client: what it shows is the protocol, not Windows.
 */

const store = {
  put: (content: Uint8Array) =>
    Promise.resolve({ sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length }),
};
const logger = pino({ level: 'silent' });

const endedAs = ({ state, result, files, error }: CommandOutcome): ToolCalled['ended'] => ({
  kind: 'finished',
  state,
  result: { value: result, ...(files !== undefined && { files }) },
  message: error?.message ?? null,
});

async function replayed(name: string, replies: readonly testing.Said[]) {
  const wanted = wantedOf(name);
  const outcomes = await Promise.all(
    wanted.map(async ({ frame, answer }) => {
      const tool = frame.actions[0]?.tool_name ?? '';
      const outcome = commandOutcomeOf(answer);
      return isPicture(tool, outcome) ? withPicture(tool, outcome, { runId: undefined, store, logger }) : outcome;
    }),
  );
  const { kind, app } = testing.spiedScreen(true);
  const sent: unknown[] = [];
  const dialect = dialectOf({ telemetry: { platform: 'windows' } });
  const calls: testing.Script['calls'] = (command) => {
    const outcome = outcomes[sent.length];
    const outgoing = {
      commandId: 'c',
      attempt: { runId: 'r', taskId: 't', attempt: 1 },
      command,
      digest: '',
      startWithinMs: 0,
    };
    const frame = commandMessage(outgoing, { sessionId: 's', revision: null, dialect }, 0);
    sent.push(said(frame as unknown as Frame));
    return outcome === undefined ? testing.answered(null) : endedAs(outcome);
  };
  const { end } = testing.drive(kind, testing.screenTask(), testing.scripted({ replies, calls }));
  return { end, sent, wanted: wanted.map(({ frame }) => said(frame)), app };
}

describe('UFO’s recorded client of a Windows machine, driven by our agents', () => {
  it('hears what UFO’s server told it, in a session that is done', async () => {
    const { end, sent, wanted, app } = await replayed('windows-session', REPLIES['windows-session']);
    expect(sent).toEqual(wanted);
    expect(sent).toHaveLength(12);
    expect(end).toMatchObject({ kind: 'finished', result: 'hello is written' });
    expect(app.at(2).observation?.filter(({ type }) => type === 'image')).toHaveLength(2);
  });

  it('and in one whose subtask fails, after which our host looks again and decides, where UFO’s ends without a word', async () => {
    const { end, sent, wanted } = await replayed('windows-session-fail', REPLIES['windows-session-fail']);
    expect(sent.slice(0, wanted.length)).toEqual(wanted);
    expect(end).toMatchObject({ kind: 'failed', message: 'not written' });
  });

  it('is sent nothing for an id whose name is another one', async () => {
    const { sent, app } = await replayed('windows-session', [
      chosen,
      testing.appSays([['set_edit_text', { ...TYPED, name: 'Title' }]]),
      testing.appEnds('FAIL', 'no such field'),
      testing.hostSays({ status: 'FAIL', result: 'not written' }),
    ]);
    expect(JSON.stringify(sent)).not.toContain('set_edit_text');
    expect(app.at(2).memory.items.at(-1)?.problems.join()).toContain('MISMATCH');
  });
});

describe('a picture of such a client', () => {
  const url = (bytes: Buffer): CommandOutcome => ({
    state: 'COMPLETED',
    result: `data:image/png;base64,${bytes.toString('base64')}`,
    error: null,
    startedAt: null,
    durationMs: null,
  });
  const png = (side: number): Buffer => {
    const bytes = Buffer.alloc(40);
    bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    bytes.writeUInt32BE(side, 16);
    bytes.writeUInt32BE(side, 20);
    return bytes;
  };
  const tool = 'capture_window_screenshot';

  it('is kept by its hash, and its answer says how large it is', async () => {
    const kept = await withPicture(tool, url(png(9)), { runId: undefined, store, logger });
    expect(kept.result).toEqual({ pictures: [{ of: 'window', width: 9, height: 9 }] });
    expect(kept.files).toEqual([{ name: 'window.png', mediaType: 'image/png', artifact: await store.put(png(9)) }]);
  });

  it('says which run it was taken for', async () => {
    const kept = await withPicture(tool, url(png(9)), { runId: 'run1', store, logger });
    expect(kept.files?.[0]?.artifact).toEqual(await store.put(pngOfRun(png(9), 'run1')));
    expect(kept.files?.[0]?.artifact).not.toEqual(await store.put(png(9)));
  });

  it.each([
    ['that shows nothing is none', url(png(1)), { state: 'COMPLETED', result: { pictures: [] } }],
    ['that is a text is a failure', { ...url(png(9)), result: 'Error: no window' }, { state: 'FAILED', result: null }],
    ['that is no PNG is a failure', url(Buffer.from('GIF89a'.repeat(9))), { state: 'FAILED', result: null }],
  ])('%s', async (_, outcome, expected) => {
    const kept = await withPicture(tool, outcome, { runId: undefined, store, logger });
    expect(kept).toMatchObject(expected);
    expect(kept.files).toBeUndefined();
  });

  it('is not looked for in the answer of another tool', () => {
    expect(isPicture('texts', url(png(9)))).toBe(false);
  });
});
