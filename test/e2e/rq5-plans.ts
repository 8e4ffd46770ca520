import type { ConstellationToolCall, RunView } from '#proto';
import type { ModelServerReply } from '#libs/testing';
import { after, creates, edits, ends, task } from './planner-stories.js';

/* The request of the paper (section 10.8): a long job on three Linux devices, their running times into a note. */

/** Where the note is written. */
export const NOTEPAD = 'web-1';
/** What a replacement is given to find its device and to be done. */
const DEADLINE_SECONDS = 300;
/** Longer than a test may last; what an exact command may take by itself is less than a minute. */
const COMMAND_SECONDS_MAX = 600;

/**
 * The long job, as a plain line that nobody has to be asked about. It says which task it is for before anything else: two lines
 * of one task would mean that it ran twice. It ends a second after it could read the file, which may be a pipe that nobody has written to yet.
 */
const longJob = (id: string): string =>
  `echo ${id} >> effects; date +'${id} began at %s'; cat go; sleep 1; date +'${id} ended at %s'`;

export const goalOf = (story: string, devices: readonly string[]): string =>
  `plan-${story}: Run long_job.sh concurrently on ${devices.join(', ')} and report their running time on Notepad.`;
export const noteFile = (story: string): string => `note-of-${story}.txt`;
export const jobOn = (device: string): string => `time-${device}`;
export const againOn = (device: string): string => `${jobOn(device)}-again`;
export const failureOf = (device: string): string => `${device} FAILED: the device was lost`;

/** What the planner's model says: it looks at the run as it stands, makes the plan, tries a lost job again once, and is content with less in the end. */
export function replyTo(story: string, devices: readonly string[], run: RunView): ModelServerReply {
  const status = new Map(run.tasks.map(({ id, status: state }) => [id, state]));
  const failed = devices.filter((device) => status.get(jobOn(device)) === 'FAILED');
  if (status.size === 0) return plan(story, devices);
  if (status.get('note') === 'COMPLETED') {
    const left = failed.filter((device) => status.get(againOn(device)) !== 'COMPLETED');
    const lost = left.length === 0 ? '' : ` ${left.join(', ')} was lost.`;
    return ends('FINISH', `The running times are in the note.${lost}`, ['note']);
  }
  if (failed.length === devices.length) return ends('FAIL', `Nothing was measured: ${devices.join(', ')} were lost.`);
  const [device] = failed;
  // One that fails first may not stay the only one: what is to be done is known when all have said something.
  if (device === undefined || devices.some((each) => status.get(jobOn(each)) === 'RUNNING')) return edits();
  if (!status.has(againOn(device))) return edits(...again(story, devices, device));
  return status.get(againOn(device)) === 'FAILED' ? edits(...without(story, devices, device)) : edits();
}

/** A replacement is held to it as well; without one nobody could say that it has done the same. */
const SPOKEN = { condition: 'result.stdout.contains("ended at")' };

/** Writes what the jobs said, and what has to be said of those that said nothing. */
function note(story: string, jobs: readonly string[], failures: readonly string[] = []) {
  const file = noteFile(story);
  const said = failures.map((failure) => ` echo '${failure}' >> ${file};`).join('');
  const command = `cat > ${file};${said} cat ${file}`;
  return { tool: 'EXEC_CLI', arguments: { command, stdin: { from: [...jobs] }, timeout: COMMAND_SECONDS_MAX } };
}

function job(id: string, device: string, more: object = {}) {
  const command = longJob(id);
  const call = { tool: 'EXEC_CLI', arguments: { command, timeout: COMMAND_SECONDS_MAX } };
  return task(id, command, { target_device_id: device, command: call, verify: SPOKEN, ...more });
}

function plan(story: string, devices: readonly string[]): ModelServerReply {
  const jobs = devices.map(jobOn);
  const written = task('note', '', { target_device_id: NOTEPAD, command: note(story, jobs) });
  const dependencies = jobs.map((id) => after(id, 'note'));
  return creates({
    name: story,
    tasks: [...devices.map((device) => job(jobOn(device), device)), written],
    dependencies,
  });
}

/** The job once more where it failed; the note waits for it instead. */
function again(story: string, devices: readonly string[], device: string): ConstellationToolCall[] {
  const id = againOn(device);
  const jobs = devices.map((each) => (each === device ? id : jobOn(each)));
  return [
    {
      tool: 'add_task',
      arguments: job(id, device, { replaces: [jobOn(device)], deadline_seconds: DEADLINE_SECONDS }),
    },
    { tool: 'remove_dependency', arguments: { dependency_id: `${jobOn(device)}-note` } },
    { tool: 'add_dependency', arguments: after(id, 'note') },
    { tool: 'update_task', arguments: { task_id: 'note', command: note(story, jobs) } },
  ];
}

/** The note is written without it, and says so. */
function without(story: string, devices: readonly string[], device: string): ConstellationToolCall[] {
  const jobs = devices.filter((each) => each !== device).map(jobOn);
  return [
    { tool: 'remove_dependency', arguments: { dependency_id: `${againOn(device)}-note` } },
    { tool: 'update_task', arguments: { task_id: 'note', command: note(story, jobs, [failureOf(device)]) } },
  ];
}
