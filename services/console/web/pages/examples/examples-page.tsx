import { useState, type ReactElement } from 'react';
import type { z } from 'zod';
import { callText, targetText } from '#libs/constellation';
import { Demonstration, ExperiencesAnswer, parseJson, parseWith, sentenceOf, type Experience } from '#proto';
import {
  Ago,
  Confirm,
  Empty,
  Foreign,
  goTo,
  Loading,
  PageLink,
  Problem,
  usePlace,
  WordsField,
  type ToConfirm,
} from '../../parts/index.js';
import { askApi, newKey, postJson, useAsked, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';

const LISTED_MAX = 200;

/** What the planner has learnt: the examples that it is shown when it plans something alike. */
export function ExamplesPage(): ReactElement {
  const may = useMay();
  const { search } = usePlace();
  const typed = search.get('words') ?? '';
  const [asked, setAsked] = useState<ToConfirm>();
  const { value, problem, again } = useAsked(`/v1/experiences?limit=${LISTED_MAX}`, (json) =>
    ExperiencesAnswer.parse(json),
  );
  const shown = (value?.experiences ?? []).filter((one) => fits(one, typed));
  const forget = ({ id, request }: Experience): ToConfirm => ({
    title: words.examples.forgetTitle,
    about: <Foreign text={request} block />,
    action: words.examples.forget,
    danger: true,
    act: async () => {
      await askApi('POST /v1/experiences/{id}/forget', { path: { id } });
      again();
    },
  });
  const demonstrate: ToConfirm = {
    title: words.examples.demonstrate,
    about: words.examples.demonstrateAbout,
    action: words.examples.demonstrateAction,
    text: { label: words.examples.json, required: true, initial: EXAMPLE, lines: 14 },
    act: async (text) => {
      await postJson('/v1/experiences', { demonstration: demonstrationIn(text) }, newKey());
      again();
    },
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.examples.title}</h1>
        <span className="faint">{words.examples.about}</span>
        {value?.enabled === true && may('planner.demonstrate') ? (
          <button type="button" className="button" onClick={() => setAsked(demonstrate)}>
            {words.examples.demonstrate}
          </button>
        ) : null}
      </div>
      <WordsField
        label={words.examples.search}
        value={typed}
        onChange={(text) =>
          goTo(text === '' ? '/examples' : `/examples?words=${encodeURIComponent(text)}`, { replace: true })
        }
      />
      {problem === undefined ? null : <Problem text={problem} />}
      {value === undefined && problem === undefined ? <Loading /> : null}
      <NoExamples value={value} shown={shown.length} />
      <ul className="cards">
        {shown.map((one) => (
          <Example
            key={one.id}
            example={one}
            onForget={may('planner.forget') ? () => setAsked(forget(one)) : undefined}
          />
        ))}
      </ul>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

function NoExamples({
  value,
  shown,
}: {
  readonly value: z.infer<typeof ExperiencesAnswer> | undefined;
  readonly shown: number;
}): ReactElement | null {
  if (value === undefined || shown > 0) return null;
  if (!value.enabled) return <Empty title={words.examples.off} />;
  return <Empty title={value.experiences.length === 0 ? words.examples.none : words.examples.noneSo} />;
}

const fits = ({ request, tips, source, learntBy }: Experience, typed: string): boolean =>
  [request, source, learntBy, ...tips].join(' ').toLowerCase().includes(typed.trim().toLowerCase());

interface ExampleProps {
  readonly example: Experience;
  readonly onForget: (() => void) | undefined;
}

function Example({ example, onForget }: ExampleProps): ReactElement {
  const { id, kind, source, request, tips, constellation, learntAt, learntBy } = example;
  return (
    <li className="card">
      <p className="card-head">
        <span className="tag">{words.examples.kind[kind]}</span>
        <Ago at={learntAt} />
        <Foreign text={words.examples.by(learntBy)} />
        {kind === 'experience' ? (
          <PageLink href={`/runs/${encodeURIComponent(source)}`}>{words.examples.toRun}</PageLink>
        ) : (
          <Foreign text={source} />
        )}
        {onForget === undefined ? null : (
          <button
            type="button"
            className="button quiet small"
            aria-label={words.examples.forgetNamed(id)}
            onClick={onForget}
          >
            {words.examples.forget}
          </button>
        )}
      </p>
      <p className="card-what">
        <Foreign text={request} />
      </p>
      {tips.length === 0 ? null : (
        <ul className="plain-list" aria-label={words.examples.tips}>
          {tips.map((tip) => (
            <li key={tip}>
              <Foreign text={tip} />
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{words.examples.plan(constellation.tasks.length)}</summary>
        <ul className="plain-list">
          {constellation.tasks.map(({ task_id: taskId, name, target_device_id: device, target, command }) => (
            <li key={taskId}>
              <Foreign text={name} />{' '}
              <span className="faint">
                <Foreign text={device ?? (target === undefined ? words.examples.anyDevice : targetText(target))} />
              </span>
              {command === undefined ? null : (
                <code className="block">
                  <Foreign text={callText(command)} />
                </code>
              )}
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

/** Throws with the sentence to be shown. */
function demonstrationIn(text: string): Demonstration {
  const json = parseJson(text);
  if (json === undefined) throw new Error(words.request.notJson(words.examples.isNoJson));
  const parsed = parseWith(Demonstration, json);
  if (!parsed.ok) throw new Error(parsed.issues.map(sentenceOf).join('; '));
  return parsed.value;
}

const EXAMPLE = JSON.stringify(
  {
    name: 'disks-by-hand',
    request: 'Say which disks of the web servers are nearly full',
    steps: [{ device: 'web-1', description: 'Look how full they are', command: 'df -h', result: '/dev/sda1 91%' }],
  } satisfies Demonstration,
  null,
  2,
);
