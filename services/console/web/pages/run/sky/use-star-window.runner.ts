import { useCallback, useEffect, useRef, useState } from 'react';
import { areaSeen, starsIn, stepTo, type Look, type StarPoints } from './star-window.js';
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
  /** Undefined: all stars are shown, wherever one looks. */
  readonly places: StarPoints | undefined;
  readonly box: () => { readonly width: number; readonly height: number };
  /** Is shown in any case. */
  readonly chosen: string | undefined;
}

/** The stars of a large constellation that are shown in full: those that are seen, a few more in each frame. */
export function useStarWindow(parts: WindowParts): {
  readonly shown: ReadonlySet<string>;
  readonly isFar: boolean;
  readonly look: (at: Look) => void;
} {
  const latest = useRef(parts);
  latest.current = parts;
  const looked = useRef<Look>(undefined);
  const held = useRef(NONE);
  const frame = useRef<number>(undefined);
  const [shown, setShown] = useState(NONE);
  const [isFar, setIsFar] = useState(false);
  const step = useCallback((): void => {
    frame.current = undefined;
    const { places, box, chosen } = latest.current;
    if (places === undefined || looked.current === undefined) return;
    const far = looked.current.zoom < READ_FROM_ZOOM;
    const around = (margin: number): Set<string> =>
      far ? new Set() : starsIn(places, STAR_SIZE, areaSeen(looked.current ?? { x: 0, y: 0, zoom: 1 }, box(), margin));
    const wanted = around(READY_AROUND);
    if (chosen !== undefined) wanted.add(chosen);
    const next = stepTo(held.current, { wanted, kept: around(KEPT_AROUND), most: MOST_A_FRAME });
    setIsFar(far);
    if (next === held.current) return;
    held.current = next;
    setShown(next);
    frame.current = requestAnimationFrame(step);
  }, []);
  const look = useCallback(
    (at: Look): void => {
      looked.current = at;
      frame.current ??= requestAnimationFrame(step);
    },
    [step],
  );
  const { places, chosen } = parts;
  useEffect(() => {
    frame.current ??= requestAnimationFrame(step);
  }, [places, chosen, step]);
  useEffect(
    () => () => {
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
      frame.current = undefined;
    },
    [],
  );
  return { shown, isFar, look };
}
