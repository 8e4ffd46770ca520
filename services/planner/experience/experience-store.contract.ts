import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Experience } from '#proto';
import type { Embedding } from '#libs/llm';
import { experienceOf, RANKED_MAX, type ExperienceStore, type LearntExperience } from './experience-store.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

/** Learnt `minute` minutes after noon. */
export function learnt(id: string, request: string, change: Partial<LearntExperience> = {}): LearntExperience {
  return {
    id,
    kind: 'experience',
    request,
    tips: [],
    constellation: {
      tasks: [{ task_id: 'disk', name: 'disk', description: 'Report the disks.', target: { os: 'linux' } }],
      dependencies: [],
    },
    source: `run of ${id}`,
    learntBy: 'anna',
    learntAt: new Date(NOW).toISOString(),
    calls: [],
    templates: [],
    ...change,
  };
}

const at = (minute: number): Partial<LearntExperience> => ({
  learntAt: new Date(NOW + minute * 60_000).toISOString(),
});
const ids = (found: readonly Experience[]): string[] => found.map(({ id }) => id);

const DISKS = learnt('disks', 'Report the hosts with little free disk space', {
  ...at(1),
  tips: ['df -P prints one line per file system'],
});
const LOGS = learnt('logs', 'Collect the error logs of the web servers and summarise them', {
  ...at(2),
  tips: ['journalctl needs --no-pager'],
});
const PLACE = learnt('platz', 'Freien Speicherplatz aller Rechner melden', at(3));
const BACKUP = learnt('backup', 'Back up the database and copy the dump to another host', at(4));

/** What no search may be broken by: operators, quotes, escapes, markup, and what PostgreSQL cannot hold. */
const HOSTILE = [
  '',
  '   ',
  "'",
  "disk' | 'logs",
  'disk & !space <-> (',
  "x'); drop table planner.experience; --",
  String.raw`C:\disk\space \' \\`,
  'disk:*A <1> !!!',
  '%_%',
  '<b onclick="x">disk</b>',
  'disk\u0000space',
  'disk \uD800 space',
  'http://user:pw@disk.example.org/space?a=b#c -1.5e10 a@b.c',
  `http://disk.example.org/it's/a'b?c='d'&e='f`,
  String.raw`disk.example.org/a\'b'\ file:///srv/it's\\ ~/o'disk`,
  'disk '.repeat(50_000),
  'x'.repeat(100_000),
  Array.from({ length: 5_000 }, (_, index) => `w${index}`).join(' '),
];

/** What every store of experiences promises. `open`: an empty one. */
export function experienceStoreContract(name: string, open: () => Promise<ExperienceStore>): void {
  describe(`${name} as a store of experiences`, () => {
    let store: ExperienceStore;
    beforeEach(async () => {
      store = await open();
      for (const one of [DISKS, LOGS, PLACE, BACKUP]) await store.add(one);
    });

    describe('keeps', () => keepingContract(() => store));
    describe('finds', () => findingContract(() => store));
    describe('compares', () => comparingContract(() => store));
  });
}

function keepingContract(store: () => ExperienceStore): void {
  it('what was learnt, once', async () => {
    const again = { ...DISKS, request: 'Something else', learntBy: 'bert' };
    expect(await store().add(again)).toEqual(experienceOf(DISKS));
    expect(await store().find('disks')).toEqual(experienceOf(DISKS));
    expect(ids(await store().list({}))).toEqual(['backup', 'platz', 'logs', 'disks']);
  });

  it('nothing that was taken out, until it is learnt again', async () => {
    expect([await store().remove('disks'), await store().remove('disks')]).toEqual([true, false]);
    expect(await store().find('disks')).toBeNull();
    expect(await store().similar('little free disk space')).toEqual([]);
    await store().add(DISKS);
    expect(ids(await store().similar('little free disk space'))).toEqual(['disks']);
  });

  it('an example with characters that a database cannot hold', async () => {
    const odd = learnt('odd', 'Rotate\u0000 certificates \uD800', { tips: ['openssl\u0000 x509'] });
    await store().add(odd);
    expect(ids(await store().similar('rotate the certificates'))).toEqual(['odd']);
  });

  it('only so many for one answer, newest first', async () => {
    expect(ids(await store().list({ limit: 2 }))).toEqual(['backup', 'platz']);
  });
}

