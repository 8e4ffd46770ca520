import { describe, expect, it } from '@jest/globals';
import type { RunCommit, RunView } from '#proto';
import {
  attemptCommitsOf,
  forkHistory,
  generateAskedHistory,
  generateEditedHistory,
  generateHistory,
  History,
  runCommitsOf,
  type HistoryStep,
} from '#libs/testing';
import { editText } from '../views/event-text.js';
import { foldRun } from '../fold/evolve.js';
import { constellation, submit } from '../testing/given.js';
import { metricsOf } from '../views/metrics.js';
import { MERMAID_TASKS_MAX } from './report-dag.js';
import { commandsOf, type ReportedCommand } from './report-commands.js';
import { span } from './report-text.js';
import { REPORT_LIMITS } from './report-limits.js';
import { renderReport, type ReportInput } from './report.js';
import { viewOf } from '../views/view.js';

/** What tries to be more than text, wherever it is put. */
const HOSTILE = [
  '`````',
  '\n```\n# TITLE\n',
  '<script>alert(1)</script>',
  '![x](http://evil.example/x)',
  '[x](javascript:alert(1))',
  '| a | b |\n|---|',
  '\\| \\\\| |',
  'http://evil.example',
  '\u001b]8;;http://evil.example\u0007x\u001b[31m',
  '\u202e\u0000\u{e0041}',
  '"]:::x; click t0 "javascript:alert(1)"',
  'end\n  subgraph x',
].join(' ');

function inputOf(steps: readonly HistoryStep[]): ReportInput {
  const commits = runCommitsOf(steps);
  const run = foldRun(commits);
  if (run === undefined) throw new Error('the history has no run');
  return { run: viewOf(run), commits, commands: commandsOf(attemptCommitsOf(steps)) };
}

/** Puts the hostile text into every text that somebody else than us writes. */
function poisoned(input: ReportInput): ReportInput {
  const reason = HOSTILE;
  const commits = JSON.parse(JSON.stringify(input.commits)) as RunCommit[];
  for (const { events } of commits) for (const { data } of events) poison(data);
  const error = { code: 'BAD', message: HOSTILE, outcome: 'failed' as const };
  const run: RunView = {
    ...input.run,
    name: HOSTILE,
    reason,
    requestedBy: HOSTILE,
    tasks: input.run.tasks.map((task) => ({ ...task, name: HOSTILE, error, reason })),
    lines: input.run.lines.map((line) => ({ ...line, condition: HOSTILE, satisfied: false, reason })),
  };
  const commands = input.commands.map((command): ReportedCommand => ({
    ...command,
    tool: HOSTILE,
    arguments: { command: HOSTILE, [HOSTILE]: HOSTILE },
    stdout: HOSTILE,
    stderr: HOSTILE,
    output: HOSTILE,
    error: HOSTILE,
  }));
  return { run, commits, commands };
}

const FOREIGN = new Set([
  'message',
  'reason',
  'text',
  'name',
  'note',
  'observation',
  'thought',
  'description',
  'path',
  'question',
  'answer',
  'reasons',
  'rule',
  'agent',
  'command',
]);

/** Whatever a device, a planner or a person may have written, at any depth. */
function poison(value: object): void {
  for (const [key, item] of Object.entries(value)) {
    if (Array.isArray(item) && FOREIGN.has(key)) Object.assign(value, { [key]: item.map(() => HOSTILE) });
    else if (typeof item === 'object' && item !== null) poison(item as object);
    else if (typeof item === 'string' && FOREIGN.has(key)) Object.assign(value, { [key]: HOSTILE });
    else if (key === 'id' && 'kind' in value) Object.assign(value, { id: HOSTILE });
  }
}

interface Parts {
  readonly prose: string;
  readonly fences: readonly { readonly language: string; readonly body: string }[];
}

