import { ViewportPortal } from '@xyflow/react';
import {
  createContext,
  memo,
  useCallback,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactElement,
} from 'react';
import type { LineView, TaskStatus } from '#proto';
import type { Sky, Star } from '../../../model/index.js';
import { StatusSign } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import { lineShapes, starShapes, type SkyShape } from './shapes.js';
import { SkyCells } from './sky-cells.js';
import { StarWalk } from './star-walk.js';
import type { SkyPoint } from './star-window.js';
import { Legend } from './legend.js';
import { spokenOf, StarText } from './star.js';
import { STAR_SIZE, type StarPlaces } from './use-layout.js';
import { useStarWindow } from './use-star-window.runner.js';

/** What changes with every event. It comes to the large sky past everything that is around it, none of which is rendered again for it. */
export interface SkyNow {
  readonly sky: Omit<Sky, 'view'>;
  readonly now: number | undefined;
  readonly chosen: string | undefined;
}
export const SkyNowContext = createContext<SkyNow | undefined>(undefined);

interface LargeSkyProps {
  readonly layout: StarPlaces;
  readonly onChoose: (taskId: string) => void;
  /** A star was reached by keyboard: it is to be seen. */
  readonly onReached: (at: SkyPoint) => void;
}

/** A large constellation: a few shapes, which the browser moves without drawing them again, and on them the stars that can be read. Inside of a SkyNowContext. */
export function LargeSky(props: LargeSkyProps): ReactElement | null {
  const shown = useContext(SkyNowContext);
  return shown === undefined ? null : <LargeSkyNow {...props} {...shown} />;
}

function LargeSkyNow({ sky, layout, now, chosen, onChoose, onReached }: LargeSkyProps & SkyNow): ReactElement {
  const { places } = layout;
  const { stars, lines, topology } = sky;
  const { shown, isFar } = useStarWindow({ places, chosen });
  const numbers = useMemo(() => new Map(stars.map(({ id }, at) => [id, at])), [topology]);
  const { reached, goFrom, focused } = useWalk(layout);
  const hint = useId();
  const ids = reached === undefined || shown.has(reached) ? [...shown] : [...shown, reached];
  const near = ids.flatMap((id) => numbers.get(id) ?? []).sort((one, other) => one - other);
  return (
    <>
      <ViewportPortal>
        <div className={isFar ? 'far' : ''}>
          <Shapes stars={stars} lines={lines} layout={layout} />
        </div>
        <div onKeyDown={goFrom}>
          <p id={hint} className="unseen">
            {words.run.walk}
          </p>
          {near.map((number) => {
            const star = stars[number];
            const place = star === undefined ? undefined : places.get(star.id);
            return star === undefined || place === undefined ? null : (
              <NearStar
                key={star.id}
                star={star}
                place={place}
                now={star.status === 'RUNNING' ? now : undefined}
                chosen={star.id === chosen}
                isReached={star.id === reached}
                isSeen={shown.has(star.id)}
                hint={hint}
                onChoose={onChoose}
                onReached={onReached}
                focused={focused}
              />
            );
          })}
        </div>
      </ViewportPortal>
      {isFar ? <Counts stars={stars} /> : <Legend />}
    </>
  );
}

/** One star is where the keyboard is, or would come to; keys lead on from it to every other one. */
function useWalk({ places, direction }: StarPlaces): {
  readonly reached: string | undefined;
  readonly goFrom: (event: KeyboardEvent) => void;
  /** Takes the keyboard there if a key has led there. */
  readonly focused: (id: string, box: HTMLElement) => void;
} {
  const walk = useMemo(() => new StarWalk(places, direction), [places, direction]);
  const [at, setAt] = useState<string>();
  const wanted = useRef<string>(undefined);
  const reached = at !== undefined && walk.has(at) ? at : walk.first;
  const focused = useCallback((id: string, box: HTMLElement): void => {
    if (wanted.current !== id) return;
    wanted.current = undefined;
    box.focus({ preventScroll: true });
  }, []);
  return {
    reached,
    focused,
    goFrom: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return;
      const from = event.target.closest<HTMLElement>('.near-star')?.dataset['id'];
      const to = from === undefined ? undefined : walk.to(from, event.key);
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      wanted.current = to;
      setAt(to);
    },
  };
}

