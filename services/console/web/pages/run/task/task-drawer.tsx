import { useState, type ReactElement } from 'react';
import {
  attemptStories,
  callText,
  droppedPictures,
  findTask,
  targetText,
  type AttemptStory,
  type Run,
} from '#libs/constellation';
import type { AttemptCommit, Json, RunView, Sha256, TaskResult, Verification } from '#proto';
import { lineState, shownJson } from '../../../model/index.js';
import {
  Confirm,
  Dialog,
  Elapsed,
  Facts,
  Foreign,
  Status,
  dateTimeText,
  late,
  type ToConfirm,
} from '../../../parts/index.js';
import { useMay } from '../../../wire/index.js';
import { words } from '../../../words/index.js';
import { retryOf } from '../actions/index.js';
import { AttemptView } from './attempt.js';
import { GrantsOfTask } from './grants-of-task.js';
import { TaskResultFiles } from './result-files.js';

const OutputPane = late(async () => (await import('./output.js')).OutputPane);

interface TaskDrawerProps {
  readonly run: Run;
  readonly view: RunView;
  readonly taskId: string;
  readonly attempts: readonly AttemptCommit[];
  /** Of the moment that is looked at; undefined: now. */
  readonly until: number | undefined;
  readonly isNow: boolean;
  readonly onClose: () => void;
}

/** Everything about one task. */
export function TaskDrawer({
  run,
  view,
  taskId,
  attempts,
  until,
  isNow,
  onClose,
}: TaskDrawerProps): ReactElement | null {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const task = view.tasks.find(({ id }) => id === taskId);
  const star = findTask(run, taskId)?.star;
  if (task === undefined || star === undefined) return null;
  const ofTask = attempts.filter((commit) => commit.taskId === taskId);
  const own = ofTask.filter(({ at }) => until === undefined || Date.parse(at) <= until);
  // What is gone cannot be had at an earlier moment either.
  const dropped = droppedPictures(ofTask.flatMap(({ events }) => events));
  const stories = attemptStories(own).toReversed();
  const retry = isNow ? retryOf(view, task, may) : undefined;
  const lines = view.lines.filter(({ from, to }) => from === taskId || to === taskId);
  return (
    <Dialog side open title={task.name} onClose={onClose}>
      <div className="drawer">
        <div className="row wrap">
          <Status status={task.status} />
          {task.startedAt === null ? null : <Elapsed from={task.startedAt} until={task.endedAt} now={until} />}
          {task.attempts > 0 ? <span className="faint">{words.attempt(task.attempts)}</span> : null}
          {retry === undefined ? null : (
            <button type="button" className="button small" onClick={() => setAsked(retry.confirmation)}>
              {retry.name}
            </button>
          )}
        </div>
        {task.error === null ? null : (
          <p className="problem">
            <strong>{task.error.code}</strong> <Foreign text={task.error.message} />
          </p>
        )}
        {task.reason === null ? null : (
          <p className="note">
            <Foreign text={task.reason} />
          </p>
        )}
        {star.description === '' || star.description === task.name ? null : <Foreign text={star.description} block />}
        <Facts
          of={[
            [words.task.id, task.id],
            [words.task.device, task.device === null ? null : <Foreign text={task.device} />],
            [words.task.target, <Foreign text={targetText(star.target)} />],
            [
              words.task.command,
              star.command === undefined ? null : <code className="block">{callText(star.command)}</code>,
            ],
            [words.task.verify, star.verify === undefined ? null : <Checks of={star.verify} />],
            [words.task.inputs, star.inputs === undefined ? null : words.task.inputsOf(star.inputs)],
            [words.task.started, task.startedAt === null ? null : dateTimeText(task.startedAt)],
            [words.task.ended, task.endedAt === null ? null : dateTimeText(task.endedAt)],
            [words.task.recoveredBy, task.recoveredBy],
          ]}
        />
        {lines.length === 0 ? null : (
          <section>
            <h3>{words.task.lines}</h3>
            <ul className="lines">
              {lines.map((line) => (
                <li key={line.id}>
                  <code>{line.from}</code> → <code>{line.to}</code> {words.line[line.type]}
                  {line.condition === null ? null : (
                    <>
                      {' '}
                      <code>
                        <Foreign text={line.condition} />
                      </code>
                    </>
                  )}{' '}
                  <span className={`line-word line-${lineState(line)}`}>{words.legend[lineState(line)]}</span>
                  {line.reason === null ? null : (
                    <span className="faint">
                      {' '}
                      <Foreign text={line.reason} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </section>
        )}
        {task.result === null ? null : (
          <Result runId={view.runId} taskId={task.id} result={task.result} dropped={dropped} />
        )}
        {task.attempts === 0 ? null : (
          <section>
            <h3>{words.task.output}</h3>
            <OutputPane
              key={`${task.id} ${task.attempts}`}
              runId={view.runId}
              taskId={task.id}
              attempt={task.attempts}
            />
          </section>
        )}
        {isNow ? <GrantsOfTask view={view} taskId={taskId} /> : null}
        <Stories stories={stories} attempts={task.attempts} />
      </div>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </Dialog>
  );
}

/** What has to hold when a task says that it is done. */
function Checks({ of: { command, condition } }: { readonly of: Verification }): ReactElement {
  return (
    <>
      {command === undefined ? null : (
        <code className="block">
          <Foreign text={callText(command)} />
        </code>
      )}
      {condition === undefined ? null : (
        <code>
          <Foreign text={condition} />
        </code>
      )}
    </>
  );
}

function Stories({
  stories,
  attempts,
}: {
  readonly stories: readonly AttemptStory[];
  readonly attempts: number;
}): ReactElement | null {
  if (stories.length === 0) return null;
  return (
    <section>
      <h3>{words.task.attempts}</h3>
      {stories.map((story) => (
        <AttemptView key={story.attempt} story={story} open={story.attempt === attempts} />
      ))}
    </section>
  );
}

interface ResultProps {
  readonly runId: string;
  readonly taskId: string;
  readonly result: TaskResult;
  readonly dropped: ReadonlySet<Sha256>;
}

function Result({ runId, taskId, result, dropped }: ResultProps): ReactElement {
  const { value, cut } = result;
  return (
    <section>
      <h3>{words.task.result}</h3>
      <pre className="foreign">
        <Foreign text={typeof value === 'string' ? value : textOf(value)} />
      </pre>
      {cut === undefined ? null : <p className="faint">{words.task.cut}</p>}
      <TaskResultFiles runId={runId} taskId={taskId} result={result} dropped={dropped} />
    </section>
  );
}

/** What a command printed as it printed it, then everything else by its name. */
function textOf(value: Json): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return shownJson(value);
  const { stdout, stderr, ...others } = value;
  const parts = [stdout, stderr].filter((text): text is string => typeof text === 'string' && text !== '');
  const rest = Object.entries(others).map(([name, one]) => `${name}: ${shownJson(one)}`);
  return [...parts, ...rest].join('\n');
}