/** Reads Markdown as CommonMark does, as far as it matters here: fences first, then code spans. */
function partsOf(markdown: string): Parts {
  const fences: { language: string; body: string }[] = [];
  const prose: string[] = [];
  let open: { ticks: string; language: string; body: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const [, ticks, language] = /^(`{3,})([a-z]*)$/u.exec(line) ?? [];
    if (open === undefined && ticks !== undefined) open = { ticks, language: language ?? '', body: [] };
    else if (open !== undefined && ticks !== undefined && language === '' && ticks.length >= open.ticks.length) {
      fences.push({ language: open.language, body: open.body.join('\n') });
      open = undefined;
    } else if (open === undefined) prose.push(line);
    else open.body.push(line);
  }
  if (open !== undefined) throw new Error('a fence is not closed');
  const withoutSpans = prose.map((line) => line.replaceAll(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/gu, '§'));
  return { prose: withoutSpans.join('\n'), fences };
}

const edited = (seed: number): HistoryStep[] => generateEditedHistory({ seed, goal: seed % 3 === 0 });

describe('renderReport', () => {
  const input = inputOf(generateHistory({ seed: 3, tasks: 6 }));
  const report = renderReport(input);

  it('has every section, and says the same every time', () => {
    const headings = [...report.matchAll(/^## (.*)$/gmu)].map(([, title]) => title);
    expect(headings).toEqual(
      [
        'Request',
        'Constellation',
        'Figures',
        'Tasks',
        'Timeline',
        'Commands',
        'Lines',
        'Skipped and cancelled tasks',
        'How to verify this report',
      ].filter(
        (title) =>
          title !== 'Skipped and cancelled tasks' || input.run.tasks.some(({ status }) => status === 'SKIPPED'),
      ),
    );
    expect(renderReport(input)).toBe(report);
  });

  it('tells every task, every event with its time, and every command with its output', () => {
    const { fences } = partsOf(report);
    for (const { id } of input.run.tasks) expect(report).toContain(`| \`${id}\` |`);
    const events = input.commits.flatMap(({ events }) => events);
    expect(report.match(/^\| \d+ \| \+\d+\.\d{3} s \| /gmu)).toHaveLength(events.length);
    const attempts = events.filter(({ type }) => type === 'TASK_STARTED');
    expect(report.match(/^### Task /gmu)).toHaveLength(attempts.length);
    expect(input.commands).toHaveLength(attempts.length);
    for (const {
      arguments: { command },
      stdout,
      commandId,
    } of input.commands) {
      expect(fences).toContainEqual({ language: 'sh', body: command });
      expect(fences).toContainEqual({ language: 'text', body: stdout });
      expect(report).toContain(commandId);
    }
  });

  it('shows the constellation before and after, and why a line was not satisfied', () => {
    const drawings = partsOf(report).fences.filter(({ language }) => language === 'mermaid');
    expect(drawings.map(({ body }) => body.split('\n', 1)[0])).toEqual(['graph TD', 'graph TD']);
    expect(drawings[0]?.body).not.toContain('COMPLETED');
    expect(drawings[1]?.body).toContain(':::COMPLETED');
    for (const { satisfied, reason } of input.run.lines) {
      if (satisfied === false) expect(report).toContain(reason);
    }
  });

  it('names the last hash and how to check it', () => {
    const last = input.commits.at(-1);
    expect(report).toContain(`\`${last?.hash}\``);
    expect(report).toContain(`orrery verify ${input.run.runId}`);
  });

  it('says that a command which started has no end yet', () => {
    const open = renderReport({ ...input, commands: [] });
    expect(open.match(/no end of this command is recorded/gu)).toHaveLength(input.commands.length);
    expect(open).toContain('echo 0');
  });

  it('is written at every prefix of a run', () => {
    for (let count = 1; count <= input.commits.length; count++) {
      const commits = input.commits.slice(0, count);
      const run = foldRun(commits);
      if (run === undefined) throw new Error('the history has no run');
      expect(partsOf(renderReport({ run: viewOf(run), commits, commands: [] })).prose).toContain('## Timeline');
    }
  });

  const histories: [string, HistoryStep[]][] = [
    ...[1, 2, 3, 4, 5].map((seed): [string, HistoryStep[]] => [`${seed}`, generateHistory({ seed, tasks: 7 })]),
    ...[2, 3, 5, 6].map((seed): [string, HistoryStep[]] => [`edited ${seed}`, edited(seed)]),
    ['forked', forkHistory(edited(4), { at: 12, seed: 1 })],
  ];
  it.each(histories)('lets hostile text out of no fence, span or cell (history %s)', (_, steps) => {
    const plain = inputOf(steps);
    const { prose, fences } = partsOf(renderReport(poisoned(plain)));
    expect(prose).not.toMatch(/evil|script|alert|TITLE|<|\]\(|javascript/iu);
    expect(
      prose
        .match(/^#.*$/gmu)
        ?.filter(
          (line) =>
            !/^#{1,3} (Report of run §|Task §, attempt \d+|Round §|Edit of event \d+|[A-Z][a-z ]+)$/u.test(line),
        ),
    ).toEqual([]);
    // Every row of a table has as many cells as its head.
    for (const block of prose.split(/\n\n+/u).filter((text) => text.startsWith('|'))) {
      const widths = block.split('\n').map((row) => row.split('|').length);
      expect(new Set(widths).size).toBe(1);
    }
    const everything = prose + fences.map(({ body }) => body).join('\n');
    expect(everything).not.toMatch(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u);
    for (const { body } of fences.filter(({ language }) => language === 'mermaid')) {
      for (const line of body.split('\n').slice(1)) {
        expect(line).toMatch(
          /^ {2}(?:t\d+\["[^"]*"\](?::::[A-Z]+)?|t\d+ (?:-->|-\.->)(?:\|"[^"]*"\|)? t\d+|classDef [A-Z]+ [\w#:,-]+)$/u,
        );
      }
    }
  });

  it('stays within its limits, and says what it leaves out', () => {
    const large = inputOf(generateHistory({ seed: 9, tasks: MERMAID_TASKS_MAX + 1 }));
    const commands = large.commands.map((command) => ({ ...command, stdout: 'x'.repeat(1_000_000) }));
    const markdown = renderReport({ ...large, commands });
    expect(markdown.length).toBeLessThan(REPORT_LIMITS.outputsCharsMax + 1_500_000);
    expect(markdown).toContain('characters left out');
    expect(markdown).toContain('are too many to draw');
  });
});

describe('the report of a run that was edited while it ran', () => {
  const input = inputOf(edited(6));
  const report = renderReport(input);
  const events = input.commits.flatMap((commit) => commit.events);
  const of = <T extends (typeof events)[number]['type']>(type: T) =>
    events.flatMap((event) => (event.type === type ? [event as Extract<typeof event, { type: T }>] : []));

  it('tells every round: what it was about, who answered, what changed and what was refused', () => {
    const { prose, fences } = partsOf(report);
    expect(prose.match(/^### Round §$/gmu)).toHaveLength(of('EDIT_OPENED').length);
    for (const { data } of of('EDIT_OPENED')) expect(report).toContain(`### Round \`${data.editId}\``);
    for (const { data } of of('EDIT_REJECTED')) {
      for (const { code, path } of data.violations) expect(report).toContain(`- \`${code} ${path}: `);
    }
    const edits = of('CONSTELLATION_MODIFIED').flatMap(({ data }) => data.edits ?? []);
    expect(edits.length).toBeGreaterThan(0);
    for (const edit of edits) expect(report).toContain(`- ${span(editText(edit), 1_000)}`);
    expect(fences.some(({ body }) => body.startsWith('round e1'))).toBe(true);
  });

  it('says how every round ended', () => {
    const outcomes = [...report.matchAll(/^\| Outcome \| (.*) \|$/gmu)].map(([, text]) => text).slice(1);
    const ends = events.flatMap((event) => {
      if (event.type === 'EDIT_ABANDONED') {
        return [`given up: \`${event.data.reason.code}: ${event.data.reason.message}\``];
      }
      if (event.type !== 'CONSTELLATION_MODIFIED' || event.data.editId === undefined) return [];
      const { revision, edits = [], try: number, state } = event.data;
      const what = edits.length === 0 ? `no change of revision ${revision}` : `revision ${revision}`;
      return [`${what} by \`planner\`, try ${number}, ${state}`];
    });
    expect(outcomes).toEqual(ends);
    expect(ends.some((text) => text.startsWith('given up'))).toBe(true);
  });

  it('shows the plan as its first round made it, although nobody had sent one', () => {
    const [before] = partsOf(report).fences.filter(({ language }) => language === 'mermaid');
    expect(before?.body).toContain('t0: Task');
    expect(before?.body).not.toMatch(/COMPLETED|FAILED|n1/u);
  });

  it('gives the figures that the facts give', () => {
    const metrics = metricsOf(input.commits);
    expect(report).toContain(
      `| Edit rounds | ${metrics?.edits.rounds}, of which ${metrics?.edits.abandoned} were given up |`,
    );
    expect(report).toContain(`| Tasks that ran at once | ${metrics?.peakConcurrency} |`);
    expect(report).toContain(`| Parallelism (W / L) | ${metrics?.parallelismRatio?.toFixed(2)} |`);
  });

  it('says at every point what it waits for, what wakes it, and which round is open', () => {
    for (let count = 1; count < input.commits.length; count++) {
      const commits = input.commits.slice(0, count);
      const run = foldRun(commits);
      if (run === undefined) throw new Error('the history has no run');
      const view = viewOf(run);
      const text = renderReport({ run: view, commits, commands: [] });
      expect(text.includes('| Woken by |')).toBe(view.waitingFor !== null);
      expect(text.includes('| Open edit round |')).toBe(view.editing !== null);
      expect(text.includes('held by an edit')).toBe(view.tasks.some(({ held }) => held));
    }
  });

  it('tells an edit of an operator, which has no round', () => {
    const proposal = { editId: null, try: 1, baseRevision: null, state: 'CONTINUE' as const, edits: [] };
    const operator = { kind: 'person' as const, id: 'anna' };
    const history = new History('run-1');
    history.decide([submit(constellation(['a', 'b'], ['a->b']))]);
    const edits = [{ tool: 'remove_task' as const, taskId: 'b' }];
    history.decide([
      {
        kind: 'verb',
        id: 'v1',
        by: operator,
        action: { verb: 'PROPOSE', proposal: { ...proposal, edits }, delegated: false },
      },
    ]);
    const text = renderReport(inputOf(history.steps));
    expect(text).toContain('### Edit of event 4');
    expect(text).toContain('| Outcome | revision 2 by `anna` |');
    expect(text).toContain('- `removes task b`');
  });
});

describe('the report of a forked run', () => {
  it('names its parent and what it took over from it', () => {
    const parent = edited(4);
    const input = inputOf(forkHistory(parent, { at: 12, seed: 1 }));
    const report = renderReport(input);
    const { parent: origin, tasks } = input.run;
    expect(report).toContain(`| Forked from | event ${origin?.sequence} of run \`${origin?.runId}\` |`);
    expect(report).toContain('## Fork');
    for (const { id } of tasks.slice(0, 3))
      expect(report).toMatch(new RegExp(`^\\| \`${id}\` \\| [A-Z]+ \\| \\d+ \\| `, 'mu'));
    expect(partsOf(report).fences.filter(({ language }) => language === 'mermaid')).toHaveLength(2);
  });
});

describe('the approvals of a run', () => {
  const input = inputOf(generateAskedHistory({ seed: 3 }));
  const report = renderReport(input);
  const section = report.slice(report.indexOf('## Approvals'), report.indexOf('## Commands'));
  const events = input.commits.flatMap((commit) => commit.events);

  it('are told with the exact command, its class, why it was asked about, and whose word it was', () => {
    const { fences } = partsOf(section);
    const asked = events.flatMap((event) => (event.type === 'APPROVAL_REQUESTED' ? [event.data] : []));
    expect(asked.length).toBeGreaterThan(3);
    for (const { ask } of asked) {
      expect(section).toContain(`\`${ask.approvalId}\``);
      if (ask.kind === 'question') expect(fences.map(({ body }) => body)).toContain(ask.question);
      else expect(section).toContain(`${ask.class}, by rule \`${ask.rule}\``);
    }
    const decided = events.flatMap((event) => (event.type === 'APPROVAL_DECIDED' ? [event.data] : []));
    for (const { decision, by } of decided) expect(section).toContain(`${decision} by ${by.id}`);
    expect(section.match(/^### /gmu)).toHaveLength(asked.length);
  });

  it('are in the timeline, and hostile text in them stays text', () => {
    expect(report).toContain('| APPROVAL_REQUESTED |');
    const { prose } = partsOf(renderReport(poisoned(input)));
    expect(prose).not.toMatch(/<script|\]\(|!\[|http:|\u001b|\u202e|TITLE/u);
  });

  it('are left out where nobody was asked', () => {
    expect(renderReport(inputOf(generateHistory({ seed: 3, tasks: 6 })))).not.toContain('## Approvals');
  });
});

describe('the usage of a run', () => {
  it('is told with its budget, where something was counted or bounded', () => {
    const { commits, run, commands } = inputOf(generateHistory({ seed: 3, tasks: 6 }));
    const used = { llmCalls: 3, tokens: 2_400, commands: 2, costUsd: 0.0123 };
    const report = renderReport({ commits, commands, run: { ...run, used } });
    expect(report).toContain('3 calls of a model, 2400 tokens, 2 commands, 0.0123 USD');
    expect(report).toContain('| Budget | none |');
  });
});
