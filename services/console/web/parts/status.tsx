import type { ReactElement } from 'react';
import type { RunOutcome, RunStatus, TaskStatus } from '#proto';
import { words } from '../words/index.js';
import { StatusSign } from './icon.js';

interface StatusProps {
  readonly status: TaskStatus | RunStatus;
  readonly outcome?: RunOutcome | null;
}

/** A status as a shape, a colour and a word. */
export function Status({ status, outcome }: StatusProps): ReactElement {
  const part = outcome === 'partially_failed';
  return (
    <span className={`status status-${part ? 'partial' : status.toLowerCase()}`}>
      <StatusSign status={part ? 'PARTIAL' : status} />
      {part ? words.status.partial : words.status[status]}
    </span>
  );
}
