import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModelServerRequest } from '#libs/testing';
import { RunRequest, type ToolConstellation, type ToolTask } from '#proto';
import { blocksOf, readPage, sectionOf } from '../pages/page.js';
import { end, exec, type Turn } from './agent-model.js';
import { after, creates, edits, ends, task } from './planner-stories.js';

/* The requests of docs/data.md, in the words that stand there, with real files and with a model that says what follows from them. */

const LOGS = sectionOf(readPage('docs/data.md'), 'Logs of three devices, one table');
const LOOK = sectionOf(readPage('docs/data.md'), 'Look first, then choose the device');

/** Jobs that wait on each device. */
const QUEUES = { 'db-1': 3, 'dev-3': 2, 'dev-4': 1 } as const;
export const SHORTEST = 'dev-4';

/** What the applications have logged, each on its device. */
const LOGGED: Readonly<Record<string, string>> = {
  web: '10:02 WARN slow answer\n10:00 INFO started\n10:05 ERROR no answer from db-1\n',
  shop: '10:04 ERROR card refused\n10:01 INFO started\n',
  mail: '10:03 WARN queue is long\n10:06 ERROR queue is full\n',
};
export const TABLE = [
  'time,level,text',
  '10:02,WARN,slow answer',
  '10:03,WARN,queue is long',
  '10:04,ERROR,card refused',
  '10:05,ERROR,no answer from db-1',
  '10:06,ERROR,queue is full',
  '',
].join('\n');

const queueOf = (place: string, device: string): string => join(place, 'queues', device);
const wordsIn = (place: string): string => join(place, 'web', 'words');

/** What lies on the devices before anybody asks for it: `place` is what the page calls `/srv`, and commands may read it. */
export async function layOut(): Promise<string> {
  const place = await mkdtemp('/var/tmp/orrery-case-');
  await chmod(place, 0o755);
  for (const [name, text] of Object.entries(LOGGED)) await lay(join(place, name, 'logs', 'app.log'), text);
  for (const [device, jobs] of Object.entries(QUEUES)) await lay(queueOf(place, device), 'a job\n'.repeat(jobs));
  await lay(wordsIn(place), 'two\none\ntwo\n');
  return place;
}

async function lay(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  await writeFile(file, text);
}

const placed = (place: string, text: string): string => text.replaceAll('/srv/', `${place}/`);

/** What is typed there, in one shell. */
export const typed = (place: string): { readonly logs: string; readonly look: string } => ({
  logs: placed(place, blocksOf(LOGS, 'sh').join('')),
  look: blocksOf(LOOK, 'sh').join(''),
});

const goalIn = (section: string): string => /orrery submit "([^"]+)"/u.exec(section)?.[1] ?? '';
export const LOGS_GOAL = goalIn(LOGS);
export const LOOK_GOAL = goalIn(LOOK);

/** The plan of the page, as a planner writes it. */
function planOfPage(place: string): ToolConstellation {
  const [json = ''] = blocksOf(LOGS, 'json');
  const { constellation } = RunRequest.parse(JSON.parse(placed(place, json)));
  if (constellation === null || constellation === undefined) throw new Error('the page has no plan');
  const { name, tasks, lines } = constellation;
  return {
    name,
    tasks: tasks.map(({ id, name: title, description, tips, target, command, files }): ToolTask => {
      if (!('device' in target)) throw new Error(`${id} has no device`);
      const does = { ...(command && { command }), ...(files && { files }) };
      return {
        task_id: id,
        name: title,
        description: description ?? '',
        tips,
        target_device_id: target.device,
        ...does,
      };
    }),
    dependencies: lines.map(({ id, from, to }) => ({ dependency_id: id, from_task_id: from, to_task_id: to })),
  };
}

const NAMED = ['logs/web-1/errors.log', 'logs/dev-3/errors.log', 'logs/dev-4/errors.log'];

/** The agent on the fourth device, which has seen what lies in its workspace. */
const TABLE_MAKER: readonly Turn[] = [
  exec('echo time,level,text > table.csv'),
  ({ prompt }: ModelServerRequest) => {
    const brought = NAMED.filter((path) => prompt.includes(`${path}: `));
    return exec(`sort ${brought.join(' ')} | sed 's/ /,/; s/ /,/' >> table.csv`);
  },
  exec(`cat ${NAMED.join(' ')} | wc -l > note.txt`),
  end('FINISH', 'Five lines: the queue of dev-4 is full, and web-1 gets no answer from db-1.'),
];

const look = (place: string, device: string): ToolTask =>
  task(`look-${device}`, `nproc; free -m; wc -l ${queueOf(place, device)}`, { target_device_id: device });

/** Where it was seen that the fewest jobs wait, by what the devices have printed. */
function shortestIn(prompt: string): string {
  const seen = [...prompt.matchAll(/(\d+) \S*?\/queues\/([a-z]+-\d)/gu)];
  const [first] = seen.map(([, jobs, device = '']) => ({ jobs: Number(jobs), device })).sort((a, b) => a.jobs - b.jobs);
  return first?.device ?? 'web-1';
}

/** A look at each, and the words that are to be counted; then what follows from the look. */
function lookFirst(place: string): readonly Turn[] {
  const devices = Object.keys(QUEUES);
  const looks = devices.map((device) => look(place, device));
  const words = task('words', `sort ${wordsIn(place)} > words.txt`, {
    files: { out: ['words.txt'] },
  });
  return [
    creates({ name: 'look first', tasks: [...looks, words], dependencies: [] }),
    ({ prompt }: ModelServerRequest) => {
      const device = shortestIn(prompt);
      const count = task('count', 'uniq -c words.txt > counts.txt', {
        target_device_id: device,
        files: { in: ['words'], out: ['counts.txt'] },
      });
      const from = devices.map((each) => `look-${each}`);
      const command = `echo ${device} counts the words > assignment.txt; cat counts.txt - >> assignment.txt`;
      const report = task('report', command, {
        command: { tool: 'EXEC_CLI', arguments: { command, stdin: { from } } },
        files: { in: ['count'], out: ['assignment.txt'] },
      });
      return edits(
        { tool: 'add_task', arguments: count },
        { tool: 'add_task', arguments: report },
        ...[after('words', 'count'), after('count', 'report'), ...from.map((id) => after(id, 'report'))].map(
          (line) => ({ tool: 'add_dependency', arguments: line }) as const,
        ),
      );
    },
    ends('FINISH', `${SHORTEST} had the shortest queue and has counted.`, ['report']),
  ];
}

/** By what is asked for. */
export const caseStories = (place: string): Readonly<Record<string, readonly Turn[]>> => ({
  [LOGS_GOAL]: [creates(planOfPage(place)), ends('FINISH', 'The table and the note are made.', ['table'])],
  'Make table.csv of all lines of logs': TABLE_MAKER,
  [LOOK_GOAL]: lookFirst(place),
});
