import { describe, expect, it } from '@jest/globals';
import { sameJson } from '#libs/constellation';
import { completed, device, failed, fleet, plan, star, Story } from '../moves/given.testing.js';
import { parseRunbook } from './parse.js';
import { planOfRunbook } from './plan.js';
import { runbookOf } from './save.js';

const LS = { tool: 'EXEC_CLI', arguments: { command: `docker ps --format '{{.Names}} {{ p.x }}'`, timeout: 5 } };
const PLAN = plan(
  [star('a', { command: LS, target: { os: 'linux' }, verify: { condition: 'result.exit_code == 0' } }), star('b')],
  ['a=>b'],
);

function saved(story: Story) {
  const made = runbookOf(story.run, { name: 'mine' });
  if (!made.ok) throw new Error(made.message);
  return made;
}

describe('a run that has ended', () => {
  it('becomes a runbook that plans the same again, braces included', () => {
    const { file } = saved(Story.of(PLAN, { editPolicy: 'never' }).when(completed('a')).when(completed('b')));
    const parsed = parseRunbook(JSON.parse(JSON.stringify(file)), 'b'.repeat(64), 'operator');
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
    const planned = planOfRunbook(parsed.runbook, {}, { fleet: fleet([device('web-1')]) });
    if (!planned.ok) throw new Error(JSON.stringify(planned.issues));
    expect(sameJson(planned.constellation, { ...PLAN, name: 'mine' })).toBe(true);
  });

  it('says what has to be looked at', () => {
    const { review } = saved(Story.of(PLAN, { editPolicy: 'never' }).when(completed('a')).when(failed('b')));
    expect(review).toEqual([
      'These did not complete in that run, mend or remove them: b.',
      'Read every command, it runs exactly as it stands here; move what changes into parameters: a, b.',
      'Of one device each: is a selector (target), for_each, or a parameter of the type device meant: b.',
      'Nothing secret belongs into a runbook: read names, paths and texts of that one run.',
      'Add parameters and matches (goals in words), then: orrery runbooks check <this file>',
    ]);
  });
});

describe('a run cannot be saved', () => {
  it('while it runs', () => {
    expect(runbookOf(Story.of(PLAN, { editPolicy: 'never' }).run, { name: 'mine' })).toEqual({
      ok: false,
      message: expect.stringContaining('has not ended yet'),
    });
  });

  it('without a constellation', () => {
    expect(runbookOf(Story.goal().run, { name: 'mine' })).toEqual({
      ok: false,
      message: expect.stringContaining('it has no constellation'),
    });
  });
});
