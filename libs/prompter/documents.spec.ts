import { describe, expect, it } from '@jest/globals';
import { examplesPrompt, retrievedDocumentsPrompt } from './documents.js';

describe('retrievedDocumentsPrompt', () => {
  it('puts a header before all and a numbered title before each', () => {
    expect(retrievedDocumentsPrompt('Retrieved Documentation', 'Document', ['one', 'two'])).toBe(
      '\n<Retrieved Documentation:>\n[Document 1:]\none\n\n[Document 2:]\ntwo\n\n',
    );
  });

  it('leaves out a header or title that is empty', () => {
    expect(retrievedDocumentsPrompt('', '', ['one'])).toBe('one\n\n');
  });
});

describe('examplesPrompt', () => {
  it('shows the request and the reply of each', () => {
    const text = examplesPrompt([
      { request: 'Do it\nnow', response: { thought: 'I do' } },
      { request: 'Go on', seen: 'step 1: done', response: { thought: 'on' } },
    ]);
    expect(text).toBe(
      [
        '',
        '<## Response Examples:>',
        '[Example 1:]',
        '[User Request]:',
        '    Do it',
        '    now',
        '[Response]:',
        '    {"thought":"I do"}',
        '',
        '[Example 2:]',
        '[User Request]:',
        '    Go on',
        '[Steps so far]:',
        '    step 1: done',
        '[Response]:',
        '    {"thought":"on"}',
        '',
        '',
      ].join('\n'),
    );
  });

  it('says why a reply should not be given', () => {
    const text = examplesPrompt([{ request: 'Do it', response: { thought: 'no' }, wrong: 'It says no.' }]);
    expect(text).toContain('[Wrong Response]:\n    {"thought":"no"}\n[Why]:\n    It says no.\n');
    expect(text).not.toContain('[Response]');
  });

  it('takes further examples as text', () => {
    expect(examplesPrompt([], { header: 'H', separator: 'S', more: ['mine'] })).toBe('\n<H:>\n[S 1:]\nmine\n\n');
  });
});
