import { useRef, useState, type ReactElement } from 'react';
import { z } from 'zod';
import { RunId, RunbooksAnswer, type RunbookInfo } from '#proto';
import {
  goalOfRunbook,
  issuesByParameter,
  labelsTyped,
  saidIn,
  typedAtFirst,
  type TypedParameters,
} from '../../model/index.js';
import {
  CheckField,
  Empty,
  Foreign,
  goTo,
  Issues,
  Loading,
  PageLink,
  Problem,
  TextField,
  useForm,
} from '../../parts/index.js';
import { postJson, useAsked, useMay, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { ApproveBeforehand, WordsBeforehand } from './words-beforehand.js';
import { ParameterField } from './parameter-field.js';
import { NoPlan, PlanPreview } from './plan-preview.js';
import { usePlan } from './use-plan.runner.js';

const Accepted = z.looseObject({ runId: RunId });

/** One runbook: its form, the plan that it comes to as it stands, and the start. */
export function RunbookPage({ name }: { readonly name: string }): ReactElement {
  const asked = useAsked('/v1/runbooks', (json) => RunbooksAnswer.parse(json));
  const runbook = asked.value?.runbooks.find((one) => one.name === name);
  return (
    <div className="page">
      <PageLink href="/runbooks">{words.runbooks.back}</PageLink>
      {asked.problem === undefined ? null : <Problem text={asked.problem} />}
      {asked.value === undefined && asked.problem === undefined ? <Loading /> : null}
      {asked.value !== undefined && runbook === undefined ? <Empty title={words.runbooks.unknown(name)} /> : null}
      {runbook === undefined ? null : <RunbookForm key={runbook.hash} runbook={runbook} />}
    </div>
  );
}

function RunbookForm({ runbook }: { readonly runbook: RunbookInfo }): ReactElement {
  const { name, title, description, parameters, source } = runbook;
  const [typed, setTyped] = useState<TypedParameters>(() => typedAtFirst(parameters));
  const [approved, setApproved] = useState(0);
  const { rows } = useRows('fleet');
  const said = saidIn(parameters, typed);
  const { constellation, issues, problem, isCurrent } = usePlan(name, said);
  const { at, others } = issuesByParameter(parameters, issues);
  const devices = rows.map(({ deviceId }) => deviceId);
  return (
    <>
      <div className="page-head">
        <h1>
          <Foreign text={title} />
        </h1>
        <code>{name}</code>
        {source === 'operator' ? <span className="tag">{words.runbooks.operator}</span> : null}
      </div>
      <Foreign text={description} block />
      <div className="runbook">
        <section aria-labelledby="form" className="stack">
          <h2 id="form">{words.runbooks.form}</h2>
          {parameters.length === 0 ? <p className="faint">{words.runbooks.noParameters}</p> : null}
          {parameters.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              value={typed[parameter.name] ?? ''}
              issues={at.get(parameter.name) ?? []}
              devices={devices}
              onChange={(value) => setTyped((before) => ({ ...before, [parameter.name]: value }))}
            />
          ))}
          <Start goal={goalOfRunbook(name, said)} isReady={isCurrent && constellation !== null} />
        </section>
        <section aria-labelledby="plan" className="stack">
          <div className="section-head">
            <h2 id="plan">{words.runbooks.plan}</h2>
            <span className="faint">
              {constellation === null
                ? null
                : words.runbooks.planCounts(constellation.tasks.length, constellation.lines.length)}
            </span>
          </div>
          {problem === undefined ? null : <Problem text={problem} />}
          <Issues of={others} />
          {constellation === null ? <NoPlan isComing={!isCurrent} /> : <PlanPreview plan={constellation} />}
          {constellation === null ? null : (
            <>
              <p className="faint">{words.runbooks.planOf}</p>
              <ApproveBeforehand
                runbook={runbook}
                parameters={said}
                plan={constellation}
                onDone={() => setApproved((count) => count + 1)}
              />
            </>
          )}
          <WordsBeforehand name={name} round={approved} />
        </section>
      </div>
    </>
  );
}

/** Asks for a run, by the goal that means this runbook with what stands in the form. */
function Start({ goal, isReady }: { readonly goal: string; readonly isReady: boolean }): ReactElement {
  const may = useMay();
  const [labels, setLabels] = useState('');
  const [wait, setWait] = useState(false);
  const said = labelsTyped(labels);
  const request = {
    goal,
    ...(Object.keys(said).length > 0 && { labels: said }),
    ...(wait && { options: { plan: 'approve' } }),
  };
  const form = useForm(async (key) => {
    const json = await postJson('/v1/requests', request, key);
    goTo(`/runs/${Accepted.parse(json).runId}`);
  });
  // What is pressed twice is one intent; something else is another.
  const of = JSON.stringify(request);
  const intent = useRef(of);
  if (intent.current !== of) {
    intent.current = of;
    form.changed(() => undefined);
  }
  if (!may('SUBMIT')) return <p className="faint">{words.runbooks.mayNot}</p>;
  return (
    <form className="stack" onSubmit={form.submit}>
      <TextField
        label={words.runbooks.labels}
        value={labels}
        placeholder={words.runbooks.labelsHint}
        onChange={setLabels}
      />
      <CheckField label={words.runbooks.wait} checked={wait} onChange={setWait} />
      {form.problem === undefined ? null : <Problem text={form.problem} />}
      <div className="row end">
        <button type="submit" className="button primary" disabled={form.busy || !isReady}>
          {words.runbooks.start}
        </button>
      </div>
    </form>
  );
}
