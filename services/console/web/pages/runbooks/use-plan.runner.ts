import { useEffect, useState } from 'react';
import { RunbookAnswer, type Issue, type Json, type TaskConstellation } from '#proto';
import { ApiError, postJson, newKey } from '../../wire/index.js';

/** What the planner makes of the form as it stands. */
export interface PlannedForm {
  readonly constellation: TaskConstellation | null;
  readonly issues: readonly Issue[];
  /** Nobody could say. */
  readonly problem: string | undefined;
  /** It is of the form as it stands, and not of one before. */
  readonly isCurrent: boolean;
}

/** Whoever types is not asked about every letter. */
const PAUSE_MS = 300;

/** Asks for the plan of a runbook again whenever something else is said. */
export function usePlan(name: string, said: Readonly<Record<string, Json>>): PlannedForm {
  const wanted = JSON.stringify(said);
  const [answer, setAnswer] = useState<Omit<PlannedForm, 'isCurrent'> & { readonly of: string }>();
  useEffect(() => {
    let isOver = false;
    const show = (plan: Partial<PlannedForm>): void => {
      if (!isOver) setAnswer({ constellation: null, issues: [], problem: undefined, ...plan, of: wanted });
    };
    const pause = setTimeout(() => {
      postJson(`/v1/runbooks/${name}/plan`, { parameters: JSON.parse(wanted) as unknown }, newKey())
        .then((json) => RunbookAnswer.parse(json))
        .then(show, (error: unknown) =>
          show({
            problem: error instanceof Error ? error.message : String(error),
            issues: error instanceof ApiError ? (error.refusal?.issues ?? []) : [],
          }),
        );
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(pause);
    };
  }, [name, wanted]);
  const { of, ...plan } = answer ?? { of: undefined, constellation: null, issues: [], problem: undefined };
  return { ...plan, isCurrent: of === wanted };
}
