import fc from 'fast-check';
import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';
import type {
  AgentProfile,
  Experience,
  Json,
  RunbookInfo,
  RunEvent,
  TaskConstellation,
  TaskError,
  TaskStarLine,
} from '#proto';
import { emptyRun, foldEvents, type Run } from '#libs/constellation';

/** Test vocabulary of the planner's prompts. Data is fixed. */

const PLAIN = { disallowedSpecial: new Set<string>() };

/** A real tokenizer, so that budgets mean something. */
export const countTokens = (text: string): number => count(text, PLAIN);

/** Any character, halves of characters included. */
export const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

export const BOUNDARY = 'k3J9sQx7PqLm2NvRt4Zw';

/** A text of so many characters that looks like the output of a command. */
export function listing(chars: number, seed = 1): string {
  let text = '';
  for (let row = 0; text.length < chars; row++) {
    text += `-rw-r--r-- 1 root root ${(row * 7919 * seed) % 99_991} Mar ${(row % 28) + 1} 08:${row % 60} file-${seed}-${row}.log\n`;
  }
  return text.slice(0, chars);
}

const HASH = 'a'.repeat(64);
const AT = '2026-01-01T00:00:00.000Z';

export type TaskSpec = Partial<TaskConstellation['tasks'][number]> & {
  readonly id: string;
  /** What became of it; pending when nothing is said. */
  readonly became?:
    | { readonly kind: 'running' }
    | { readonly kind: 'completed'; readonly value: Json; readonly cut?: readonly string[] }
    | { readonly kind: 'failed'; readonly error: TaskError }
    | { readonly kind: 'skipped'; readonly reason: string };
  /** What its agent noted. */
  readonly notes?: readonly string[];
};

/** A run as its events tell it. */
export function runOf(specs: readonly TaskSpec[], lines: readonly TaskStarLine[] = []): Run {
  const tasks = specs.map((spec) => {
    const { became, notes, ...star } = spec;
    void [became, notes]; // events of their own
    return { name: star.id, description: '', tips: [], target: { device: 'web-1' }, ...star };
  });
  const constellation = { name: 'test', tasks, lines: [...lines] };
  const begin: RunEvent[] = [
    {
      type: 'RUN_REQUESTED',
      data: {
        requestId: 'request-1',
        namespace: 'default',
        contentHash: HASH,
        goal: null,
        constellation,
        options: {},
        metadata: {},
        requestedBy: { kind: 'external', id: 'default' },
        requestedAt: AT,
        deadlineAt: '2026-01-02T00:00:00.000Z',
      },
    },
    {
      type: 'CONSTELLATION_MODIFIED',
      data: { revision: 1, origin: 'request', tasks: tasks.length, lines: lines.length, modifiedAt: AT },
    },
  ];
  return foldEvents(emptyRun('run-1'), [...begin, ...specs.flatMap((spec) => becameOf(spec, lines))]);
}

function becameOf({ id, target, became, notes = [] }: TaskSpec, lines: readonly TaskStarLine[]): RunEvent[] {
  if (became === undefined) return [];
  const isGood = became.kind === 'completed';
  const from = lines.filter((line) => line.from === id);
  const judged = from.map((line) => ({ id: line.id, satisfied: isGood || line.type === 'unconditional' }));
  if (became.kind === 'skipped') {
    const [first] = lines.filter((line) => line.to === id);
    const data = { taskId: id, by: 'failure', lineId: first?.id ?? 'l', reason: became.reason } as const;
    return [{ type: 'TASK_SKIPPED', data: { ...data, lines: judged, skippedAt: AT } }];
  }
  const started: RunEvent = {
    type: 'TASK_STARTED',
    data: {
      taskId: id,
      attempt: 1,
      deviceId: target !== undefined && 'device' in target ? target.device : 'web-1',
      sessionId: 's1',
      journalId: null,
      command: { tool: 'EXEC_CLI', arguments: {} },
      inputs: [],
      priority: 0,
      startedAt: AT,
      timeoutAt: '2026-01-01T01:00:00.000Z',
    },
  };
  const ending = { taskId: id, attempt: 1, lines: judged, attemptHash: HASH, notes: [...notes] };
  switch (became.kind) {
    case 'running':
      return [started];
    case 'completed':
      return [
        started,
        {
          type: 'TASK_COMPLETED',
          data: { ...ending, result: { value: became.value, cut: [...(became.cut ?? [])] }, completedAt: AT },
        },
      ];
    case 'failed':
      return [started, { type: 'TASK_FAILED', data: { ...ending, error: became.error, failedAt: AT } }];
  }
}

