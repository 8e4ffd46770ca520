import { describe, expect, it } from '@jest/globals';
import { visibleClip, visibleLines } from './visible.js';

describe('text that a person decides about', () => {
  it('keeps line breaks where they are wanted, and counts nothing as one line that is several', () => {
    expect(visibleLines('cat <<E\nrm\u200B\nE')).toEqual(['cat <<E', String.raw`rm\u200b`, 'E']);
    expect(visibleClip('a\nbcdef', 5)).toBe(String.raw`a\nb…`);
  });
});
