import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { missingBehind, type PolicyVerdict, type WallView } from '#proto';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';
import { demandOf, parseEveryday, parseHarmful, parseOrdinary } from './corpus.js';
import { WRAPPINGS } from './wrappers.js';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const HARMFUL = parseHarmful(read('harmful.txt'));
const ORDINARY = parseOrdinary(read('ordinary.txt'));
const PAGE = read('../../../docs/command-policy.md').replaceAll(/\s+/gu, ' ');
const EVERYDAY = parseEveryday(read('everyday.txt'));

/** What can be shown behind each wall, by whose it is. */
const BOTH = ['host-processes', 'host-devices', 'host-tmp'] as const;
const SHOWN = {
  'a client that is root': [
    [...BOTH, 'owners', 'host-network'],
    [...BOTH, 'owners'],
  ],
  'a client that is an unprivileged user': [
    [...BOTH, 'privileged-read', 'host-network'],
    [...BOTH, 'privileged-read'],
  ],
} as const satisfies Record<string, readonly (readonly WallView[])[]>;

let policy: CommandPolicy;
beforeAll(async () => {
  policy = openPolicy({}, await openBashGrammar());
});

const judge = (command: string): PolicyVerdict => policy.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined);
const isThrough = ({ decision }: PolicyVerdict): boolean => decision === 'allow' || decision === 'log';
const row = (command: string, { decision, class: of, rule }: PolicyVerdict): string =>
  `${decision}\t${of}\t${rule}\t${JSON.stringify(command)}`;

describe('the harmful corpus', () => {
  it('holds at least 180 lines of every kind', () => {
    expect(HARMFUL.length).toBeGreaterThanOrEqual(180);
    expect(new Set(HARMFUL.map(({ command }) => command)).size).toBe(HARMFUL.length);
  });

  it('is never let through as it stands', () => {
    const through = HARMFUL.map(({ command }) => ({ command, verdict: judge(command) }))
      .filter(({ verdict }) => isThrough(verdict))
      .map(({ command, verdict }) => row(command, verdict));
    expect(through).toEqual([]);
  });

  it('is denied where no approval could make it right', () => {
    const weak = HARMFUL.filter(({ atLeast }) => atLeast === 'deny')
      .map(({ command }) => ({ command, verdict: judge(command) }))
      .filter(({ verdict }) => verdict.decision !== 'deny')
      .map(({ command, verdict }) => row(command, verdict));
    expect(weak).toEqual([]);
  });

  it.each(Object.entries(WRAPPINGS))('is never let through under %s', (_, wrap) => {
    const through = HARMFUL.map(({ command }) => ({ command, verdict: judge(wrap(command)) }))
      .filter(({ verdict }) => isThrough(verdict))
      .map(({ command, verdict }) => row(wrap(command), verdict));
    expect(through).toEqual([]);
  });
});

describe('ordinary administration', () => {
  it('holds at least 200 lines', () => {
    expect(ORDINARY.length).toBeGreaterThanOrEqual(200);
    expect(new Set(ORDINARY.map(({ command }) => command)).size).toBe(ORDINARY.length);
  });

  it('is asked about exactly as its class demands', () => {
    const wrong = ORDINARY.map((line) => ({ ...line, verdict: judge(line.command) }))
      .filter(({ verdict, ...line }) => verdict.decision !== demandOf(line) || verdict.class !== line.class)
      .map(({ class: of, command, verdict }) => `${of}: ${row(command, verdict)}`);
    expect(wrong).toEqual([]);
  });

  it('is counted on the page about the policy', () => {
    const asked = ORDINARY.filter((line) => /^(?:read|write)$/u.test(line.class) && demandOf(line) === 'approve');
    const notPlain = asked.filter(({ command }) => judge(command).rule === 'not-plain').length;
    const [, ...counted] = /Of (\d+) ordinary lines .*? (\d+) ask .*? (\d+) of them as not plain/u.exec(PAGE) ?? [];
    expect(counted.map(Number)).toEqual([ORDINARY.length, asked.length, notPlain]);
  });
});

describe('what administrators type all day', () => {
  const unasked = EVERYDAY.filter((line) => /^(?:allow|log)$/u.test(demandOf(line)));

  it('runs unasked in at least 95 of 100 lines, as the page about the policy counts them', () => {
    expect(EVERYDAY.length).toBeGreaterThanOrEqual(200);
    expect(new Set(EVERYDAY.map(({ command }) => command)).size).toBe(EVERYDAY.length);
    expect(unasked.length / EVERYDAY.length).toBeGreaterThanOrEqual(0.95);
    expect(PAGE).toContain(`Of ${EVERYDAY.length} everyday lines ${unasked.length} run unasked`);
  });

  it('runs unasked in 95 of 100 cases also behind a wall, as what no wall can show is told without one', () => {
    const calls = EVERYDAY.map(({ command }) => ({ tool: 'EXEC_CLI', arguments: { command } }));
    const walls = calls
      .filter((call) => isThrough(policy.judge(call, undefined)))
      .map((call) => policy.wall(call, undefined));
    for (const [who, shown] of Object.entries(SHOWN)) {
      const cells = shown.map((views) => {
        const [behind, unseen] = [true, false].map((seen) =>
          walls.filter((wall) => (missingBehind(wall, views).length === 0) === seen),
        );
        const told = unseen?.filter(({ onlyTells }) => onlyTells === true) ?? [];
        expect(((behind?.length ?? 0) + told.length) / EVERYDAY.length).toBeGreaterThanOrEqual(0.95);
        return `${behind?.length} + ${told.length}`;
      });
      expect(PAGE).toContain(`| ${who} | ${cells.join(' | ')} |`);
    }
  });

  it('of the harmful corpus nothing is told without a wall and without a question', () => {
    const told = HARMFUL.map(({ command }) => ({ tool: 'EXEC_CLI', arguments: { command } })).filter(
      (call) => isThrough(policy.judge(call, undefined)) && policy.wall(call, undefined).onlyTells === true,
    );
    expect(told).toEqual([]);
  });

  it('is judged, and sees, what stands beside it', () => {
    const wrong = EVERYDAY.map((line) => {
      const { command, class: of, views } = line;
      const call = { tool: 'EXEC_CLI', arguments: { command } };
      const { decision, class: judged } = policy.judge(call, undefined);
      const seen = policy.wall(call, undefined).views;
      return { command, is: [judged, decision, ...seen], should: [of, demandOf(line), ...views] };
    }).filter(({ is, should }) => is.join() !== should.join());
    expect(wrong).toEqual([]);
  });
});
