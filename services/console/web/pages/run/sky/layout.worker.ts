import { Graph, layout } from '@dagrejs/dagre';
import type { LayoutAnswer, LayoutQuestion } from './layout-words.js';

/** Where stars stand, found out beside the page: a large constellation must not hold up a keystroke. */
self.addEventListener('message', ({ data }: MessageEvent<LayoutQuestion>) => {
  const { id, stars, lines, direction, size } = data;
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 22, ranksep: direction === 'LR' ? 70 : 48, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const star of stars) graph.setNode(star, { width: size.width, height: size.height });
  for (const { id: line, from, to } of lines) graph.setEdge(from, to, {}, line);
  layout(graph);
  const places = stars.map((star) => {
    const { x, y } = graph.node(star) as { x: number; y: number };
    return { id: star, x: x - size.width / 2, y: y - size.height / 2 };
  });
  const answer: LayoutAnswer = { id, places };
  self.postMessage(answer, { transfer: [] });
});
