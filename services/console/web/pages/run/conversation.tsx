import { memo, useEffect, useRef, useState, type SyntheticEvent, type ReactElement } from 'react';
import { speakerText, type Run } from '#libs/constellation';
import type { ConversationItem, PlanCommit } from '#proto';
import {
  timeText,
  Elapsed,
  Foreign,
  ForeignMark,
  Icon,
  Problem,
  dateTimeText,
  useForm,
  type IconName,
} from '../../parts/index.js';
import { sayVerb, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';

interface ConversationProps {
  readonly runId: string;
  readonly ended: boolean;
  readonly items: readonly ConversationItem[];
  readonly editing: Run['editing'];
  /** Of a round that goes on: the last moment that is shown. */
  readonly lastAt: string | null;
  readonly plans: readonly PlanCommit[];
  readonly isNow: boolean;
  readonly owner: string;
  readonly onMoment: (sequence: number) => void;
}

/** What was asked, said, thought and answered in a run; and the place to say more. */
export const Conversation = memo((props: ConversationProps): ReactElement => {
  const { runId, ended, items, editing, lastAt, plans, isNow, owner, onMoment } = props;
  const end = useRef<HTMLLIElement>(null);
  const count = items.length;
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
  }, [count]);
  const may = useMay();
  return (
    <section className="conversation" aria-label={words.run.conversation}>
      <ol className="talk" tabIndex={0} aria-label={words.run.conversation}>
        {items.map((item, index) => (
          <Item key={`${item.sequence} ${index}`} item={item} onMoment={onMoment} />
        ))}
        {editing === null ? null : (
          <li className="said planner thinking">
            <Icon name="planner" />
            <div>
              <p className="said-by">
                {words.run.planning} <Elapsed from={editing.openedAt} until={isNow ? null : lastAt} />
              </p>
              <Thought plans={isNow ? plans : []} editId={editing.editId} />
            </div>
          </li>
        )}
        <li ref={end} aria-hidden="true" />
      </ol>
      {isNow && may('SAY', owner) ? <Say runId={runId} ended={ended} /> : null}
    </section>
  );
});

/** What the planner came to last in a round that goes on. */
function Thought({
  plans,
  editId,
}: {
  readonly plans: readonly PlanCommit[];
  readonly editId: string;
}): ReactElement | null {
  const said = plans
    .flatMap(({ events }) => events)
    .findLast((event) => event.type === 'ROUND_PLANNED' && event.data.editId === editId);
  if (said?.type !== 'ROUND_PLANNED') return null;
  const reply: unknown = said.data.reply;
  const fields = typeof reply === 'object' && reply !== null ? Object.entries(reply) : [];
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string' && field[1] !== '');
  return (
    <>
      {texts.map(([name, text]) => (
        <p key={name} className="thought">
          <span className="faint">{name}</span> <Foreign text={text} />
        </p>
      ))}
    </>
  );
}

const ICONS: Readonly<Record<ConversationItem['who'], IconName>> = {
  person: 'person',
  program: 'request',
  planner: 'planner',
  agent: 'device',
  system: 'runs',
};

function Item({
  item,
  onMoment,
}: {
  readonly item: ConversationItem;
  readonly onMoment: (sequence: number) => void;
}): ReactElement {
  const { who, kind, text, at, model, sequence } = item;
  return (
    <li className={`said ${who} kind-${kind}`}>
      <Icon name={ICONS[who]} />
      <div>
        <p className="said-by">
          <button
            type="button"
            className="moment"
            title={words.run.toMoment(dateTimeText(at), sequence)}
            onClick={() => onMoment(sequence)}
          >
            {timeText(at)}
          </button>
          <strong>
            <Foreign text={speakerText({ ...item, model: undefined })} />
          </strong>{' '}
          {words.did[kind]} {model === true ? <ForeignMark by="model" /> : null}
        </p>
        {text === '' ? null : <Foreign text={text} block />}
      </div>
    </li>
  );
}

function Say({ runId, ended }: { readonly runId: string; readonly ended: boolean }): ReactElement {
  const [text, setText] = useState('');
  const form = useForm(async (key) => {
    await sayVerb(`/v1/runs/${runId}/say`, { text: text.trim() }, key);
    form.changed(() => setText(''));
  });
  const isEmpty = text.trim() === '';
  const say = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isEmpty && !form.busy) form.submit();
  };
  return (
    <form className="say" onSubmit={say}>
      {form.problem === undefined ? null : <Problem text={form.problem} />}
      <textarea
        aria-label={words.run.say}
        placeholder={ended ? words.run.sayMoreEnded : words.run.sayMore}
        rows={2}
        value={text}
        onChange={({ target }) => form.changed(() => setText(target.value))}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey) say(event);
        }}
      />
      <button type="submit" className="button primary" disabled={form.busy || isEmpty}>
        {words.run.say}
      </button>
    </form>
  );
}
