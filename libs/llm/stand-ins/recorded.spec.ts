import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { chatModelContract, sampleRequest } from '../models/chat-model.contract.js';
import { parseTranscript, RecordingChatModel, ReplayedChatModel, type TranscriptLine } from './recorded.js';
import { withRecording } from './recording.adapter.js';
import { ScriptedChatModel } from './scripted.js';

const script = (said: readonly ({ reply: string } | { error: 'BAD_REQUEST' })[]) =>
  new ScriptedChatModel(
    said.map((each) => ('reply' in each ? each.reply : { error: { code: each.error, message: 'as scripted' } })),
  );

async function transcriptOf(replies: readonly string[], turn: string): Promise<TranscriptLine[]> {
  const lines: TranscriptLine[] = [];
  const model = new RecordingChatModel(new ScriptedChatModel(replies), (line) => lines.push(line));
  for (const _ of replies) await model.ask(sampleRequest({ turn }));
  return lines;
}

chatModelContract('a recording of a script', async (said, turn) => {
  const lines: TranscriptLine[] = [];
  const model = new RecordingChatModel(script(said as Parameters<typeof script>[0]), (line) => lines.push(line));
  for (const _ of said) await model.ask(sampleRequest({ turn }));
  return new ReplayedChatModel(parseTranscript(lines.map((line) => JSON.stringify(line)).join('\n')));
});

chatModelContract('a script that is being recorded', (said) =>
  Promise.resolve(new RecordingChatModel(script(said as Parameters<typeof script>[0]), () => {})),
);

describe('a replay', () => {
  it('is the same every time, whatever the order of the turns', async () => {
    const lines = [...(await transcriptOf(['a1', 'a2'], 'a')), ...(await transcriptOf(['b1'], 'b'))];
    const replay = async (turns: readonly string[]) => {
      const model = new ReplayedChatModel(lines);
      const answers = [];
      for (const turn of turns) answers.push([turn, await model.ask(sampleRequest({ turn }))] as const);
      return answers.sort(([one], [other]) => one.localeCompare(other));
    };
    expect(await replay(['a', 'a', 'b'])).toEqual(await replay(['b', 'a', 'a']));
  });

  it('says which turn is missing', async () => {
    const model = new ReplayedChatModel(await transcriptOf(['a1'], 'a'));
    await model.ask(sampleRequest({ turn: 'a' }));
    expect((await model.ask(sampleRequest({ turn: 'a' })))[0]?.error).toEqual({
      code: 'NOT_RECORDED',
      message: 'the recording has no reply number 2 of turn "a": it has 1 of that turn',
    });
    expect((await model.ask(sampleRequest({ turn: 'b' })))[0]?.error?.message).toBe(
      'the recording has no reply number 1 of turn "b": it does not have that turn',
    );
  });
});

describe('a transcript', () => {
  it.each([
    ['no JSON', '\n{', 't.jsonl, line 2 is not JSON.'],
    ['no line of a transcript', '{"turn": "a"}', /^t\.jsonl, line 1: count .+\.$/u],
  ])('with %s is refused with the line', (_, text, message) => {
    expect(() => parseTranscript(text, 't.jsonl')).toThrow(message);
  });

  it('with the same reply twice is refused', async () => {
    const [line] = await transcriptOf(['a1'], 'a');
    const text = [line, line].map((each) => JSON.stringify(each)).join('\n');
    expect(() => parseTranscript(text, 't.jsonl')).toThrow('t.jsonl, line 2 has reply number 1 of turn "a" again.');
  });
});

describe('ORRERY_MODEL_RECORDING', () => {
  const directory = mkdtempSync(join(tmpdir(), 'orrery-recording-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('records into a file and replays it without a model', async () => {
    const file = join(directory, 'a.jsonl');
    const asked = await withRecording(`record:${file}`, new ScriptedChatModel(['{"a": 1}']))?.ask(sampleRequest());
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1);
    expect(await withRecording(`replay:${file}`, null)?.ask(sampleRequest())).toEqual(asked);
  });

  it('goes on after a crash, which may have left half a line', async () => {
    const file = join(directory, 'b.jsonl');
    await withRecording(`record:${file}`, new ScriptedChatModel(['first']))?.ask(sampleRequest());
    appendFileSync(file, '{"turn": "half');
    await withRecording(`record:${file}`, new ScriptedChatModel(['second']))?.ask(sampleRequest());
    const replay = withRecording(`replay:${file}`, null);
    const replies = [await replay?.ask(sampleRequest()), await replay?.ask(sampleRequest())];
    expect(replies.map((answers) => answers?.[0]?.reply)).toEqual(['first', 'second']);
  });

  it('is not needed', () => {
    const model = new ScriptedChatModel([]);
    expect(withRecording('', model)).toBe(model);
    expect(withRecording(undefined, null)).toBeNull();
  });

  it.each([
    ['play:x', 'ORRERY_MODEL_RECORDING must be record:<file> or replay:<file>.'],
    ['record:x', 'ORRERY_MODEL_RECORDING is to record, but no model is configured; set ORRERY_MODEL.'],
    ['replay:/nowhere/x', 'ORRERY_MODEL_RECORDING names /nowhere/x, which cannot be read (ENOENT).'],
  ])('%s is refused in one sentence', (recording, message) => {
    expect(() => withRecording(recording, null)).toThrow(message);
  });

  it('that cannot be written is refused in one sentence', () => {
    expect(() => withRecording('record:/nowhere/x', new ScriptedChatModel([]))).toThrow(
      'ORRERY_MODEL_RECORDING names /nowhere/x, which cannot be written (ENOENT).',
    );
  });
});
