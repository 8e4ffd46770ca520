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
  /** What needs somebody because of it: who hands it in takes it on before, and it is settled when it was handled. */
  readonly entry: string;
  readonly place: { readonly stream: string; readonly sequence: number };
  readonly onClose: () => void;
}

/** Hands a message to a service once more, after what was wrong is mended. Nothing is published a second time; who did it is recorded with what needed somebody. */
export function HandAgain({ entry, place, onClose }: HandAgainProps): ReactElement {
  const [taker, setTaker] = useState<Taker>('orchestrator');
  return (
    <FormDialog
      title={words.attention.againTitle(place.sequence, place.stream)}
      about={words.attention.againAbout}
      action={words.attention.again}
      onClose={onClose}
      submit={async () => {
        const path = { id: entry };
        await askApi('POST /v1/attention/{id}/take', { path });
        await askApi(`POST /v1/dead-letters/${taker}/retry`, { body: place });
        onClose();
        await askApi('POST /v1/attention/{id}/settle', { path, body: { reason: words.attention.handed(taker) } });
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
