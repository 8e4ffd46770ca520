import { useEffect, useRef, useState } from 'react';
import type { Sky } from '../../../model/index.js';
import type { LayoutAnswer, LayoutQuestion } from './layout-words.js';
import { labelWidth, lineLabel } from './line-label.js';
import type { StarPoints } from './star-window.js';

export const STAR_SIZE = { width: 196, height: 74 } as const;

export interface StarPlaces {
  /** What it was made for; stars that came since have no place yet. */
  readonly topology: string;
  readonly direction: 'LR' | 'TB';
  readonly places: StarPoints;
}

interface LayoutParts {
  readonly direction: 'LR' | 'TB';
  /** Whether lines have labels, which take their place, too. */
  readonly labels: boolean;
}

/** Where the stars stand: found out again only when there are other stars or lines. */
export function useLayout(sky: Omit<Sky, 'view'>, { direction, labels }: LayoutParts): StarPlaces | undefined {
  const [layout, setLayout] = useState<StarPlaces>();
  const worker = useRef<Worker>(undefined);
  const asked = useRef(0);
  useEffect(() => {
    worker.current = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    return () => worker.current?.terminate();
  }, []);
  const { topology } = sky;
  useEffect(() => {
    const { current } = worker;
    if (current === undefined) return undefined;
    asked.current += 1;
    const id = asked.current;
    const stars = sky.stars.map((star) => star.id);
    const lines = sky.lines.map((line) => ({
      id: line.id,
      from: line.from,
      to: line.to,
      width: labels ? labelWidth(lineLabel(line)) : 0,
    }));
    const hear = ({ data }: MessageEvent<LayoutAnswer>): void => {
      if (data.id !== id) return;
      setLayout({ topology, direction, places: new Map(data.places.map(({ id: star, x, y }) => [star, { x, y }])) });
    };
    current.addEventListener('message', hear);
    const question: LayoutQuestion = { id, stars, lines, direction, size: STAR_SIZE };
    current.postMessage(question, { transfer: [] });
    return () => current.removeEventListener('message', hear);
    // Status and colours ask for no other places.
  }, [topology, direction, labels]);
  return layout;
}
