import { describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import fc from 'fast-check';
import { constellationServer } from '#libs/constellation-mcp';
import { EditStage } from '#libs/planner';
import { CONSTELLATION_TOOL_NAMES, type ConstellationToolCall, type RunBoard } from '#proto';
import { completed, NOW, plan, Story } from '../../libs/planner/moves/given.testing.js';

const SEED = 20_261_121;
const RUNS = 150;
/** Made of a number: the package would make a table of all of them first. */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

/** a has ended, b runs, c waits for it. */
const running = Story.of(plan(['a', 'b', 'c'], ['a->b', 'b->c'])).when(completed('a')).run;

describe(`arguments that nobody should send (seed ${SEED})`, () => {
  const names = fc.constantFrom(
    ...CONSTELLATION_TOOL_NAMES,
    ...'get_constellation get_board say set_board_value remove_board_value'.split(' '),
  );
  const keys = fc.constantFrom(
    ...'task_id name description target target_device_id inputs verify command config tasks dependencies'.split(' '),
    ...'condition type from_task_id to_task_id dependency_id tips text value revision id'.split(' '),
    ...'__proto__ constructor prototype toString toJSON hasOwnProperty length'.split(' '),
    '',
  );
  const leaves = fc.oneof(
    fc.constantFrom<unknown>('a', 'b', 'c', 'a-b', null, true, -1, 1e308, [], {}, '', '../..', 'conditional'),
    fc.string({ unit: anyCharacter }),
    fc.integer(),
    fc.constant('x'.repeat(100_000)),
    fc.constant(JSON.parse('{"__proto__": {"admin": true}}') as unknown),
    fc.constant(Array.from({ length: 3_000 }, () => 'a')),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      leaves,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.array(fc.tuple(keys, tie('tree')), { maxLength: 6 }).map(withKeys),
    ),
  }));
  const objects = fc.array(fc.tuple(keys, tree), { maxLength: 8 }).map(withKeys);

  it('get a sentence or what the tool is for, break nothing, and reach no prototype', async () => {
    const stage = new EditStage(running, NOW);
    const faults: unknown[] = [];
    const constellation = {
      snapshot: async () => stage.snapshot(),
      apply: async (one: ConstellationToolCall) => {
        const staged = stage.apply(one);
        return staged.ok ? staged : { ok: false as const, problems: staged.violations.map(({ message }) => message) };
      },
    };
    const board: RunBoard = { runId: 'run-1', revision: 0, bytes: 0, entries: [] };
    const run = {
      board: async () => board,
      tell: async () => ({ ok: true, runId: 'run-1', sequence: 1, note: '' }) as const,
    };
    const server = constellationServer(
      { constellation, run },
      {
        access: 'edit',
        runId: 'run-1',
        onFault: (error) => faults.push(error),
      },
    );
    const client = new Client({ name: 'fuzz', version: '1.0.0' });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await server.connect(there);
    await client.connect(here);
    const property = fc.asyncProperty(names, objects, async (name, args) => {
      const { content, isError } = await client.callTool({ name, arguments: args as Record<string, unknown> });
      const [{ text } = { text: '' }] = content as { text: string }[];
      expect(isError === true ? text : JSON.parse(text)).toEqual(
        isError === true
          ? expect.stringMatching(/^Nothing was changed:\n./u)
          : expect.objectContaining({ run_id: expect.any(String) }),
      );
      expect(text.length).toBeLessThan(64_000);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
    expect(faults).toEqual([]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    await client.close();
  });
});

/** As `JSON.parse` makes them: `__proto__` is a key like the others. */
function withKeys(entries: readonly (readonly [string, unknown])[]): unknown {
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}
