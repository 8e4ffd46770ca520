import { useEffect, useId, useRef, type KeyboardEvent, type ReactElement } from 'react';
import { words } from '../../../words/index.js';
import { ScreenViewer } from './screen-viewer.adapter.js';
import type { ViewStanding } from './standing.js';

interface StageProps {
  readonly deviceId: string;
  readonly mayAct: boolean;
  readonly hear: (standing: ViewStanding) => void;
  /** Who has pressed the keys that lead out: where he is to be then. */
  readonly onLeave: () => void;
}

/** The picture of a screen. It is opened when this is shown, and closed when it is not. */
export function Stage({ deviceId, mayAct, hear, onLeave }: StageProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const viewer = useRef<ScreenViewer>(undefined);
  const wayOut = useId();
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const opened = new ScreenViewer({ box: current, deviceId, wayOut, hear });
    viewer.current = opened;
    return () => opened.close();
    // Who hears of it does not change.
  }, [deviceId, wayOut]);
  useEffect(() => viewer.current?.act(mayAct), [mayAct]);
  const leave = (event: KeyboardEvent): void => {
    if (!mayAct || event.key !== 'Home' || !event.ctrlKey || !event.altKey) return;
    event.stopPropagation();
    event.preventDefault();
    onLeave();
  };
  return (
    <div className={mayAct ? 'stage acting' : 'stage'} onKeyDownCapture={leave}>
      <div className="stage-box" ref={box} />
      <p id={wayOut} className="stage-keys" hidden={!mayAct}>
        {words.screen.leave}
      </p>
    </div>
  );
}
