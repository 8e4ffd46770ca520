import {
  Background,
  BackgroundVariant,
  Controls,
  MarkerType,
  ReactFlow,
  type Edge,
  type ReactFlowInstance,
} from '@xyflow/react';
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { visibleText } from '#libs/visible';
import type { LineView } from '#proto';
import { lineState, type Sky } from '../../../model/index.js';
import { Empty, Loading } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import { StarView, starText, type StarNode } from './star.js';
import { STAR_SIZE, useLayout } from './use-layout.js';

const NODE_TYPES = { star: StarView };
const FIT = { padding: 0.12, maxZoom: 1.1, minZoom: 0.05, duration: 0 } as const;
/** Above this, labels of lines and shadows cost more than they tell. */
const PLAIN_FROM = 200;

interface SkyViewProps {
  readonly sky: Sky;
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
    <div className={isPlain ? 'sky plain' : 'sky'} ref={box}>
      {sky.stars.length === 0 ? <Empty title={words.run.noStars} /> : layout === undefined ? <Loading /> : null}
      <ReactFlow<StarNode, Edge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onInit={(instance) => {
          flow.current = instance;
        }}
        onNodeClick={(_, { id }) => onChoose(id)}
        onNodesChange={(changes) => {
          // The keyboard chooses, too.
          for (const change of changes) if (change.type === 'select' && change.selected) onChoose(change.id);
        }}
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

function edgeOf(line: LineView, isPlain: boolean): Edge {
  const state = lineState(line);
  const { id, from, to, type, condition } = line;
  const label = type === 'conditional' ? visibleText(condition ?? '') : type === 'success-only' ? '' : words.line[type];
  const short = label.length > 28 ? `${label.slice(0, 27)}…` : label;
  return {
    id,
    source: from,
    target: to,
    className: `line line-${type} line-${state}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: `var(--line-${state})` },
    ...(isPlain || short === ''
      ? {}
      : { label: short, labelBgPadding: [5, 3] as [number, number], labelBgBorderRadius: 4 }),
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
