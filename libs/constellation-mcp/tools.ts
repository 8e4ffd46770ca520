import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  CONSTELLATION_TOOL_NAMES,
  CONSTELLATION_TOOLS,
  ConstellationSnapshot,
  ConstellationToolCall,
  type ConstellationTool,
  type EditGrant,
} from '#proto';
import { isRunTool, RUN_TOOL_NAMES, RUN_TOOLS } from './run-tools.js';

export type Access = EditGrant['access'];

/** Looks at the constellation. */
export const READ_TOOL = 'get_constellation';
export const ReadToolInput = z.strictObject({});

const TITLES = {
  add_task: 'Add a task',
  remove_task: 'Remove a task',
  update_task: 'Change a task',
  add_dependency: 'Add a dependency',
  remove_dependency: 'Remove a dependency',
  update_dependency: 'Change a dependency',
  build_constellation: 'Build the constellation',
} as const satisfies Record<ConstellationTool, string>;

/** What takes something away that was there. An addition does not, though the devices will act on it. */
const DESTRUCTIVE: ReadonlySet<ConstellationTool> = new Set([
  'remove_task',
  'update_task',
  'remove_dependency',
  'update_dependency',
  'build_constellation',
]);

interface Tools {
  readonly read: Tool;
  readonly edits: readonly Tool[];
  readonly ofRun: readonly Tool[];
}
let made: Tools | undefined;

/** Made when somebody asks for them first: most processes that know the tools never list them. */
function tools(): Tools {
  if (made === undefined) {
    const output = schemaOf(ConstellationSnapshot, 'output');
    made = { read: readTool(output), edits: editTools(output), ofRun: runTools() };
  }
  return made;
}

const readTool = (outputSchema: Tool['outputSchema']): Tool => ({
  name: READ_TOOL,
  title: 'Look at the constellation',
  description: 'The tasks and dependencies of the run with their status and excerpts of results. Changes nothing.',
  inputSchema: schemaOf(ReadToolInput, 'input'),
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
});

const editTools = (outputSchema: Tool['outputSchema']): Tool[] =>
  CONSTELLATION_TOOL_NAMES.map((name) => ({
    name,
    title: TITLES[name],
    description: CONSTELLATION_TOOLS[name].about,
    inputSchema: schemaOf(CONSTELLATION_TOOLS[name].input, 'input'),
    outputSchema,
    annotations: {
      readOnlyHint: false,
      destructiveHint: DESTRUCTIVE.has(name),
      idempotentHint: true,
      // A task that is added runs on a device: what it does there is in nobody's hands.
      openWorldHint: true,
    },
  }));

const runTools = (): Tool[] =>
  RUN_TOOL_NAMES.map((name) => {
    const { access, title, about, input, output, hints } = RUN_TOOLS[name];
    return {
      name,
      title,
      description: about,
      inputSchema: schemaOf(input, 'input'),
      outputSchema: schemaOf(output, 'output'),
      annotations: {
        readOnlyHint: access === 'read',
        destructiveHint: hints.destructive,
        idempotentHint: hints.idempotent,
        // What is said is put to a planner, and what stands on the board is read by commands.
        openWorldHint: access === 'edit',
      },
    };
  });

/** As `tools/list` names them. */
export function toolsFor(access: Access): Tool[] {
  const { read, edits, ofRun } = tools();
  if (access === 'edit') return [read, ...edits, ...ofRun];
  return [read, ...ofRun.filter(({ name }) => accessNeededFor(name) === 'read')];
}

/** Which schema is meant; undefined for what is no tool, also for the names that every object answers to. */
export function accessNeededFor(tool: string): Access | undefined {
  if (tool === READ_TOOL) return 'read';
  if (isRunTool(tool)) return RUN_TOOLS[tool].access;
  return Object.hasOwn(CONSTELLATION_TOOLS, tool) ? 'edit' : undefined;
}

/** Every call that may come in, as one schema: its issues name fields of the arguments. */
export const AnyToolCall = ConstellationToolCall;

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Tool['inputSchema'] {
  // Without its `$schema` a schema is of the dialect of the protocol, which is the one that zod writes (2020-12).
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io });
  return { ...json, type: 'object' } as Tool['inputSchema'];
}
