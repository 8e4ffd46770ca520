import type { Json } from '#proto';
import { call, end, exec, type Turn } from '../agent-model.js';
import { GATE_SECONDS } from './plans.js';
import { after, creates, edits, ends, task } from '../planner-stories.js';

/** What a page would obey that took it for Markdown or HTML. */
export const HOSTILE_REPLY = `[look](javascript:alert('reply')) <img src=x onerror="alert('reply')">`;
export const HOSTILE_WORDS = `![x](x" onerror="alert('words')) <script>alert('words')</script>`;

/** What the planner learns of what was done by hand. */
export const TAUGHT_TIP = 'Ask for one line per file system.';

/** What the scripted model says to the agents and the planner of these tests. */
export const CONSOLE_STORIES: Readonly<Record<string, readonly Turn[]>> = {
  tidy: [
    exec('rm -r old', {}, { thought: 'There are only logs of last year in it.' }),
    call('ASK', { question: 'Is anything else to go?' }),
    end('FINISH', 'The old logs are gone.'),
  ],
  looked: [exec('rm -r old'), end('FINISH', 'Gone.')],
  decided: [exec('rm -r old'), end('FINISH', 'Gone.')],
  keys: [exec('rm -r keys'), end('FINISH', 'Tidy.')],
  hostile: [
    exec('rm -r old', {}, { thought: HOSTILE_REPLY, notes: [HOSTILE_REPLY] }),
    end('FAIL', HOSTILE_REPLY, { thought: HOSTILE_REPLY }),
  ],
  'plan-words': [
    creates({
      name: 'Look after the shop',
      tasks: [
        task('count', 'head -c 1 words', {
          name: 'Count the stock',
          command: { tool: 'EXEC_CLI', arguments: { command: 'head -c 1 words', timeout: GATE_SECONDS } },
        }),
      ],
      dependencies: [],
    }),
    edits(
      { tool: 'add_task', arguments: { ...task('sweep', 'echo swept'), name: 'Sweep the floor' } },
      { tool: 'add_dependency', arguments: after('count', 'sweep') },
    ),
    ends('FINISH', 'The shop is looked after.', ['sweep']),
  ],
  'plan-taught': [
    {
      json: {
        request: 'Which disks are nearly full',
        tips: [TAUGHT_TIP],
        constellation: { name: 'Look at the disks', tasks: [task('disks', 'df -h')], dependencies: [] },
      } as unknown as Json,
    },
  ],
};
