import { useRef, useState, type FormEvent } from 'react';
import type { Issue } from '#proto';
import { ApiError, newKey } from '../wire/index.js';

export interface FormState {
  /** It is under way: nothing is said twice. */
  readonly busy: boolean;
  /** The sentence of what refused it. */
  readonly problem: string | undefined;
  /** What is wrong field by field, where who refused it has said that. */
  readonly issues: readonly Issue[];
  readonly submit: (event?: FormEvent) => void;
  /** Other words are another intent, with an id of its own. */
  readonly changed: (set: () => void) => void;
}

/** What every form does. `say`: throws with the sentence to be shown; its key is the id of the intent, the same until something is changed. */
export function useForm(say: (key: string) => Promise<unknown>): FormState {
  const [refused, setRefused] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  return {
    busy,
    problem: refused?.message,
    issues: refused instanceof ApiError ? (refused.refusal?.issues ?? []) : [],
    submit: (event) => {
      event?.preventDefault();
      setBusy(true);
      setRefused(undefined);
      say(key.current)
        .catch((error: unknown) => setRefused(error instanceof Error ? error : new Error(String(error))))
        .finally(() => setBusy(false));
    },
    changed: (set) => {
      key.current = newKey();
      set();
    },
  };
}
