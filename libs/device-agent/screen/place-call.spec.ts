import { describe, expect, it } from '@jest/globals';
import { seenListingOf } from './listing.js';
import { placedCall } from './place-call.js';

const listed = (window: Record<string, string>) =>
  seenListingOf(
    { result: [{ kind: 'control', id: '3', name: 'Name:', type: 'Edit' }], listing: 'k.1', window },
    'otherwise',
  );
const calls = (window: Record<string, string>) => {
  const listing = listed(window);
  const wanted = { function: 'set_edit_text', arguments: { id: '3', name: 'Name:', text: '/srv/r1/a.txt' } };
  const tools = [{ name: 'set_edit_text', description: '', readOnly: false }];
  const placed = placedCall(wanted, { agent: 'AppAgent', chosen: listing.place, listing }, tools);
  return placed.ok ? placed.command.on : placed.problem;
};

describe('a call in a dialog for files', () => {
  it('says where its device has said that the directory of the run lies', () => {
    const window = { application: 'mousepad', window: 'Save As' };
    const control = { id: '3', type: 'Edit', name: 'Name:' };
    const on = { agent: 'AppAgent', ...window, control, snapshot: 'k.1' };
    expect(calls({ ...window, run_directory: '/srv/r1' })).toEqual({ ...on, runDirectory: '/srv/r1' });
    expect(calls(window)).toEqual(on);
    // More than a path is: nothing is said, and a person is asked.
    expect(calls({ ...window, run_directory: `/${'x'.repeat(4_096)}` })).toEqual(on);
  });
});
