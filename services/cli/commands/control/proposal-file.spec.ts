import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { parseProposalText } from './proposal-file.js';

const EDITS = '[{ "tool": "remove_task", "taskId": "a" }, { "tool": "remove_dependency", "lineId": "l1" }]';

describe('parseProposalText', () => {
  it('takes an array of edits for an edit of an operator', () =>
    expect(parseProposalText(EDITS, {})).toEqual({
      ok: true,
      proposal: {
        editId: null,
        try: 1,
        baseRevision: null,
        state: 'CONTINUE',
        edits: [
          { tool: 'remove_task', taskId: 'a' },
          { tool: 'remove_dependency', lineId: 'l1' },
        ],
      },
    }));

  it('takes a whole proposal, in YAML too, and the words of the command line before those of the file', () => {
    const text = 'editId: e1\ntry: 2\nbaseRevision: 4\nstate: FINISH\ntrace: { thought: all is well }\n';
    expect(parseProposalText(text, { try: 3, baseRevision: null })).toEqual({
      ok: true,
      proposal: {
        editId: 'e1',
        try: 3,
        baseRevision: null,
        state: 'FINISH',
        edits: [],
        trace: { thought: 'all is well' },
      },
    });
  });

  it.each([
    ['', 'the proposal is empty'],
    ['"x"', 'a proposal is an object with "edits", or an array of edits'],
    ['3', 'a proposal is an object with "edits", or an array of edits'],
    ['{ "edits": ', 'this is not JSON: '],
    ['- tool: [', 'this is not YAML: '],
    ['{ "edit": [] }', 'edit: unknown field'],
    ['[{ "tool": "remove_task", "taskId": "a.b" }]', 'edits[0].taskId: a task id must be'],
    ['{ "state": "DONE" }', 'state: '],
  ])('refuses %j with the path', (text, sentence) =>
    expect(parseProposalText(text, {})).toMatchObject({ ok: false, message: expect.stringContaining(sentence) }),
  );

  it('reads the example', async () => {
    const example = new URL('../../../../deploy/examples/rollout-edits.yaml', import.meta.url);
    expect(parseProposalText(await readFile(example, 'utf8'), {})).toMatchObject({ ok: true });
  });
});
