import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseEveryday, parseHarmful, parseOrdinary } from '../../libs/command-policy/testing/corpus.js';
import { CanaryClient, type Fallen, type JudgedLine } from './canary-client.js';
import { CanaryTally } from './canary-tally.js';
import { machineLines } from './machine-lines.js';
import { CLIENTS } from './walled.js';

/*
 * Every line that is judged to run unasked is really run behind its wall, on a machine where everything belongs to whoever runs it:
 * what does not fall there is held by the wall, whatever the judgement missed. Who held a line, and whether there was anything to hold, is
 * found out by running it once more without a wall.
 */

/** `./orrery test canary` runs many more, and each line of the corpus behind each wall in each shell: by default in one behind one of each client. */
const isWhole = process.env['ORRERY_TEST_SUITE'] === 'canary';
const LINES = Number(process.env['ORRERY_CANARY_LINES'] ?? (isWhole ? '20000' : '200'));
const SEED = Number(process.env['ORRERY_CANARY_SEED'] ?? '76');
/** Where a run that was ended goes on: lines of the first batches are judged and not run. */
const FROM = Number(process.env['ORRERY_CANARY_FROM'] ?? '0');
const BATCH = isWhole ? 500 : 250;
/** Lines of each batch that are asked about and run without a wall all the same, one by one, to see what they would have done. */
const ASKED_TRIED = 20;
const HOURS_MAX_MS = 8 * 3_600_000;
/** Numbers that nobody has, so that what is left behind can be found by them. */
const UID = 65_300 + 4 * (process.pid % 50);
const SHELLS = ['/usr/bin/bash', '/usr/bin/dash'] as const;

const corpus = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../libs/command-policy/testing', name), 'utf8');

const tried: CanaryClient[] = [];
beforeAll(async () => {
  for (const [at, client] of CLIENTS.entries()) tried.push(await CanaryClient.open(client, UID + at));
});
afterAll(() => {
  for (const { machine } of tried) machine.end();
});

/** Each client on its own machine, all at the same time. */
const byAll = async (work: (by: CanaryClient, at: number) => Promise<Fallen[]>): Promise<unknown[]> => {
  const found = await Promise.all(tried.map(work));
  const beside = await Promise.all(tried.map(({ machine }) => machine.fallen()));
  return [...found.flat(), ...beside.flatMap((all, at) => all.map((what) => ({ client: CLIENTS[at], what })))];
};

/** Of the four clients two are root's and two are not, each with both sandboxes: a line has one of each, and of each shell and sandbox one. */
function isOfDefault(index: number, at: number, shell: number): boolean {
  const [owner, sandbox] = [Math.floor(at / 2), at % 2];
  return (index + owner) % 2 === sandbox && (Math.floor(index / 2) + owner) % 2 === shell;
}

/** Half of the lines in each shell. */
async function inBothShells(by: CanaryClient, lines: readonly JudgedLine[]): Promise<Fallen[]> {
  const found: Fallen[] = [];
  for (const [index, shell] of SHELLS.entries())
    found.push(
      ...(await by.behindTheirs(
        lines.filter((_, number) => number % 2 === index),
        shell,
      )),
    );
  return found;
}

/** Who held it, or would have: of lines that were asked about, and of those that ran. */
async function whoHeld(
  by: CanaryClient,
  asked: readonly JudgedLine[],
  ran: readonly JudgedLine[],
  tally: CanaryTally,
): Promise<void> {
  for (const [number, { line }] of asked.slice(0, ASKED_TRIED).entries()) {
    const shell = SHELLS[number % 2] ?? SHELLS[0];
    const without = await by.unjudged([line], shell, 'unprivileged');
    const behind = without.length === 0 ? [] : await by.unjudged([line], shell, { kind: 'write', views: [] });
    tally.asked(line, { without, behind });
  }
  for (const judged of await by.fallingWithout(ran, SHELLS)) tally.ran(judged);
}

describe('a line that runs unasked, behind its wall', () => {
  it(
    'lets no canary fall, of all lines that were ever collected, in both shells',
    async () => {
      const files = [
        parseHarmful(corpus('harmful.txt')),
        parseOrdinary(corpus('ordinary.txt')),
        parseEveryday(corpus('everyday.txt')),
      ];
      // Some lines are in two of them.
      const all = [...new Set(files.flat().map(({ command }) => command))];
      const tally = new CanaryTally('the corpus');
      const passed = tried[0]?.passed(all) ?? [];
      const fallen = await byAll(async (by, at) => {
        const judged = passed.map((one) => by.seen(one));
        const shares = SHELLS.map((_, shell) =>
          judged.filter(({ fate }, index) => fate === 'ran' && (isWhole || isOfDefault(index, at, shell))),
        );
        tally.count([...judged.filter(({ fate }) => fate !== 'ran'), ...(isWhole ? (shares[0] ?? []) : shares.flat())]);
        const found: Fallen[] = [];
        for (const [shell, lines] of shares.entries())
          found.push(...(await by.behindTheirs(lines, SHELLS[shell] ?? SHELLS[0])));
        return found;
      });
      tally.tell();
      expect(fallen).toEqual([]);
      expect(tally.counted.ran).toBeGreaterThan(250);
    },
    HOURS_MAX_MS,
  );

  it(
    `lets no canary fall, of ${LINES} lines that nobody has thought of (seed ${SEED})`,
    async () => {
      const tally = new CanaryTally(`lines made with the seed ${SEED}`);
      const share = LINES / tried.length;
      const fallen = await byAll(async (by, at) => {
        const found: Fallen[] = [];
        for (let batch = 0, ran = 0; ran < share; batch++) {
          const made = fc.sample(machineLines, { seed: SEED + batch * tried.length + at, numRuns: BATCH });
          const judged = by.judged(made);
          const lines = judged.filter(({ fate }) => fate === 'ran').slice(0, share - ran);
          ran += lines.length;
          if (batch < FROM) continue;
          const fallen = await inBothShells(by, lines);
          found.push(...fallen);
          tally.count([...judged.filter(({ fate }) => fate !== 'ran'), ...lines]);
          // By default those of one client: without a wall lines do the same whoever the client is.
          if (isWhole || at === 0)
            await whoHeld(
              by,
              judged.filter(({ fate }) => fate === 'asked'),
              lines,
              tally,
            );
          // A run of hours may be ended before it tells: what fell is told at once.
          if (isWhole) {
            for (const one of fallen) process.stderr.write(`canary: ${by.name}: FALLEN ${JSON.stringify(one)}\n`);
            for (const one of [...tally.missed, ...tally.unheld])
              process.stderr.write(`canary: so far unsound: ${JSON.stringify(one)}\n`);
            process.stderr.write(`canary: ${by.name}: ${ran} of ${share} lines, batch ${batch} is done\n`);
          }
        }
        return found;
      });
      tally.tell();
      expect(fallen).toEqual([]);
      // What ran unasked and fell only where no wall was: the judgement has missed it.
      expect(tally.missed).toEqual([]);
      // What is asked about and falls behind a wall, too, is what the judgement alone holds.
      expect(tally.unheld).toEqual([]);
      if (FROM === 0) expect(tally.aims).toEqual(CanaryTally.AIMS);
    },
    HOURS_MAX_MS,
  );
});
