import { Graph, layout } from '@dagrejs/dagre';
import type { LayoutAnswer, LayoutQuestion } from './layout-words.js';

const LABEL_HEIGHT = 18;
/** From here on the shortest lines would take minutes to find: those that are a little longer take seconds. */
const SHORTEST_UNTIL = 150;

/** Where stars stand, found out beside the page: a large constellation must not hold up a keystroke. */
self.addEventListener('message', ({ data }: MessageEvent<LayoutQuestion>) => {
  const { id, stars, lines, direction, size } = data;
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: direction,
    nodesep: 22,
    edgesep: stars.length > SHORTEST_UNTIL ? 6 : 20,
    ranksep: direction === 'LR' ? 56 : 44,
    marginx: 12,
    marginy: 12,
    ranker: stars.length > SHORTEST_UNTIL ? 'tight-tree' : 'network-simplex',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const star of stars) graph.setNode(star, { width: size.width, height: size.height });
  for (const { id: line, from, to, width } of lines) {
    graph.setEdge(from, to, { width, height: width === 0 ? 0 : LABEL_HEIGHT, labelpos: 'c' }, line);
  }
  layout(graph);
  const places = stars.map((star) => {
    const { x, y } = graph.node(star) as { x: number; y: number };
    return { id: star, x: x - size.width / 2, y: y - size.height / 2 };
  });
  const answer: LayoutAnswer = { id, places };
  self.postMessage(answer, { transfer: [] });
});
