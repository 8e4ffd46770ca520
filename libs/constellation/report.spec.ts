import { describe, expect, it } from '@jest/globals';
import type { RunCommit, RunView } from '#proto';
import { attemptCommitsOf, generateHistory, runCommitsOf, type HistoryStep } from '#libs/testing';
import { foldRun } from './evolve.js';
import { MERMAID_TASKS_MAX } from './report-dag.js';
import { commandsOf, type CommandRecord } from './report-commands.js';
import { renderReport, REPORT_LIMITS, type ReportInput } from './report.js';
import { viewOf } from './view.js';

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
  for (const { events } of commits) {
    for (const { data } of events) {
      if ('reason' in data) Object.assign(data, { reason: typeof data.reason === 'string' ? HOSTILE : data.reason });
      if ('text' in data) data.text = HOSTILE;
      if ('error' in data) data.error = { ...data.error, message: HOSTILE };
      if ('constellation' in data) for (const task of data.constellation?.tasks ?? []) task.name = HOSTILE;
    }
  }
  const error = { code: 'BAD', message: HOSTILE, outcome: 'failed' as const };
  const run: RunView = {
    ...input.run,
    name: HOSTILE,
    reason,
    requestedBy: HOSTILE,
    tasks: input.run.tasks.map((task) => ({ ...task, name: HOSTILE, error, reason })),
    lines: input.run.lines.map((line) => ({ ...line, condition: HOSTILE, satisfied: false, reason })),
  };
  const commands = input.commands.map((command): CommandRecord => ({
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

describe('renderReport', () => {
  const input = inputOf(generateHistory({ seed: 3, tasks: 6 }));
  const report = renderReport(input);

  it('has every section, and says the same every time', () => {
    const headings = [...report.matchAll(/^## (.*)$/gmu)].map(([, title]) => title);
    expect(headings).toEqual(
      [
        'Request',
        'Constellation',
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

  it.each([1, 2, 3, 4, 5])('lets hostile text out of no fence, span or cell (history %i)', (seed) => {
    const plain = inputOf(generateHistory({ seed, tasks: 7 }));
    const { prose, fences } = partsOf(renderReport(poisoned(plain)));
    expect(prose).not.toMatch(/evil|script|alert|TITLE|<|\]\(|javascript/iu);
    expect(
      prose
        .match(/^#.*$/gmu)
        ?.filter((line) => !/^#{1,3} (Report of run §|Task §, attempt \d+|[A-Z][a-z ]+)$/u.test(line)),
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