/** `cut`: strings of it that were cut when it was recorded. */
export const done = (value: Json, cut: readonly string[] = []): Pick<TaskSpec, 'became'> => ({
  became: { kind: 'completed', value, cut },
});

export const broke = (message: string, value?: Json): Pick<TaskSpec, 'became'> => ({
  became: {
    kind: 'failed',
    error: { code: 'EXIT_CODE', message, outcome: 'failed', ...(value === undefined ? {} : { output: { value } }) },
  },
});

/** What EXEC_CLI answers. */
export const shell = (stdout: string, exitCode = 0, stderr = ''): Json => ({
  stdout,
  stderr,
  exit_code: exitCode,
  command: '',
  execution_time: 0,
  timestamp: '',
  status: exitCode === 0 ? 'SUCCESS' : 'ERROR',
});

/** `line('a=>b')`: success-only; `a->b`: unconditional. */
export function line(text: string): TaskStarLine {
  const [from = '', arrow = '', to = ''] = text.split(/(->|=>)/u);
  return { id: `${from}-${to}`, from, to, type: arrow === '=>' ? 'success-only' : 'unconditional' };
}

export function profile(deviceId: string, change: Partial<AgentProfile> = {}): AgentProfile {
  return {
    deviceId,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: `${deviceId}.example.org`,
    capabilities: ['cli'],
    tags: [],
    tools: [
      {
        name: 'EXEC_CLI',
        description: 'Runs a command line in a shell, from its beginning to its end.',
        readOnly: false,
        inputSchema: {
          type: 'object',
          properties: {
            command: { type: 'string', description: 'The command line.' },
            timeout: { type: 'number', description: 'Seconds.', default: 30 },
          },
          required: ['command'],
        },
      },
      {
        name: 'SYS_INFO',
        description: 'What the machine knows about itself.',
        readOnly: true,
        inputSchema: {
          type: 'object',
          properties: { info_type: { enum: ['memory', 'disk', 'cpu'] } },
          required: ['info_type'],
        },
      },
    ],
    resources: { cpuCount: 4, memoryMb: 8_192 },
    tasksMax: 8,
    held: null,
    session: null,
    revision: 1,
    enrolledAt: AT,
    changedAt: AT,
    ...change,
  };
}

export function learntOf(id: string, change: Partial<Experience> = {}): Experience {
  return {
    id,
    kind: 'experience',
    request: 'Check the disks of some servers.',
    tips: ['df -P prints one line per file system.'],
    constellation: {
      name: 'disks',
      tasks: [
        {
          task_id: 'disk',
          name: 'Disk usage',
          description: 'Usage of all local file systems.',
          target: { os: 'linux' },
          command: { tool: 'EXEC_CLI', arguments: { command: 'df -P -l' } },
        },
      ],
      dependencies: [],
    },
    source: 'run-0',
    learntBy: 'planner',
    learntAt: AT,
    ...change,
  };
}

export const RUNBOOK: Pick<RunbookInfo, 'name' | 'description' | 'parameters'> = {
  name: 'fleet-health',
  description: 'Load, memory and disks of all connected devices.',
  parameters: [{ name: 'tag', description: 'Only devices with this tag.', type: 'string', required: false }],
};
