import { useState, type ReactElement } from 'react';
import type { AttentionEntry } from '#proto';
import { FormDialog } from '../../parts/index.js';
import { askApi } from '../../wire/index.js';
import { words } from '../../words/index.js';

/** Which services take an input again. */
const TAKERS = ['orchestrator', 'device-agent', 'planner'] as const;
type Taker = (typeof TAKERS)[number];

/** Where a message that nobody could handle lies in its stream; undefined where it came from none. */
export function placeOfLetter({ kind, key }: AttentionEntry): { stream: string; sequence: number } | undefined {
  if (kind !== 'dead-letter') return undefined;
  const [, stream = '', sequence] = /^dead-letter (\w+) (\d+)$/u.exec(key) ?? [];
  return sequence === undefined ? undefined : { stream, sequence: Number(sequence) };
}

interface HandAgainProps {
  readonly place: { readonly stream: string; readonly sequence: number };
  readonly onClose: () => void;
}

/** Hands a message to a service once more, after what was wrong is mended. Nothing is published a second time. */
export function HandAgain({ place, onClose }: HandAgainProps): ReactElement {
  const [taker, setTaker] = useState<Taker>('orchestrator');
  return (
    <FormDialog
      title={words.attention.againTitle(place.sequence, place.stream)}
      about={words.attention.againAbout}
      action={words.attention.again}
      onClose={onClose}
      submit={async () => {
        await askApi(`POST /v1/dead-letters/${taker}/retry`, { body: place });
        onClose();
      }}
    >
      <label className="field">
        <span>{words.attention.taker}</span>
        <select value={taker} onChange={({ target }) => setTaker(TAKERS.find((one) => one === target.value) ?? taker)}>
          {TAKERS.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
