import type { ReactElement } from 'react';
import {
  callText,
  droppedText,
  eventOf,
  wallText,
  type ActStory,
  type AttemptStory,
  type MarkStory,
  type StepStory,
} from '#libs/constellation';
import { timeText, Foreign, ForeignMark } from '../../../parts/index.js';
import { bytesText, tookText } from '../../../model/index.js';
import { words } from '../../../words/index.js';

/** One attempt, step by step: what its agent thought, what was judged, what ran and what came of it. */
export function AttemptView({ story, open }: { readonly story: AttemptStory; readonly open: boolean }): ReactElement {
  const { entries, end } = story;
  const how = end === null ? words.task.goesOn : end.status === 'completed' ? words.status.COMPLETED : end.error.code;
  return (
    <details className="attempt" open={open}>
      <summary>
        {words.attempt(story.attempt)} <span className="faint">{how}</span>
      </summary>
      <ol className="steps">
        {entries.map((entry) =>
          entry.kind === 'step' ? (
            <Step key={`step ${entry.step}`} step={entry} />
          ) : entry.kind === 'act' ? (
            <li key={entry.id}>
              <Act act={entry} />
            </li>
          ) : (
            <Mark key={entry.event.sequence} mark={entry} />
          ),
        )}
      </ol>
    </details>
  );
}

function Step({ step: { step, said, acts } }: { readonly step: StepStory }): ReactElement {
  return (
    <li className="step">
      <p className="said-by">
        <strong>{words.task.step(step)}</strong> <Foreign text={said.data.agent} /> <ForeignMark by="model" />{' '}
        <span className="faint">{timeText(said.at)}</span>
      </p>
      {said.type === 'STEP_FAILED' ? (
        <p className="problem">
          {said.data.error.code} <Foreign text={said.data.error.message} />
        </p>
      ) : (
        <>
          {said.data.observation === '' ? null : <Foreign text={said.data.observation} block />}
          {said.data.thought === '' ? null : <Foreign text={said.data.thought} block />}
          {said.data.plan.length === 0 ? null : (
            <ol className="plan">
              {said.data.plan.map((text) => (
                <li key={text}>
                  <Foreign text={text} />
                </li>
              ))}
            </ol>
          )}
        </>
      )}
      {acts.map((act) => (
        <Act key={act.id} act={act} />
      ))}
    </li>
  );
}

function Act({ act }: { readonly act: ActStory }): ReactElement {
  const judged = eventOf(act, 'COMMAND_JUDGED')?.data;
  const asked = eventOf(act, 'ATTEMPT_ASKED')?.data;
  const finished = eventOf(act, 'COMMAND_FINISHED')?.data;
  return (
    <div className="act">
      {act.call === null ? null : <code className="block">{callText(act.call)}</code>}
      {asked?.kind === 'question' ? <Foreign text={asked.question} block /> : null}
      {judged === undefined ? null : (
        <p className={`verdict verdict-${judged.decision}`}>
          {words.task.judged(judged.class, judged.decision, judged.rule)}
          <span className="faint">
            {' '}
            <Foreign text={judged.reasons.join('; ')} />
          </span>
        </p>
      )}
      {judged?.wall === undefined ? null : <p className="faint">{wallText(judged.wall)}</p>}
      {finished === undefined ? null : (
        <p>
          {words.command[finished.state]}
          {finished.durationMs === null ? null : <span className="faint"> {tookText(finished.durationMs)}</span>}
          {finished.error === null ? null : (
            <>
              {' '}
              <Foreign text={finished.error.message} />
            </>
          )}
        </p>
      )}
    </div>
  );
}

function Mark({ mark: { event } }: { readonly mark: MarkStory }): ReactElement {
  return (
    <li className="faint">
      {timeText(event.at)} <code>{event.type}</code>{' '}
      {event.type === 'POSTCONDITION_CHECKED' ? <Foreign text={event.data.reason} /> : null}
      {event.type === 'PICTURES_DROPPED' ? <DroppedPictures dropped={event.data} /> : null}
      {event.type === 'ATTEMPT_SIGNALLED' && event.data.signal === 'stop' ? event.data.reason : null}
    </li>
  );
}

type Dropped = Extract<MarkStory['event'], { type: 'PICTURES_DROPPED' }>['data'];

function DroppedPictures({ dropped }: { readonly dropped: Dropped }): ReactElement {
  return (
    <details>
      <summary>
        <Foreign text={droppedText(dropped)} />
      </summary>
      <ul className="files">
        {dropped.pictures.map(({ sha256, bytes }) => (
          <li key={sha256}>
            <code>{sha256}</code> {bytesText(bytes)}
          </li>
        ))}
      </ul>
    </details>
  );
}
