import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRunbook, planOfRunbook } from '#libs/planner';
import { loadRunbooks, runbookDirectories } from '#libs/prompts';
import type { CommandCall } from '#proto';
import { checkCommandLine } from '../../libs/planner/runbook/command-line.js';
import { piecesOf, rendered } from '../../libs/planner/runbook/placeholders.js';
import { device, fleet, HASH } from '../../libs/constellation/testing/given.js';
import { Machine, runPlan } from './plan-on-shell.js';

// A value is hostile when it would make a file `canary` if any shell ever read it as more than data.
const HOSTILE = [
  "'; touch canary; '",
  '"; touch canary; "',
  '$(touch canary)',
  '`touch canary`',
  '; touch canary',
  '\ntouch canary\n',
  "\\'; touch canary; \\'",
  '| touch canary #',
  '&& touch canary',
  '${IFS}$(touch${IFS}canary)',
  'a\' $(touch canary) `touch canary` "$(touch canary)" \'b',
  '-exec touch canary ;',
  "'\\''; touch canary",
  'END\ntouch canary',
  '{{ p.x }}$(touch canary)',
];
const HOSTILE_CHARACTERS = `' " \` $ ( ) { } \\ ; & | < > * ? ! # ~ - a`.split(' ').concat(' ', '\n');
const FLEET = fleet([device('web-1')]);

let machine: Machine;
beforeAll(() => {
  machine = new Machine({ df: 'echo head; echo "/dev/a 1 1 0 99% /"', journalctl: 'exit 1' });
});
afterAll(() => machine.remove());
const isHarmed = (): boolean => existsSync(join(machine.directory, 'canary'));
const mend = (): void => rmSync(join(machine.directory, 'canary'), { force: true });

/** A runbook with one task, the parameter `x` and these arguments. */
function withArguments(given: object) {
  return parseRunbook(
    {
      name: 'try',
      title: 't',
      description: 'd',
      parameters: [{ name: 'x', description: 'anything' }],
      constellation: {
        tasks: [{ task_id: 'a', name: 'a', target: { os: 'linux' }, command: { tool: 'EXEC_CLI', arguments: given } }],
      },
    },
    HASH,
    'operator',
  );
}

function commandFor(given: object, x: string): CommandCall | undefined {
  const parsed = withArguments(given);
  if (!parsed.ok) return undefined;
  const plan = planOfRunbook(parsed.runbook, { x }, { fleet: FLEET });
  if (!plan.ok) throw new Error(JSON.stringify(plan.issues));
  return plan.constellation.tasks[0]?.command;
}

describe('a value of a parameter', () => {
  const ways: readonly object[] = [
    { command: 'printf %s {{ p.x | sh }}' },
    { command: 'printf "%s" pre{{ p.x | sh }} | sed s/^pre//' },
    { command: "# it's here\nprintf %s a >&2; printf \"%s\" ''{{ p.x | sh }}" },
    { command: 'printf %s "$X"', env: { X: '{{ p.x }}' } },
    { command: 'cat', stdin: '{{ p.x }}' },
  ];

  it.each(ways)('reaches a command as it is: %j', (way) => {
    const texts = fc.string({ unit: fc.constantFrom(...HOSTILE_CHARACTERS), maxLength: 30 });
    const check = (x: string): void => {
      const command = commandFor(way, x);
      if (command === undefined) throw new Error('it was refused');
      // A command substitution of sed and of sh ends without the last line break; nothing else may differ.
      expect(machine.exec(command).text.replace(/\n$/u, '')).toBe(x.replace(/\n$/u, ''));
    };
    for (const x of HOSTILE) check(x);
    fc.assert(
      fc.property(
        texts.filter((text) => !text.startsWith('\n')),
        check,
      ),
      { seed: 1, numRuns: 20 },
    );
    expect(isHarmed()).toBe(false);
  });
});

describe('a command line that is not refused', () => {
  // Whatever stands around the placeholder: either it is refused, or a hostile value does nothing.
  const fragments = `' " \\ $ ( ) { } # ; | & [ ] = ! \` < - a X= \${X:- "$( << $' it's sh -c eval if then echo`.split(
    ' ',
  );
  const fragment = fc.constantFrom(
    ' ',
    ' ',
    '\n',
    '\\\n',
    'sh -c ',
    'eval ',
    'echo ',
    'if ',
    'then ',
    ' # ',
    ...fragments,
  );
  const around = fc.tuple(
    fc.array(fragment, { maxLength: 7 }).map((parts) => parts.join('')),
    fc.array(fragment, { maxLength: 5 }).map((parts) => parts.join('')),
  );
  const shells = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell));

  it('makes no program of a value', () => {
    let ran = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('', 'echo ', 'cat a', 'if true; then echo '),
        around,
        fc.constantFrom(...HOSTILE),
        fc.constantFrom(...shells),
        (start, [before, after], x, shell) => {
          const line = piecesOf(`${start}${before}{{ p.x | sh }}${after}`);
          if (!line.ok || checkCommandLine(line.pieces) !== undefined) return;
          ran += 1;
          const command = rendered(line.pieces, new Map([['p.x', x]]));
          machine.exec({ tool: 'EXEC_CLI', arguments: { command } }, '', shell);
          const harmed = isHarmed();
          mend();
          expect({ command, shell, harmed }).toEqual({ command, shell, harmed: false });
        },
      ),
      { seed: Number(process.env['SEED'] ?? 7), numRuns: Number(process.env['RUNS'] ?? 500) },
    );
    expect(ran).toBeGreaterThan(60);
  });
});

describe('the shipped runbooks', () => {
  it('take no hostile value for more than data', async () => {
    const { runbooks } = await loadRunbooks(runbookDirectories({}));
    for (const runbook of runbooks) {
      const texts = runbook.info.parameters.filter(({ type, name }) => type !== 'integer' && name !== 'script');
      for (const { name } of texts) {
        for (const x of HOSTILE) {
          const others = runbook.info.name === 'run-script' && name !== 'path' ? { script: 'true' } : {};
          const required = { service: 'nginx', device: 'web-1' };
          const given = { ...(runbook.info.name === 'restart-service' ? required : others), [name]: x };
          for (const one of [given, { ...given, [name]: `/${x}` }]) {
            const plan = planOfRunbook(runbook, one, { fleet: FLEET });
            if (plan.ok) runPlan(plan.constellation, { any: machine });
          }
        }
      }
    }
    expect(isHarmed()).toBe(false);
  });
});
