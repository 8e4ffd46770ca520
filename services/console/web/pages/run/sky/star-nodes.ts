import type { Star } from '../../../model/index.js';
import { spokenOf, type StarNode } from './star.js';
import type { SkyPoint } from './star-window.js';
import { STAR_SIZE } from './use-layout.js';

interface Drawn {
  readonly place: SkyPoint;
  readonly direction: 'LR' | 'TB';
  readonly now: number | undefined;
  readonly chosen: boolean;
}

interface Known {
  readonly star: Star;
  readonly drawn: Drawn;
  readonly node: StarNode;
}

/** What is drawn of stars. The same star in the same place is the same object, so that nothing draws it again. */
export class StarNodes {
  #known = new Map<string, Known>();

  of(stars: readonly Star[], drawnOf: (star: Star) => Drawn | undefined): StarNode[] {
    const known = new Map<string, Known>();
    for (const star of stars) {
      const drawn = drawnOf(star);
      if (drawn === undefined) continue;
      const before = this.#known.get(star.id);
      const isSame = before !== undefined && before.star === star && same(before.drawn, drawn);
      known.set(star.id, isSame ? before : { star, drawn, node: nodeOf(star, drawn) });
    }
    this.#known = known;
    return [...known.values()].map(({ node }) => node);
  }
}

function same(left: Drawn, right: Drawn): boolean {
  return (
    left.place === right.place &&
    left.direction === right.direction &&
    left.now === right.now &&
    left.chosen === right.chosen
  );
}

function nodeOf(star: Star, { place, direction, now, chosen }: Drawn): StarNode {
  return {
    id: star.id,
    type: 'star',
    position: { ...place },
    data: { star, now, direction },
    selected: chosen,
    ariaLabel: spokenOf(star),
    width: STAR_SIZE.width,
    height: STAR_SIZE.height,
    draggable: false,
    connectable: false,
  };
}
