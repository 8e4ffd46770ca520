import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError } from '#libs/platform';
import { loadChatModel } from './load.adapter.js';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-model-'));
  await writeFile(join(directory, 'broken.jsonl'), 'no line of a transcript\n');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('loadChatModel', () => {
  it('has no model when none is configured, and one when one is', () => {
    expect(loadChatModel({})).toBeNull();
    expect(loadChatModel({ ORRERY_MODEL: 'gpt-x', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })).not.toBeNull();
  });

  it.each([
    ['settings', { ORRERY_MODEL_FILE: 'DIR/nowhere.yaml' }, /^ORRERY_MODEL_FILE: .*cannot be read \(ENOENT\)\.$/u],
    ['a recording', { ORRERY_MODEL_RECORDING: 'play:it' }, /^ORRERY_MODEL_RECORDING must be record:<file> or replay:/u],
    ['a transcript', { ORRERY_MODEL_RECORDING: 'replay:DIR/broken.jsonl' }, /broken\.jsonl/u],
  ])('says in one sentence why %s cannot be used', (_, environment, sentence) => {
    const placed = Object.entries(environment).map(([name, value]) => [name, value.replace('DIR', directory)]);
    const load = () => loadChatModel(Object.fromEntries(placed) as Record<string, string>);
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(sentence);
  });
});
