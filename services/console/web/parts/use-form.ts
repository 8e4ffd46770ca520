import { useRef, useState, type FormEvent } from 'react';
import { newKey } from '../wire/index.js';

export interface FormState {
  /** It is under way: nothing is said twice. */
  readonly busy: boolean;
  /** The sentence of what refused it. */
  readonly problem: string | undefined;
  readonly submit: (event?: FormEvent) => void;
  /** Other words are another intent, with an id of its own. */
  readonly changed: (set: () => void) => void;
}

/** What every form does. `say`: throws with the sentence to be shown; its key is the id of the intent, the same until something is changed. */
export function useForm(say: (key: string) => Promise<unknown>): FormState {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  return {
    busy,
    problem,
    submit: (event) => {
      event?.preventDefault();
      setBusy(true);
      setProblem(undefined);
      say(key.current)
        .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
        .finally(() => setBusy(false));
    },
    changed: (set) => {
      key.current = newKey();
      set();
    },
  };
}
