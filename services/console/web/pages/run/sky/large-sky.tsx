import { ViewportPortal } from '@xyflow/react';
import { memo, useMemo, type ReactElement } from 'react';
import type { TaskStatus } from '#proto';
import type { Sky, Star } from '../../../model/index.js';
import { StatusSign } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import { lineShapes, starShapes } from './shapes.js';
import type { SkyPoint } from './star-window.js';
import { Legend } from './legend.js';
import { spokenOf, StarText } from './star.js';
import { STAR_SIZE, type StarPlaces } from './use-layout.js';
import { useStarWindow } from './use-star-window.runner.js';

interface LargeSkyProps {
  readonly sky: Omit<Sky, 'view'>;
  readonly layout: StarPlaces;
  readonly now: number | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (taskId: string) => void;
  /** A star was reached by keyboard: it is to be seen. */
  readonly onReached: (at: SkyPoint) => void;
}

/** A large constellation: a few shapes, which the browser moves without drawing them again, and on them the stars that can be read. */
export function LargeSky({ sky, layout, now, chosen, onChoose, onReached }: LargeSkyProps): ReactElement {
  const { places } = layout;
  const { shown, isFar } = useStarWindow({ places, chosen });
  return (
    <>
      <ViewportPortal>
        <div className={isFar ? 'far' : ''}>
          <Shapes stars={sky.stars} lines={sky.lines} layout={layout} />
        </div>
        {sky.stars.map((star) => {
          const { id } = star;
          const place = shown.has(id) ? places.get(id) : undefined;
          return place === undefined ? null : (
            <NearStar
              key={id}
              star={star}
              place={place}
              now={star.status === 'RUNNING' ? now : undefined}
              chosen={id === chosen}
              onChoose={onChoose}
              onReached={onReached}
            />
          );
        })}
      </ViewportPortal>
      {isFar ? <Counts stars={sky.stars} /> : <Legend />}
    </>
  );
}

interface NearStarProps {
  readonly star: Star;
  readonly place: SkyPoint;
  readonly now: number | undefined;
  readonly chosen: boolean;
  readonly onChoose: (taskId: string) => void;
  readonly onReached: (at: SkyPoint) => void;
}

const NearStar = memo(({ star, place, now, chosen, onChoose, onReached }: NearStarProps): ReactElement => {
  const { x, y } = place;
  return (
    <div
      className="near-star"
      data-id={star.id}
      role="button"
      tabIndex={0}
      aria-label={spokenOf(star)}
      style={{ transform: `translate(${x}px, ${y}px)` }}
      onClick={() => onChoose(star.id)}
      onFocus={({ currentTarget }) => (currentTarget.matches(':focus-visible') ? onReached(place) : undefined)}
    >
      <StarText star={star} now={now} chosen={chosen} />
    </div>
  );
});

interface ShapesProps {
  readonly stars: Sky['stars'];
  readonly lines: Sky['lines'];
  readonly layout: StarPlaces;
}

const Shapes = memo(({ stars, lines, layout: { places, direction } }: ShapesProps): ReactElement => {
  const boxes = useMemo(() => starShapes(stars, places, STAR_SIZE), [stars, places]);
  const curves = useMemo(() => lineShapes(lines, { places, direction, size: STAR_SIZE }), [lines, places, direction]);
  return (
    <svg className="far-sky" role="img" aria-label={countsText(stars)}>
      {[...curves, ...boxes].map(({ key, className, path }) => (
        <path key={key} className={className} d={path} />
      ))}
    </svg>
  );
});

/** How many stars are how, where none can be read. */
function Counts({ stars }: { readonly stars: readonly Star[] }): ReactElement {
  return (
    <ul className="legend counts" aria-hidden="true">
      {countsOf(stars).map(([status, count]) => (
        <li key={status} className={`status-${status.toLowerCase()}`}>
          <StatusSign status={status} />
          {count.toLocaleString('en')} {words.status[status]}
        </li>
      ))}
    </ul>
  );
}

function countsOf(stars: readonly Star[]): [TaskStatus, number][] {
  const counts = new Map<TaskStatus, number>();
  for (const { status } of stars) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts];
}

function countsText(stars: readonly Star[]): string {
  const counts = countsOf(stars).map(([status, count]) => `${count} ${words.status[status]}`);
  return words.run.farSky(stars.length, counts.join(', '));
}
