import { describe, expect, it, jest } from '@jest/globals';
import { openBashGrammar } from './bash-grammar.adapter.js';

const HOURS = 3_600_000;
const tangled = '|&;;&'.repeat(3_200);

describe('a text that takes the parser too long', () => {
  it('is given up, and the next one is read', async () => {
    const grammar = await openBashGrammar();
    expect(grammar.parse(tangled)).toEqual({ ok: false, reason: 'The command takes too long to read.' });
    expect(grammar.parse('df -h | sort')).toMatchObject({ ok: true, root: { type: 'program' } });
  });

  it('is known by the work it makes and by no clock: a machine that stands still is no reason', async () => {
    const grammar = await openBashGrammar();
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += HOURS));
    const read = grammar.parse('du -ah /srv/app | sort -rh | head -n 20; '.repeat(100));
    clock.mockRestore();
    expect(read).toMatchObject({ ok: true });
  });

  it('is never an everyday command, whatever the kernel says of the time it took', async () => {
    const grammar = await openBashGrammar();
    let used = 0;
    const kernel = jest
      .spyOn(process, 'threadCpuUsage')
      .mockImplementation(() => ({ user: (used += HOURS), system: 0 }));
    const read = grammar.parse('for i in 1 2 3; do\niostat -x 1 2; du -ah /srv/app | sort -rh | head -n 20\ndone');
    kernel.mockRestore();
    expect(read).toMatchObject({ ok: true });
  });
});
