import type { ReactElement } from 'react';
import { visibleText } from '#libs/visible';
import { agoWords, tookText } from '../model/index.js';
import { useNow } from '../wire/index.js';
import { words } from '../words/index.js';

/** Text of devices, models and people as it came, with what hides in it made visible. Never anything but text. */
export function Foreign({ text, block = false }: { readonly text: string; readonly block?: boolean }): ReactElement {
  const shown = visibleText(text);
  return block ? <div className="foreign block">{shown}</div> : <span className="foreign">{shown}</span>;
}

/** A mark beside what a model or a device has written: it is nobody's promise. */
export function ForeignMark({ by }: { readonly by: 'model' | 'device' }): ReactElement {
  return (
    <span className="mark" title={words.foreign[by]}>
      {by}
    </span>
  );
}

const DAY_TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export function timeText(instant: string): string {
  return DAY_TIME.format(new Date(instant));
}

export function dateTimeText(instant: string): string {
  return WHOLE.format(new Date(instant));
}

/** How long ago, with the instant itself for who wants to know. */
export function Ago({ at }: { readonly at: string }): ReactElement {
  const now = useNow();
  return (
    <time dateTime={at} title={dateTimeText(at)}>
      {agoWords(now - Date.parse(at))}
    </time>
  );
}

/** How long something took, or takes. `until`: null while it goes on. `now`: of a moment that is looked at. */
export function Elapsed({
  from,
  until,
  now,
}: {
  readonly from: string;
  readonly until: string | null;
  readonly now?: number | undefined;
}): ReactElement {
  return until === null && now === undefined ? (
    <Ticking from={from} />
  ) : (
    <span className="elapsed">{tookText((until === null ? (now ?? 0) : Date.parse(until)) - Date.parse(from))}</span>
  );
}

function Ticking({ from }: { readonly from: string }): ReactElement {
  const now = useNow();
  return <span className="elapsed">{tookText(now - Date.parse(from))}</span>;
}
