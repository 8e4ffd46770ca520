import type { ReactElement } from 'react';
import { words } from '../../../words/index.js';

/** What lines mean. */
export function Legend(): ReactElement {
  return (
    <ul className="legend" aria-label={words.legend.label}>
      {(['open', 'holds', 'fails', 'undecided'] as const).map((state) => (
        <li key={state}>
          <svg viewBox="0 0 28 8" aria-hidden="true" className={`line line-${state}`}>
            <path className="react-flow__edge-path" d="M1 4h26" />
          </svg>
          {words.legend[state]}
        </li>
      ))}
    </ul>
  );
}