function findingContract(store: () => ExperienceStore): void {
  it('what is like a goal that shares some of its words, whatever their case', async () => {
    expect(ids(await store().similar('Which HOSTS have less than 10 % of free disk space?'))).toEqual(['disks']);
    expect(ids(await store().similar('summarise what is in the error logs of db-1'))).toEqual(['logs']);
  });

  it('it in any language', async () => {
    expect(ids(await store().similar('Melde den freien Speicherplatz auf web-1'))).toEqual(['platz']);
  });

  it('the most alike first, and no more than asked for', async () => {
    await store().add(learnt('more', 'Report the hosts with little free memory', at(5)));
    const goal = 'Report the hosts with little free disk space today';
    expect(ids(await store().similar(goal))).toEqual(['disks', 'more']);
    expect(ids(await store().similar(goal, 1))).toEqual(['disks']);
    expect(await store().similar(goal, 0)).toEqual([]);
  });

  it('three unless more are asked for, and never all there are', async () => {
    for (let each = 0; each < RANKED_MAX; each++) {
      await store().add(learnt(`a${each}`, 'Report the hosts with little free disk space'));
    }
    expect(await store().similar('free disk space')).toHaveLength(3);
    expect(await store().similar('free disk space', 99)).toHaveLength(RANKED_MAX);
  });

  it('what a tip is about, after what the request is about', async () => {
    await store().add(learnt('tipped', 'Look after web servers', { tips: ['nginx reload keeps connections'] }));
    await store().add(learnt('asked', 'Let nginx reload its connections'));
    expect(ids(await store().similar('nginx reload'))).toEqual(['asked', 'tipped']);
  });

  it('nothing by the little words that every text has', async () => {
    expect(await store().similar('Buy milk with the money of the others')).toEqual([]);
    expect(await store().similar('Install the new kernel on the gateway')).toEqual([]);
  });

  it('by a goal that is much longer than what it is like', async () => {
    const goal = `Report the hosts with little free disk space. ${'Details come later, in another message. '.repeat(3)}`;
    expect(ids(await store().similar(goal))).toEqual(['disks']);
  });

  it('whatever shares a word with a text, for who looks through them', async () => {
    expect(ids(await store().list({ text: 'database or disk' }))).toEqual(expect.arrayContaining(['disks', 'backup']));
    expect(await store().list({ text: 'kernel' })).toEqual([]);
    expect(await store().list({ text: 'the', limit: 1 })).toHaveLength(1);
  });

  it.each(HOSTILE)('its way through hostile text: %#', async (text) => {
    expect((await store().similar(text)).length).toBeLessThanOrEqual(3);
    expect((await store().list({ text })).length).toBeLessThanOrEqual(4);
    expect(await store().find(text)).toBeNull();
    expect(await store().remove(text)).toBe(false);
    expect(await store().list({})).toHaveLength(4);
  });
}

const vector = (...numbers: number[]): Float32Array => {
  const norm = Math.hypot(...numbers);
  return Float32Array.from(numbers, (each) => each / norm);
};
const of = (model: string, ...numbers: number[]): Embedding => ({ model, vector: vector(...numbers) });
const GOAL = of('m/3', 1, 0, 0);

function comparingContract(store: () => ExperienceStore): void {
  const near = async (goal: Embedding, similarityMin = 0.3, limit?: number): Promise<string[]> =>
    ids(await store().nearest(goal, { similarityMin, ...(limit !== undefined && { limit }) }));

  it('what is about the same first, and nothing that is about something else', async () => {
    expect(await near(GOAL)).toEqual([]);
    expect(await store().embed(DISKS, of('m/3', 0.8, 0.6, 0))).toBe(true);
    await store().embed(LOGS, of('m/3', 1, 0.1, 0));
    await store().embed(PLACE, of('m/3', 0, 1, 0));
    expect(await near(GOAL)).toEqual(['logs', 'disks']);
    expect(await near(GOAL, 0.9)).toEqual(['logs']);
    expect(await near(GOAL, -1)).toEqual(['logs', 'disks', 'platz']);
    expect([await near(GOAL, -1, 1), await near(GOAL, -1, 0)]).toEqual([['logs'], []]);
    expect(await store().nearest(GOAL, { similarityMin: 0.9 })).toEqual([experienceOf(LOGS)]);
  });

  it('what is as near by age, newest first, then by id', async () => {
    const twin = learnt('backup2', 'Back up', { learntAt: BACKUP.learntAt });
    await store().add(twin);
    for (const one of [DISKS, twin, BACKUP, LOGS]) await store().embed(one, of('m/3', 1, 1, 0));
    expect(await near(GOAL)).toEqual(['backup', 'backup2', 'logs', 'disks']);
  });

  it('nothing of another model', async () => {
    await store().embed(DISKS, of('other/3', 1, 0, 0));
    expect(await near(GOAL)).toEqual([]);
    await store().embed(DISKS, GOAL);
    expect(await near(GOAL)).toEqual(['disks']);
    expect(await near(of('other/3', 1, 0, 0))).toEqual([]);
  });

  it('nothing that was taken out, nor what it was when it is learnt again', async () => {
    await store().embed(DISKS, GOAL);
    await store().remove('disks');
    expect(await near(GOAL)).toEqual([]);
    expect(await store().embed(DISKS, GOAL)).toBe(false);
    await store().add(DISKS);
    expect(await near(GOAL)).toEqual([]);
    expect(await store().embed({ id: 'disks', request: 'What it said before' }, GOAL)).toBe(false);
    expect(await near(GOAL)).toEqual([]);
  });

  it('and names what has no embedding of a model, newest first', async () => {
    await store().embed(LOGS, of('other/3', 1, 0, 0));
    await store().embed(BACKUP, GOAL);
    const missing = (ofModel: string | null): Promise<[string, boolean][]> =>
      store()
        .unembedded(ofModel)
        .then((all) => all.map(({ id, hasOther }) => [id, hasOther]));
    const never: [string, boolean][] = [
      ['platz', false],
      ['disks', false],
    ];
    expect(await missing(null)).toEqual(never);
    expect(await missing('m/3')).toEqual([never[0], ['logs', true], never[1]]);
    expect((await store().unembedded('m/3')).at(-1)).toEqual({ id: 'disks', request: DISKS.request, hasOther: false });
  });
}
