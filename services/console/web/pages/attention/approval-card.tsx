import { useState, type ReactElement } from 'react';
import { callText, screenText, wallText } from '#libs/constellation';
import { RunView, type ApprovalView, type AttentionEntry, type CommandCall } from '#proto';
import {
  Ago,
  Confirm,
  Facts,
  Foreign,
  ForeignMark,
  PageLink,
  dateTimeText,
  type ToConfirm,
} from '../../parts/index.js';
import { ScreenLink } from '../fleet/index.js';
import { newKey, postJson, useAsked, useBarred, useMay, useMe, useMedia } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { CommandChange } from './command-change.js';
import { PlanContext } from './plan-context.js';

interface ApprovalCardProps {
  readonly approval: ApprovalView;
  /** Of the list of what needs somebody. */
  readonly entry: AttentionEntry | undefined;
  readonly onDone: () => void;
}

const MINUTE_MS = 60_000;
/** What stands around it is one word away there: the command and the buttons are to be seen together. */
const PHONE = '(max-width: 599px)';

/** No model has thought of what is asked: it is the exact command of a task. Steps of agents begin at 1. */
const isOfPlan = ({ ask }: ApprovalView): boolean => ask.step === 0;

/** One thing that an agent asks a person: exactly what would run, with what, and why it is asked. */
export function ApprovalCard({ approval, entry, onDone }: ApprovalCardProps): ReactElement {
  const { approvalId, ask, runId, taskId, requestedAt, needed = 1, given = [] } = approval;
  const isPhone = useMedia(PHONE);
  const { value: view, problem } = useAsked(`/v1/runs/${runId}`, (json) => RunView.parse(json));
  const more = (
    <>
      <Facts
        of={[
          [words.approval.agent, <Foreign text={`${ask.agent}, ${words.task.step(ask.step)}`} />],
          [words.approval.plan, ask.plan.length === 0 ? null : <Foreign text={ask.plan.join('; ')} />],
        ]}
      />
      {problem === undefined ? null : <p className="note">{words.approval.noContext(problem)}</p>}
      {view === undefined ? null : <PlanContext view={view} taskId={taskId} />}
    </>
  );
  return (
    <article className="card approval" aria-label={words.approval.of(taskId)}>
      <p className="card-head">
        <span className="tag">{ask.kind === 'approval' ? ask.class : words.approval.question}</span>
        <Ago at={requestedAt} />
        <PageLink href={`/runs/${runId}?task=${encodeURIComponent(taskId)}`}>
          <Foreign text={taskId} />
        </PageLink>
        {entry?.state === 'taken' && entry.by !== null ? <span>{words.attention.takenBy(entry.by.id)}</span> : null}
      </p>
      {ask.kind === 'approval' ? (
        <pre className="command">
          <Foreign text={callText(ask.command)} />
        </pre>
      ) : (
        <p className="card-what">
          <Foreign text={ask.question} />
        </p>
      )}
      {ask.kind === 'approval' && ask.picture !== undefined ? (
        <img
          className="seen"
          src={`/v1/artifacts/${ask.picture.sha256}`}
          alt={words.approval.picture}
          title={ask.picture.sha256}
        />
      ) : null}
      <Facts
        of={[
          [
            words.approval.where,
            ask.kind === 'approval' && ask.command.on !== undefined ? (
              <Foreign text={screenText(ask.command.on)} />
            ) : null,
          ],
          [
            words.approval.device,
            <>
              <Foreign text={ask.deviceId} />{' '}
              {ask.kind === 'approval' && ask.command.on !== undefined ? <ScreenLink deviceId={ask.deviceId} /> : null}
            </>,
          ],
          [
            words.approval.sandbox,
            ask.kind === 'approval' && ask.wall !== undefined ? <Foreign text={wallText(ask.wall)} /> : null,
          ],
          [
            words.approval.why,
            ask.kind === 'approval' ? <Foreign text={`${ask.reasons.join(' ')} (${ask.rule})`} /> : null,
          ],
          isOfPlan(approval)
            ? [words.approval.came, <Foreign text={ask.thought} />]
            : [
                words.approval.thought,
                ask.thought === '' ? null : (
                  <>
                    <ForeignMark by="model" /> <Foreign text={ask.thought} />
                  </>
                ),
              ],
          [words.approval.until, dateTimeText(ask.expiresAt)],
          [
            words.approval.given,
            needed > 1 || given.length > 0
              ? words.approval.words(
                  given.map(({ by }) => by.id),
                  needed,
                )
              : null,
          ],
        ]}
      />
      {isPhone ? (
        <details className="more">
          <summary>{words.approval.more}</summary>
          {more}
        </details>
      ) : (
        more
      )}
      <Changes approval={approval} />
      <Decide approval={approval} view={view} key={approvalId} onDone={onDone} />
    </article>
  );
}

