import * as Tabs from '@radix-ui/react-tabs';
import { useState, type ReactElement } from 'react';
import { z } from 'zod';
import { RunId } from '#proto';
import { postJson, useMay } from '../../wire/index.js';
import { AreaField, CheckField, Empty, goTo, PageLink, Refused, useForm } from '../../parts/index.js';
import { words } from '../../words/index.js';
import { PLAN_EXAMPLE } from './plan-example.js';

const Accepted = z.looseObject({ runId: RunId });
/** Nothing starts before somebody has seen the plan. */
const WAITING = { options: { plan: 'approve' } } as const;

/** Throws with the sentence to be shown. */
function planIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(words.request.notJson(error instanceof Error ? error.message : String(error)), { cause: error });
  }
}

/** A request in words, or as a plan. What is wrong with it is said by who decides, with the path of the field. */
export function RequestPage(): ReactElement {
  const may = useMay();
  const [kind, setKind] = useState('words');
  const [goal, setGoal] = useState('');
  const [plan, setPlan] = useState(PLAN_EXAMPLE);
  const [approve, setApprove] = useState(false);
  const form = useForm(async (key) => {
    const body = kind === 'words' ? { goal: goal.trim(), ...(approve && WAITING) } : { constellation: planIn(plan) };
    goTo(`/runs/${Accepted.parse(await postJson('/v1/requests', body, key)).runId}`);
  });
  if (!may('SUBMIT')) return <Empty title={words.request.mayNot} />;
  return (
    <div className="page narrow">
      <div className="page-head">
        <h1>{words.request.title}</h1>
        <PageLink href="/runbooks" className="button">
          {words.request.fromRunbook}
        </PageLink>
      </div>
      <form className="stack" onSubmit={form.submit}>
        <Tabs.Root value={kind} onValueChange={(to) => form.changed(() => setKind(to))}>
          <Tabs.List className="tabs" aria-label={words.request.title}>
            <Tabs.Trigger value="words" className="tab">
              {words.request.words}
            </Tabs.Trigger>
            <Tabs.Trigger value="plan" className="tab">
              {words.request.plan}
            </Tabs.Trigger>
          </Tabs.List>
          <Tabs.Content value="words" className="stack">
            <AreaField
              label={words.request.goal}
              rows={5}
              required={kind === 'words'}
              value={goal}
              placeholder={words.request.goalExample}
              onChange={(text) => form.changed(() => setGoal(text))}
            />
            <CheckField
              label={words.request.approve}
              checked={approve}
              onChange={(wanted) => form.changed(() => setApprove(wanted))}
            />
          </Tabs.Content>
          <Tabs.Content value="plan" className="stack">
            <AreaField
              label={words.request.planJson}
              code
              rows={18}
              value={plan}
              onChange={(text) => form.changed(() => setPlan(text))}
            />
          </Tabs.Content>
        </Tabs.Root>
        {form.problem === undefined ? null : <Refused message={form.problem} issues={form.issues} />}
        <div className="row end">
          <button type="submit" className="button primary" disabled={form.busy}>
            {words.request.send}
          </button>
        </div>
      </form>
    </div>
  );
}
