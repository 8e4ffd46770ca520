import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { commandMessage, commandOutcomeOf, dialectOf } from '#libs/aip';
import { testing, type ToolCalled } from '#libs/device-agent';
import type { ActionResult, CommandOutcome, Json } from '#proto';
import { isPicture, withPicture } from '../../services/aip-gateway/devices/screen-pictures.adapter.js';

/*
 * Sessions of UFO's own server with its client of a Windows machine, as they were recorded (pictures made small). Here our agents
 * take the place of that server: the client's recorded answers are given to them, and what is sent to it is compared, frame by
 * frame. Windows stood for by a Linux desktop behind UFO's client: what it shows is the protocol, not Windows.
 */

interface Frame {
  readonly type: string;
  readonly agent_name: string;
  readonly process_name: string;
  readonly root_name: string;
  readonly actions: readonly { readonly tool_name: string; readonly parameters: Json; readonly tool_type: string }[];
  readonly action_results: readonly ActionResult[];
}

const fixture = (name: string): Frame[] =>
  readFileSync(new URL(`../../proto/fixtures/aip/ufo/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: Frame }).msg);

const said = ({
  agent_name,
  process_name,
  root_name,
  actions,
}: Pick<Frame, 'agent_name' | 'process_name' | 'root_name' | 'actions'>) => ({
  agent_name,
  process_name,
  root_name,
  actions: actions.map(({ tool_name, parameters, tool_type }) => ({ tool_name, parameters, tool_type })),
});

/** Each recorded command with what the client answered. */
function exchanges(name: string) {
  const frames = fixture(name);
  const answers = frames.filter(({ type }) => type === 'command_results');
  return frames
    .filter(({ type }) => type === 'command')
    .map((frame, at) => ({ frame, answer: answers[at]?.action_results[0] }));
}

/**
 * What the recorded server sends and ours does not: tools are asked for when the client registers; a turn without a call sends
 * nothing; and no picture is taken that nobody looks at (after a subtask, and at the end of a round).
 */
const isLeftOut = ({ actions }: Frame, later: readonly Frame[]): boolean => {
  const [action] = actions;
  if (action === undefined || action.tool_name === 'list_tools') return true;
  return action.tool_name === 'capture_window_screenshot' && later[0]?.actions[0]?.tool_name !== 'get_app_window_info';
};

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
  const recorded = exchanges(name);
  const wanted = recorded.filter(
    ({ frame }, at) =>
      !isLeftOut(
        frame,
        recorded.slice(at + 1).map((one) => one.frame),
      ),
  );
  const outcomes = await Promise.all(
    wanted.map(async ({ frame, answer }) => {
      const tool = frame.actions[0]?.tool_name ?? '';
      const outcome = commandOutcomeOf(answer);
      return isPicture(tool, outcome) ? withPicture(tool, outcome, { store, logger }) : outcome;
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

const TITLE = 'Untitled 1 - Mousepad';
const TYPED = { id: '8', name: '', text: 'hello from UFO', clear_current_text: false };

describe('UFO’s recorded client of a Windows machine, driven by our agents', () => {
  it('hears what UFO’s server told it, in a session that is done', async () => {
    const { end, sent, wanted, app } = await replayed('windows-session', [
      testing.hostAssigns('write hello', '1', TITLE),
      testing.appSays([['set_edit_text', TYPED]]),
      testing.appEnds('FINISH', 'written'),
      testing.hostSays({ status: 'FINISH', result: 'hello is written' }),
    ]);
    expect(sent).toEqual(wanted);
    expect(sent).toHaveLength(12);
    expect(end).toMatchObject({ kind: 'finished', result: 'hello is written' });
    expect(app.at(2).observation?.filter(({ type }) => type === 'image')).toHaveLength(2);
  });

  it('and in one whose subtask fails, after which our host looks again and decides, where UFO’s ends without a word', async () => {
    const { end, sent, wanted } = await replayed('windows-session-fail', [
      testing.hostAssigns('write hello', '1', TITLE),
      testing.appSays([['set_edit_text', TYPED, 'CONTINUE']]),
      testing.appEnds('FAIL', 'the document is read-only'),
      testing.hostSays({ status: 'FAIL', result: 'not written' }),
    ]);
    expect(sent.slice(0, wanted.length)).toEqual(wanted);
    expect(end).toMatchObject({ kind: 'failed', message: 'not written' });
  });

  it('is sent nothing for an id whose name is another one', async () => {
    const { sent, app } = await replayed('windows-session', [
      testing.hostAssigns('write hello', '1', TITLE),
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
    const kept = await withPicture(tool, url(png(9)), { store, logger });
    expect(kept.result).toEqual({ pictures: [{ of: 'window', width: 9, height: 9 }] });
    expect(kept.files).toEqual([{ name: 'window.png', mediaType: 'image/png', artifact: await store.put(png(9)) }]);
  });

  it.each([
    ['that shows nothing is none', url(png(1)), { state: 'COMPLETED', result: { pictures: [] } }],
    ['that is a text is a failure', { ...url(png(9)), result: 'Error: no window' }, { state: 'FAILED', result: null }],
    ['that is no PNG is a failure', url(Buffer.from('GIF89a'.repeat(9))), { state: 'FAILED', result: null }],
  ])('%s', async (_, outcome, expected) => {
    const kept = await withPicture(tool, outcome, { store, logger });
    expect(kept).toMatchObject(expected);
    expect(kept.files).toBeUndefined();
  });

  it('is not looked for in the answer of another tool', () => {
    expect(isPicture('texts', url(png(9)))).toBe(false);
  });
});