/** What others who have spoken would let run in the place of what was asked. */
function Changes({ approval: { ask, given = [] } }: Pick<ApprovalCardProps, 'approval'>): ReactElement | null {
  if (ask.kind === 'question') return null;
  return (
    <>
      {given.map(({ by, command }) =>
        command === null ? null : (
          <CommandChange
            key={by.id}
            title={words.approval.changedBy(by.id)}
            before={callText(ask.command)}
            after={callText(command)}
          />
        ),
      )}
    </>
  );
}

interface DecideProps extends Pick<ApprovalCardProps, 'approval' | 'onDone'> {
  /** The run; undefined while it is not known. */
  readonly view: RunView | undefined;
}

/** Who may decide it does so here; what it comes to is said by the server, which also knows who has a part in it. */
function Decide({ approval: { approvalId, ask, given = [] }, view, onDone }: DecideProps): ReactElement {
  const may = useMay();
  const me = useMe();
  const barred = useBarred(view);
  const hasSpoken = given.some(({ by }) => by.id === me?.actor.id);
  const whyNot = barred === undefined ? (hasSpoken ? words.approval.spoken : undefined) : words.approval.own(barred);
  const [asked, setAsked] = useState<ToConfirm>();
  const say = (body: object): Promise<void> =>
    postJson('/v1/approvals', { approvalId, ...body }, newKey()).then(() => onDone());
  const noted = (note: string): object => (note === '' ? {} : { note });
  const approve: ToConfirm | undefined =
    ask.kind === 'approval'
      ? {
          title: words.approval.approveTitle,
          about: <pre className="command">{callText(ask.command)}</pre>,
          action: words.approval.approve,
          text: { label: words.action.note },
          act: (note) => say({ decision: 'approve', ...noted(note) }),
        }
      : undefined;
  const edit = ask.kind === 'approval' ? editOf(ask.command, say) : undefined;
  const grant: ToConfirm | undefined =
    ask.kind === 'approval' && ask.grantable
      ? {
          title: words.approval.grantTitle,
          about: words.approval.grantAbout,
          action: words.approval.grant,
          text: { label: words.action.note },
          act: (note) => say({ decision: 'approve', grantMs: 10 * MINUTE_MS, ...noted(note) }),
        }
      : undefined;
  const reject: ToConfirm = {
    title: words.approval.rejectTitle,
    about: words.approval.rejectAbout,
    action: words.approval.reject,
    danger: true,
    text: { label: words.action.note },
    act: (note) => say({ decision: 'reject', ...noted(note) }),
  };
  const answer: ToConfirm = {
    title: words.approval.answerTitle,
    about: ask.kind === 'question' ? <Foreign text={ask.question} block /> : null,
    action: words.approval.answer,
    text: { label: words.approval.answer, required: true, lines: 4 },
    act: (text) => say({ decision: 'answer', text }),
  };
  const mayAnswer = ask.kind === 'question' && may('ANSWER', view?.requestedBy);
  return (
    <div className="row wrap">
      {mayAnswer ? (
        <button type="button" className="button primary" onClick={() => setAsked(answer)}>
          {words.approval.answer}
        </button>
      ) : null}
      {approve !== undefined && may('APPROVE') && whyNot !== undefined ? (
        <>
          <button type="button" className="button primary" disabled aria-describedby={`${approvalId}-why`}>
            {words.approval.approve}
          </button>
          <p className="note" id={`${approvalId}-why`}>
            <Foreign text={whyNot} />
          </p>
        </>
      ) : null}
      {approve !== undefined && may('APPROVE') && whyNot === undefined ? (
        <>
          <button type="button" className="button primary" onClick={() => setAsked(approve)}>
            {words.approval.approve}
          </button>
          {edit === undefined ? null : (
            <button type="button" className="button" onClick={() => setAsked(edit)}>
              {words.approval.edit}
            </button>
          )}
          {grant === undefined ? null : (
            <button type="button" className="button" onClick={() => setAsked(grant)}>
              {words.approval.grant}
            </button>
          )}
        </>
      ) : null}
      {may('REJECT') ? (
        <button type="button" className="button danger" onClick={() => setAsked(reject)}>
          {words.approval.reject}
        </button>
      ) : mayAnswer ? null : (
        <p className="faint">{words.approval.mayNot}</p>
      )}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

/** Another command line in the place of the one that was asked about; the rest of the call stays as it is. */
function editOf(call: CommandCall, say: (body: object) => Promise<void>): ToConfirm | undefined {
  const line = call.arguments['command'];
  if (typeof line !== 'string') return undefined;
  return {
    title: words.approval.editTitle,
    about: <pre className="command">{callText(call)}</pre>,
    action: words.approval.approveEdited,
    text: {
      label: words.approval.command,
      required: true,
      initial: line,
      lines: 4,
      preview: (said) =>
        said === line ? null : <CommandChange title={words.approval.change} before={line} after={said} />,
    },
    act: (command) => say({ decision: 'approve', command: { ...call, arguments: { ...call.arguments, command } } }),
  };
}
