import { describe, expect, it } from '@jest/globals';
import { EXIT, failure, unreachable, type CliContext } from '../terminal/index.js';
import { fakeTerminal, surroundings } from '../testing/fake-terminal.js';
import { shownAgain } from './list.runner.js';

/** Shows each of these once, then somebody ends it. */
async function watched(pictures: readonly (string | Error)[], json = false) {
  const terminal = fakeTerminal();
  const stop = new AbortController();
  const context: CliContext = { ...surroundings(terminal), json, signal: stop.signal };
  let shown = 0;
  const show = async ({ terminal: screen }: CliContext): Promise<0> => {
    const picture = pictures[shown++] ?? '';
    if (picture instanceof Error) throw picture;
    screen.out(picture);
    return EXIT.ok;
  };
  const pause = async (): Promise<void> => {
    if (shown === pictures.length) stop.abort('SIGINT');
  };
  const exitCode = await shownAgain(context, true, show, pause);
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

describe('a list that is watched', () => {
  it('gives a pipe each line when it is new or has changed, and ends well when somebody ends it', async () => {
    const { exitCode, out } = await watched(['r1\tRUNNING', 'r2\tRUNNING\nr1\tRUNNING', 'r2\tRUNNING\nr1\tCOMPLETED']);
    expect([exitCode, out]).toEqual([0, ['r1\tRUNNING', 'r2\tRUNNING', 'r1\tCOMPLETED']]);
  });

  it('gives a program one document whenever there is another', async () =>
    expect((await watched(['{"runs":[]}', '{"runs":[]}', '{"runs":[1]}'], true)).out).toEqual([
      '{"runs":[]}',
      '{"runs":[1]}',
    ]));

  it('goes on over an outage, and says once why it stands still', async () => {
    const away = unreachable('nobody answers');
    const { out, err } = await watched(['r1', away, away, 'r1\nr2']);
    expect([out, err]).toEqual([['r1', 'r2'], ['nobody answers']]);
  });

  it('ends as it would without being watched when there is nothing to see from the start, or what is asked for is wrong', async () => {
    await expect(watched([unreachable('nobody answers')])).rejects.toThrow('nobody answers');
    await expect(watched(['r1', failure('no right to see it')])).rejects.toThrow('no right to see it');
  });
});
