import { mutant, type Mutant } from './mutant.js';

const TABLE = 'libs/aip/commands/command-table.ts';
const DIALECT = 'libs/aip/commands/foreign-dialect.ts';
const OUTCOME = 'libs/aip/commands/outcome.ts';
const DESK = 'services/aip-gateway/devices/command-desk.consumer.ts';

/** Commands and their results. */
export const COMMAND_MUTANTS: readonly Mutant[] = [
  mutant(
    'an agent that no client knows',
    DIALECT,
    ["'command-line': ['LinuxAgent'],", "'command-line': ['Agent'],"],
    ['command.list-tools', 'command.shape'],
  ),
  mutant(
    'any result is that of the first command',
    TABLE,
    [
      'if (this.#finished.has(commandId)) return [];\n    const open = this.#open.get(commandId);',
      'if (this.#finished.has(commandId)) return [];\n    const [open] = this.#open.values();',
    ],
    ['command.correlated'],
  ),
  mutant(
    'several commands at once for clients of other systems',
    TABLE,
    ['this.#slots = slots;', 'this.#slots = Math.max(slots, 2);'],
    ['command.foreign-in-order'],
  ),
  mutant(
    'a command that is asked for again is sent again',
    TABLE,
    ['if (open !== undefined) return this.#askAgain(open, { request, digest });', ''],
    ['command.once'],
  ),
  mutant(
    'an id may mean two things',
    TABLE,
    ['!== digest) return CONFLICT_REFUSED;', '!== digest) void CONFLICT_REFUSED;'],
    ['command.conflict'],
  ),
  mutant(
    'it is never too late',
    TABLE,
    ['if (!again && notAfterMs <= nowMs) return EXPIRED;', ''],
    ['command.expired'],
  ),
  mutant(
    'any tool is sent',
    TABLE,
    ['if (!again && !isOfSystem && tools?.has(tool) === false) return unknownTool(tool, tools);', ''],
    ['command.unknown-tool'],
  ),
  mutant(
    'what nobody knows is sent once more',
    TABLE,
    ['if (again && (this.#foreign || request.journalId !== this.#options.journalId)) return NOBODY_KNOWS;', ''],
    ['command.foreign-gone'],
  ),
  mutant(
    'the last result counts',
    TABLE,
    ['if (this.#finished.has(commandId)) return [];\n    const open', 'const open'],
    ['results.replayed-differently'],
  ),
  {
    name: 'a result ends commands of other devices',
    edits: [
      {
        file: DESK,
        text: 'this.#output = new LiveOutput(options);',
        becomes: 'this.#output = new LiveOutput(options);\n    (globalThis.desks ??= new Set()).add(this);',
      },
      {
        file: DESK,
        text: 'finished(commandId: CommandId, outcome: CommandOutcome, bytes: number): void {',
        becomes:
          'finished(commandId: CommandId, outcome: CommandOutcome, bytes: number): void {\n    for (const desk of globalThis.desks) desk.end(commandId, outcome, bytes);\n  }\n\n  end(commandId: CommandId, outcome: CommandOutcome, bytes: number): void {',
      },
    ],
    finds: ['results.of-another-device'],
  },
  mutant(
    'a tool that reports no success has succeeded',
    OUTCOME,
    ["inner['success'] === false", "inner['success'] === 'no'"],
    ['results.failure'],
  ),
  mutant(
    'no result is a good result',
    OUTCOME,
    [
      "if (result === undefined || result.status === 'none') {",
      "if (result === undefined) return withoutResult('COMPLETED', 'NONE', 'none');\n  if (result.status === 'none') {",
    ],
    ['results.missing'],
  ),
];