interface NearStarProps {
  readonly star: Star;
  readonly place: SkyPoint;
  readonly now: number | undefined;
  readonly chosen: boolean;
  /** The keyboard is here, or comes here first. */
  readonly isReached: boolean;
  /** Whether it can be read; one that is only there for the keyboard is not. */
  readonly isSeen: boolean;
  readonly hint: string;
  readonly onChoose: (taskId: string) => void;
  readonly onReached: (at: SkyPoint) => void;
  readonly focused: (id: string, box: HTMLElement) => void;
}

const NearStar = memo((props: NearStarProps): ReactElement => {
  const { star, place, now, chosen, isReached, isSeen, hint, onChoose, onReached, focused } = props;
  const { x, y } = place;
  const { id } = star;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isReached && box.current !== null) focused(id, box.current);
  }, [isReached, id, focused]);
  return (
    <div
      ref={box}
      className={isSeen || chosen ? 'near-star' : 'near-star waits'}
      data-id={id}
      role="group"
      tabIndex={isReached ? 0 : -1}
      aria-label={spokenOf(star)}
      aria-describedby={hint}
      style={{ transform: `translate(${x}px, ${y}px)` }}
      onClick={() => onChoose(id)}
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

const Shapes = memo(({ stars, lines, layout }: ShapesProps): ReactElement => {
  const cells = useMemo(() => {
    const { places } = layout;
    return {
      stars: new SkyCells<Star>(({ id }) => places.get(id)),
      lines: new SkyCells<LineView>(({ from, to }) => (places.has(to) ? places.get(from) : undefined)),
    };
  }, [layout]);
  return (
    <svg className="far-sky" role="img" aria-label={countsText(stars)}>
      {cells.lines.of(lines).map(({ key, items }) => (
        <LineCell key={`lines ${key}`} lines={items} layout={layout} />
      ))}
      {cells.stars.of(stars).map(({ key, items }) => (
        <StarCell key={`stars ${key}`} stars={items} layout={layout} />
      ))}
    </svg>
  );
});

const StarCell = memo(({ stars, layout }: Pick<ShapesProps, 'layout' | 'stars'>): ReactElement => (
  <Drawn shapes={starShapes(stars, layout.places, STAR_SIZE)} />
));

const LineCell = memo(
  ({ lines, layout: { places, direction } }: Pick<ShapesProps, 'layout' | 'lines'>): ReactElement => (
    <Drawn shapes={lineShapes(lines, { places, direction, size: STAR_SIZE })} />
  ),
);

function Drawn({ shapes }: { readonly shapes: readonly SkyShape[] }): ReactElement {
  return (
    <g>
      {shapes.map(({ className, path }) => (
        <path key={className} className={className} d={path} />
      ))}
    </g>
  );
}

/** How many stars are how, where none can be read. */
function Counts({ stars }: { readonly stars: readonly Star[] }): ReactElement {
  return (
    <ul className="legend counts" aria-hidden="true">
      {countsOf(stars).map(([status, count]) => (
        <li key={status} className={`status-${status.toLowerCase()}`}>
          <StatusSign status={status} />
          {WHOLE.format(count)} {words.status[status]}
        </li>
      ))}
    </ul>
  );
}

/** Made once: making one takes longer than everything else here. */
const WHOLE = new Intl.NumberFormat('en');

function countsOf(stars: readonly Star[]): [TaskStatus, number][] {
  const counts = new Map<TaskStatus, number>();
  for (const { status } of stars) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts];
}

function countsText(stars: readonly Star[]): string {
  const counts = countsOf(stars).map(([status, count]) => `${count} ${words.status[status]}`);
  return words.run.farSky(stars.length, counts.join(', '));
}
