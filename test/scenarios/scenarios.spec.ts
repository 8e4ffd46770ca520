import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Stage } from './stage.js';
import { parseTranscript, writeTranscript } from './transcript.js';

const folder = new URL('./', import.meta.url);
const stories = readdirSync(folder).filter((name) => name.endsWith('.txt'));

/** `ORRERY_UPDATE_SCENARIOS=1` writes what is recorded into the stories: the difference is the review. */
const update = process.env['ORRERY_UPDATE_SCENARIOS'] === '1';

describe('scenarios', () => {
  it.each(stories)('%s', (name) => {
    const path = new URL(name, folder);
    const blocks = parseTranscript(readFileSync(path, 'utf8'));
    const stage = new Stage();
    const recorded = blocks.map(({ commands }) => stage.play(commands));
    if (update) writeFileSync(path, writeTranscript(blocks, recorded));
    else expect(writeTranscript(blocks, recorded)).toBe(readFileSync(path, 'utf8'));
  });

  it('there are stories', () => expect(stories.length).toBeGreaterThan(8));
});
