import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Memory, type MemoryItem } from '../memory/memory.js';
import { Fence } from '#libs/prompter';
import { anyCharacter, BOUNDARY, countTokens, listing, ran, shell, step } from './given.testing.js';
import { MemoryPrompt, TIERS } from './memory-prompt.js';

const fence = new Fence(BOUNDARY);
const BUDGET = 8_000;

const textOf = (items: readonly MemoryItem[], tokensMax = BUDGET): string => {
  const { history, last } = new MemoryPrompt(countTokens, tokensMax).render(Memory.of(items), fence);
  return `${history}\n${last}`;
};
const loud = (number: number): MemoryItem =>
  step(number, {
    thought: `Looking at part ${number} of the tree because the part before it held nothing of interest.`,
    calls: [ran(`ls -l /srv/data/part-${number} --time-style=long-iso`, shell(listing(10_240, number)))],
  });

describe('MemoryPrompt', () => {
  it('still tells the fact and the note of step 1 at step 60, beside 59 outputs of 10 KB', () => {
    const fact = 'listening on port 5433, data in /srv/pg/14';
    const first = step(1, {
      notes: ['The database is version 14.2 and was installed by hand.'],
      calls: [ran('cat /etc/pg.conf', shell(`${fact}\n`))],
    });
    const text = textOf([first, ...Array.from({ length: 59 }, (_, index) => loud(index + 2))]);
    expect(text).toContain(fact);
    expect(text).toContain('The database is version 14.2 and was installed by hand.');
    expect(countTokens(text)).toBeLessThanOrEqual(BUDGET);
    expect(countTokens(text)).toBeGreaterThan(BUDGET / 2);
    expect(text).toContain(listing(10_240, 60).slice(0, 1_500));
    for (let number = 1; number <= 60; number++)
      expect(text).toMatch(new RegExp(`(?:"step":|\\[Step )${number}\\b`, 'u'));
  });

  it('shows the last step in full, byte for byte, and what is left out of it says so and how to read on', () => {
    const { last } = new MemoryPrompt(countTokens, BUDGET).render(Memory.of([loud(1), loud(2)]), fence);
    const output = listing(10_240, 2);
    expect(last).toContain(output.slice(0, 2_000));
    expect(last).toContain(output.slice(-2_000));
    expect(last).toMatch(
      /\[\d+ characters are left out here\. To read them: READ_OUTPUT \{"step":2,"index":0,"stream":"stdout","from_line":\d+,"lines":200\}\] \.\.\. and its end\n/u,
    );
  });

  it('tells of files that came with an answer, in the last step with where they are, and nothing of what is in them', () => {
    const artifact = { sha256: 'a'.repeat(64), bytes: 48_213 };
    const kept = { name: 'image-1.png', mediaType: 'image/png', artifact };
    const lost = { name: 'image-2.png', mediaType: 'image/png', problem: 'not kept: its content is not base64' };
    const looked = (number: number): MemoryItem =>
      step(number, { calls: [ran('look', { value: '[file image-1.png]', files: [kept, lost] })] });
    const { history, last } = new MemoryPrompt(countTokens, BUDGET).render(Memory.of([looked(1), looked(2)]), fence);
    expect(last).toContain(`image-1.png: image/png, 48213 bytes, SHA-256 ${artifact.sha256}`);
    expect(last).toContain('image-2.png: image/png, not kept: its content is not base64');
    expect(history).toContain('image-1.png');
  });

  it('tells refusals, answers, reads and problems', () => {
    const item = step(3, {
      calls: [
        {
          index: 0,
          command: { tool: 'EXEC_CLI', arguments: { command: 'reboot' } },
          ended: { kind: 'refused', by: 'policy', code: 'POLICY_DENIED', message: 'it stops the machine' },
        },
      ],
      answers: [{ question: 'Which disk?', text: 'the second', note: '' }],
      reads: [{ step: 1, index: 0, text: 'line 41' }],
      problems: ['there is no tool "FLY"'],
    });
    for (const items of [[item], [item, loud(4), loud(5), loud(6), loud(7)]]) {
      const text = textOf(items);
      for (const part of ['it stops the machine', 'the second', 'there is no tool \\"FLY\\"'])
        expect(text).toContain(part);
    }
    expect(textOf([item])).toContain('[Status] did not run: refused by the policy');
    expect(textOf([item])).toContain('line 41');
  });

  it('says nothing of nothing', () => {
    expect(new MemoryPrompt(countTokens, BUDGET).render(Memory.empty, fence)).toEqual({ history: '', last: '' });
  });

  it('refuses a budget in which nothing can be told', () => {
    expect(() => new MemoryPrompt(countTokens, 100)).toThrow(/at least 500/u);
  });

  it('says which steps it leaves out when there is no room, and how many notes', () => {
    const many = Array.from({ length: 200 }, (_, index) => step(index + 1, { notes: ['a', 'b'] }));
    const told = textOf(many, 600);
    const [, to, notes] = /^\[Steps 1 to (\d+) are not shown here, nor (\d+) notes of them; /mu.exec(told) ?? [];
    expect(Number(notes)).toBe(2 * Number(to));
    expect(told).toContain(`{"step":${Number(to) + 1},`);
    expect(countTokens(told)).toBeLessThanOrEqual(600);
  });

  it('makes of a step only once what it needs again', () => {
    let counted = 0;
    const counting = (text: string): number => {
      counted += text.length;
      return countTokens(text);
    };
    const prompt = new MemoryPrompt(counting, BUDGET);
    let memory = Memory.of(Array.from({ length: 199 }, (_, index) => loud(index + 1)));
    prompt.render(memory, fence);
    memory = memory.add(loud(200));
    counted = 0;
    prompt.render(memory, new Fence('anotherBoundary-01'));
    // The new step, one or two that got shorter, and the whole once more to be sure.
    expect(counted).toBeLessThan(80_000);
  });
});

describe('the memory of any attempt', () => {
  const text = fc.oneof(
    fc.constantFrom('', 'ok', 'a longer line of output, as commands write them\n'.repeat(40)),
    fc.string({ unit: anyCharacter, maxLength: 200 }).map((raw) => raw.toWellFormed()),
    fc.integer({ min: 1, max: 5 }).map((seed) => listing(6_000, seed)),
  );
  const item = fc.record({
    output: text,
    said: text,
    notes: fc.array(fc.string({ minLength: 1, maxLength: 200 }), { maxLength: 3 }),
  });
  const items = fc
    .array(item, { minLength: 1, maxLength: 80 })
    .map((all) =>
      all.map(({ output, said, notes }, index) =>
        step(index + 1, { thought: said, notes, calls: [ran(`run ${index}`, shell(output))] }),
      ),
    );

  it('keeps to its tokens, names every step, and tells no older step in more detail than a newer one', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 500, max: 9_000 }), (all, tokensMax) => {
        const prompt = new MemoryPrompt(countTokens, tokensMax);
        const { history, last } = prompt.render(Memory.of(all), fence);
        const whole = `${history}\n${last}`;
        expect(countTokens(whole)).toBeLessThanOrEqual(tokensMax);
        const tiers = prompt.tiers(Memory.of(all), fence).map((tier) => TIERS.indexOf(tier));
        expect(tiers).toEqual(tiers.toSorted((one, other) => one - other));
        expect(unnamed(whole, all)).toEqual([]);
      }),
      { seed: 60, numRuns: 25 },
    );
  });

  /** Steps that are neither told nor in the range of those that are left out. */
  function unnamed(whole: string, all: readonly MemoryItem[]): number[] {
    const range = /^\[Steps? (\d+)(?: to (\d+))? (?:is|are) not shown here/mu.exec(whole);
    const [from, to] = range === null ? [0, -1] : [Number(range[1]), Number(range[2] ?? range[1])];
    const told = new Set(
      [...whole.matchAll(/"step":(\d+)|^\[Step (\d+)\]/gmu)].map(([, one, other]) => Number(one ?? other)),
    );
    return all.map((one) => one.step).filter((number) => !told.has(number) && (number < from || number > to));
  }

  it('keeps the notes of all steps as long as there is room for them', () => {
    const noteOf = (number: number): string =>
      `Fact number ${number} is worth keeping, and takes more words than fit into a few, the last of which is ${number}.`;
    const noted = Array.from({ length: 100 }, (_, index) =>
      step(index + 1, { notes: [noteOf(index)], calls: [ran('x', shell(listing(10_240)))] }),
    );
    const told = textOf(noted);
    for (const [index] of noted.entries()) expect(told).toContain(noteOf(index));
    expect(countTokens(told)).toBeLessThanOrEqual(BUDGET);
  });
});
