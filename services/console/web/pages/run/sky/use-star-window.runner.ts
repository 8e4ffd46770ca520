import { useStoreApi } from '@xyflow/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { areaSeen, starsIn, stepTo, type StarPoints } from './star-window.js';
import { STAR_SIZE } from './use-layout.js';

/** Below this nobody could read what a star says: it is drawn as a shape. */
const READ_FROM_ZOOM = 0.5;
/** So far around what is seen stars are ready, and so far they stay. */
const READY_AROUND = 120;
const KEPT_AROUND = 600;
/** Stars that come, and that go, in one frame: what else comes of them has to fit into it, too. */
const MOST_A_FRAME = 2;
const NONE: ReadonlySet<string> = new Set();

interface WindowParts {
  readonly places: StarPoints;
  /** Is shown in any case. */
  readonly chosen: string | undefined;
}

/** The stars of a large constellation that are shown in full: those that are seen, a few more in each frame. Inside of a flow only. */
export function useStarWindow(parts: WindowParts): { readonly shown: ReadonlySet<string>; readonly isFar: boolean } {
  const flow = useStoreApi();
  const latest = useRef(parts);
  latest.current = parts;
  const held = useRef(NONE);
  const frame = useRef<number>(undefined);
  const [shown, setShown] = useState(NONE);
  const [isFar, setIsFar] = useState(true);
  const step = useCallback((): void => {
    frame.current = undefined;
    const { places, chosen } = latest.current;
    const { transform, width, height } = flow.getState();
    const [x, y, zoom] = transform;
    const far = zoom < READ_FROM_ZOOM;
    const around = (margin: number): Set<string> =>
      far ? new Set() : starsIn(places, STAR_SIZE, areaSeen({ x, y, zoom }, { width, height }, margin));
    const wanted = around(READY_AROUND);
    if (chosen !== undefined) wanted.add(chosen);
    const next = stepTo(held.current, { wanted, kept: around(KEPT_AROUND), most: MOST_A_FRAME });
    setIsFar(far);
    if (next === held.current) return;
    held.current = next;
    setShown(next);
    frame.current = requestAnimationFrame(step);
  }, [flow]);
  const { places, chosen } = parts;
  useEffect(() => {
    const look = (): void => {
      frame.current ??= requestAnimationFrame(step);
    };
    look();
    const end = flow.subscribe(look);
    return () => {
      end();
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
      frame.current = undefined;
    };
  }, [flow, places, chosen, step]);
  return { shown, isFar };
}
