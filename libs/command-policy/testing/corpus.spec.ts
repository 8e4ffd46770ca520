import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PolicyVerdict } from '#proto';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';
import { demandOf, parseEveryday, parseHarmful, parseOrdinary } from './corpus.js';
import { WRAPPINGS } from './wrappers.js';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const HARMFUL = parseHarmful(read('harmful.txt'));
const ORDINARY = parseOrdinary(read('ordinary.txt'));
const EVERYDAY = parseEveryday(read('everyday.txt'));

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
});

describe('what administrators type all day', () => {
  const unasked = EVERYDAY.filter((line) => /^(?:allow|log)$/u.test(demandOf(line)));

  it('runs unasked in at least 95 of 100 lines, as the page about the policy counts them', () => {
    expect(EVERYDAY.length).toBeGreaterThanOrEqual(200);
    expect(new Set(EVERYDAY.map(({ command }) => command)).size).toBe(EVERYDAY.length);
    expect(unasked.length / EVERYDAY.length).toBeGreaterThanOrEqual(0.95);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/command-policy.md'), 'utf8');
    expect(page.replace(/\s+/gu, ' ')).toContain(`Of ${EVERYDAY.length} everyday lines ${unasked.length} run unasked`);
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
