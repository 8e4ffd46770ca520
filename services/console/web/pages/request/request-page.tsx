import * as Tabs from '@radix-ui/react-tabs';
import { useRef, useState, type FormEvent, type ReactElement } from 'react';
import { z } from 'zod';
import { RunId } from '#proto';
import { ApiError, newKey, postJson, useMay } from '../../wire/index.js';
import { Empty, goTo, PageLink, Refused } from '../../parts/index.js';
import { words } from '../../words/index.js';
import { PLAN_EXAMPLE } from './plan-example.js';

const Accepted = z.looseObject({ runId: RunId });

/** A request in words, or as a plan. What is wrong with it is said by who decides, with the path of the field. */
export function RequestPage(): ReactElement {
  const may = useMay();
  const [kind, setKind] = useState('words');
  const [goal, setGoal] = useState('');
  const [plan, setPlan] = useState(PLAN_EXAMPLE);
  const [approve, setApprove] = useState(false);
  const [problem, setProblem] = useState<ApiError | Error>();
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  if (!may('SUBMIT')) return <Empty title={words.request.mayNot} />;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setProblem(undefined);
    let body: object;
    try {
      const options = approve ? { options: { plan: 'approve' } } : {};
      body = kind === 'words' ? { goal: goal.trim(), ...options } : { constellation: JSON.parse(plan) as unknown };
    } catch (error) {
      setProblem(new Error(words.request.notJson(error instanceof Error ? error.message : String(error))));
      return;
    }
    setBusy(true);
    postJson('/v1/requests', body, key.current)
      .then((json) => goTo(`/runs/${Accepted.parse(json).runId}`))
      .catch((error: unknown) => {
        setBusy(false);
        setProblem(error instanceof Error ? error : new Error(String(error)));
      });
  };
  /** Another text is another request. */
  const changed = (set: (text: string) => void) => (text: string) => {
    key.current = newKey();
    set(text);
  };
  return (
    <div className="page narrow">
      <div className="page-head">
        <h1>{words.request.title}</h1>
        <PageLink href="/runbooks" className="button">
          {words.request.fromRunbook}
        </PageLink>
      </div>
      <form className="stack" onSubmit={submit}>
        <Tabs.Root value={kind} onValueChange={setKind}>
          <Tabs.List className="tabs" aria-label={words.request.title}>
            <Tabs.Trigger value="words" className="tab">
              {words.request.words}
            </Tabs.Trigger>
            <Tabs.Trigger value="plan" className="tab">
              {words.request.plan}
            </Tabs.Trigger>
          </Tabs.List>
          <Tabs.Content value="words" className="stack">
            <label className="field">
              <span>{words.request.goal}</span>
              <textarea
                rows={5}
                required={kind === 'words'}
                value={goal}
                placeholder={words.request.goalExample}
                onChange={({ target }) => changed(setGoal)(target.value)}
              />
            </label>
            <label className="check">
              <input type="checkbox" checked={approve} onChange={({ target }) => setApprove(target.checked)} />
              <span>{words.request.approve}</span>
            </label>
          </Tabs.Content>
          <Tabs.Content value="plan" className="stack">
            <label className="field">
              <span>{words.request.planJson}</span>
              <textarea
                className="code"
                rows={18}
                spellCheck={false}
                value={plan}
                onChange={({ target }) => changed(setPlan)(target.value)}
              />
            </label>
          </Tabs.Content>
        </Tabs.Root>
        {problem === undefined ? null : (
          <Refused
            message={problem.message}
            issues={problem instanceof ApiError ? (problem.refusal?.issues ?? []) : []}
          />
        )}
        <div className="row end">
          <button type="submit" className="button primary" disabled={busy}>
            {words.request.send}
          </button>
        </div>
      </form>
    </div>
  );
}
