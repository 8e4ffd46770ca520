import {
  Background,
  BackgroundVariant,
  Controls,
  MarkerType,
  ReactFlow,
  type Edge,
  type ReactFlowInstance,
} from '@xyflow/react';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import type { LineView } from '#proto';
import { lineState, type Sky } from '../../../model/index.js';
import { Empty, Loading } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import { lineLabel } from './line-label.js';
import { StarView, starText, type StarNode } from './star.js';
import { STAR_SIZE, useLayout } from './use-layout.js';

const NODE_TYPES = { star: StarView };
/** All of it, unless nothing could be read then: the rest is reached by moving. */
const FIT = { padding: 0.06, maxZoom: 1.1, minZoom: 0.42, duration: 0 } as const;
/** Above this, labels of lines and shadows cost more than they tell. */
const PLAIN_FROM = 200;

interface SkyViewProps {
  readonly sky: Omit<Sky, 'view'>;
  /** Of the moment that is looked at; undefined: now. */
  readonly now: number | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (taskId: string | undefined) => void;
}

/** The constellation as it stands: a star for each task, a line for each dependency. */
export function SkyView({ sky, now, chosen, onChoose }: SkyViewProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const [direction, setDirection] = useState<'LR' | 'TB'>('LR');
  const flow = useRef<ReactFlowInstance<StarNode, Edge>>(undefined);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const seen = new ResizeObserver(() => {
      setDirection(current.clientWidth < current.clientHeight * 1.05 ? 'TB' : 'LR');
      void flow.current?.fitView(FIT);
    });
    seen.observe(current);
    return () => seen.disconnect();
  }, []);
  const layout = useLayout(sky, direction);
  const isPlain = sky.stars.length > PLAIN_FROM;
  const nodes = useMemo(
    () =>
      sky.stars.flatMap((star): StarNode[] => {
        const position = layout?.places.get(star.id);
        if (position === undefined) return [];
        return [
          {
            id: star.id,
            type: 'star',
            position,
            data: { star, now: star.status === 'RUNNING' ? now : undefined, direction },
            selected: star.id === chosen,
            ariaLabel: starText(star),
            width: STAR_SIZE.width,
            height: STAR_SIZE.height,
            draggable: false,
            connectable: false,
          },
        ];
      }),
    [sky, layout, chosen, now, direction],
  );
  const edges = useMemo(() => sky.lines.map((line) => edgeOf(line, isPlain)), [sky, isPlain]);
  useEffect(() => {
    if (layout !== undefined) requestAnimationFrame(() => void flow.current?.fitView(FIT));
  }, [layout]);
  return (
    <div className={isPlain ? 'sky plain' : 'sky'} ref={box} onKeyDown={(event) => onKey(event, onChoose)}>
      {sky.stars.length === 0 ? <Empty title={words.run.noStars} /> : layout === undefined ? <Loading /> : null}
      <ReactFlow<StarNode, Edge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onInit={(instance) => {
          flow.current = instance;
        }}
        onNodeClick={(_, { id }) => onChoose(id)}
        onlyRenderVisibleElements
        nodesConnectable={false}
        nodesDraggable={false}
        edgesFocusable={false}
        minZoom={0.05}
        maxZoom={2}
        fitView
        fitViewOptions={FIT}
        proOptions={{ hideAttribution: true }}
        aria-label={words.run.sky}
      >
        <Background variant={BackgroundVariant.Dots} gap={26} size={1} />
        <Controls showInteractive={false} position="bottom-right" />
      </ReactFlow>
      <Legend />
    </div>
  );
}

/** Enter on a star opens it, as a click does. */
function onKey(event: KeyboardEvent, onChoose: (taskId: string) => void): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  const star = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>('.react-flow__node') : null;
  const id = star?.dataset['id'];
  if (id === undefined) return;
  event.preventDefault();
  onChoose(id);
}

function edgeOf(line: LineView, isPlain: boolean): Edge {
  const state = lineState(line);
  const { id, from, to, type } = line;
  const label = lineLabel(line);
  return {
    id,
    source: from,
    target: to,
    className: `line line-${type} line-${state}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: `var(--line-${state})` },
    ...(isPlain || label === '' ? {} : { label, labelBgPadding: [5, 3] as [number, number], labelBgBorderRadius: 4 }),
    selectable: false,
    focusable: false,
  };
}

function Legend(): ReactElement {
  return (
    <ul className="legend" aria-label={words.legend.label}>
      {(['open', 'holds', 'fails', 'undecided'] as const).map((state) => (
        <li key={state}>
          <svg viewBox="0 0 28 8" aria-hidden="true" className={`line line-${state}`}>
            <path className="react-flow__edge-path" d="M1 4h26" />
          </svg>
          {words.legend[state]}
        </li>
      ))}
    </ul>
  );
}
