import {
  Background,
  BackgroundVariant,
  ControlButton,
  Controls,
  MarkerType,
  ReactFlow,
  type Edge,
  type ReactFlowInstance,
} from '@xyflow/react';
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
} from 'react';
import type { LineView } from '#proto';
import { lineState, type Sky } from '../../../model/index.js';
import { Empty, Icon, Loading } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import { LargeSky, SkyNowContext } from './large-sky.js';
import { Legend } from './legend.js';
import { lineLabel } from './line-label.js';
import { StarNodes } from './star-nodes.js';
import { areaOf, starAt, type SkyPoint } from './star-window.js';
import { StarView, type StarNode } from './star.js';
import { STAR_SIZE, useLayout } from './use-layout.js';

const NODE_TYPES = { star: StarView };
/** Of a large constellation: it is drawn otherwise. */
const NO_NODES: StarNode[] = [];
const NO_EDGES: Edge[] = [];
/** All of it, unless nothing could be read then: the rest is reached by moving. */
const FIT = { padding: 0.06, maxZoom: 1.1, minZoom: 0.42, duration: 0 } as const;
/** Not wider than this a plan of a few stars is too small to be read as a whole. */
const PHONE_PX = 600;
/** What the keyboard has reached can be read. */
const REACHED_ZOOM_MIN = 0.75;
/** From here on a constellation is drawn as shapes, without labels, and only those stars in full that are seen and can be read. */
const LARGE_FROM = 200;

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
  const isLarge = sky.stars.length > LARGE_FROM;
  const layout = useLayout(sky, { direction, labels: !isLarge });
  const latest = useRef({ onChoose, layout, stars: sky.stars });
  latest.current = { onChoose, layout, stars: sky.stars };
  const fit = useCallback((): void => {
    const area = isLarge && layout !== undefined ? areaOf(layout.places, STAR_SIZE) : undefined;
    void (area === undefined ? flow.current?.fitView(FIT) : flow.current?.fitBounds(area, { padding: FIT.padding }));
  }, [isLarge, layout]);
  /** As it opens: all of it, or on a phone, where nobody could read that, the part that goes on. */
  const open = useCallback((): void => {
    const seen = box.current;
    const area = layout === undefined ? undefined : areaOf(layout.places, STAR_SIZE);
    if (isLarge || seen === null || area === undefined || seen.clientWidth > PHONE_PX) return fit();
    const zoom = Math.min(seen.clientWidth / area.width, seen.clientHeight / area.height);
    const { stars } = latest.current;
    const going = stars.find(({ status }) => status === 'RUNNING') ?? stars.find(({ status }) => status === 'PENDING');
    const at = layout?.places.get((going ?? stars[0])?.id ?? '');
    if (zoom >= REACHED_ZOOM_MIN || at === undefined) return fit();
    const [x, y] = [at.x + STAR_SIZE.width / 2, at.y + STAR_SIZE.height / 2];
    void flow.current?.setCenter(x, y, { zoom: REACHED_ZOOM_MIN });
  }, [isLarge, layout, fit]);
  const choose = useCallback((taskId: string): void => latest.current.onChoose(taskId), []);
  const chooseAt = useCallback(({ clientX: x, clientY: y }: MouseEvent): void => {
    const { layout: shown } = latest.current;
    const at = flow.current?.screenToFlowPosition({ x, y });
    const star = shown === undefined || at === undefined ? undefined : starAt(shown.places, STAR_SIZE, at);
    if (star !== undefined) latest.current.onChoose(star);
  }, []);
  const reach = useCallback(({ x, y }: SkyPoint): void => {
    const { current } = flow;
    const zoom = Math.max(current?.getZoom() ?? 0, REACHED_ZOOM_MIN);
    void current?.setCenter(x + STAR_SIZE.width / 2, y + STAR_SIZE.height / 2, { zoom });
  }, []);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const seen = new ResizeObserver(() => {
      setDirection(current.clientWidth < current.clientHeight * 1.05 ? 'TB' : 'LR');
      open();
    });
    seen.observe(current);
    return () => seen.disconnect();
  }, [open]);
  const made = useRef(new StarNodes());
  const nodes = useMemo(
    () =>
      isLarge
        ? NO_NODES
        : made.current.of(sky.stars, (star) => {
            const place = layout?.places.get(star.id);
            if (layout === undefined || place === undefined) return undefined;
            const seen = star.status === 'RUNNING' ? now : undefined;
            return { place, direction: layout.direction, now: seen, chosen: star.id === chosen };
          }),
    [sky.stars, layout, chosen, now, isLarge],
  );
  const edges = useMemo(() => (isLarge ? NO_EDGES : sky.lines.map((line) => edgeOf(line))), [sky.lines, isLarge]);
  useEffect(() => {
    if (layout !== undefined) requestAnimationFrame(open);
  }, [layout, open]);
  // Of a large sky an event changes none of this: it comes to the stars by the context.
  const drawn = useMemo(
    () => (
      <ReactFlow<StarNode, Edge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onInit={(instance) => {
          flow.current = instance;
        }}
        onNodeClick={(_, { id }) => choose(id)}
        {...(isLarge && { onPaneClick: chooseAt })}
        onlyRenderVisibleElements={!isLarge}
        nodesConnectable={false}
        nodesDraggable={false}
        edgesFocusable={false}
        minZoom={0.01}
        maxZoom={2}
        fitView
        fitViewOptions={FIT}
        proOptions={{ hideAttribution: true }}
        aria-label={words.run.sky}
      >
        {isLarge ? null : <Background variant={BackgroundVariant.Dots} gap={26} size={1} />}
        {isLarge && layout !== undefined ? <LargeSky layout={layout} onChoose={choose} onReached={reach} /> : null}
        <Controls showInteractive={false} showFitView={false} position="bottom-right">
          <ControlButton onClick={fit} title={words.run.wholeSky} aria-label={words.run.wholeSky}>
            <Icon name="whole" />
          </ControlButton>
        </Controls>
      </ReactFlow>
    ),
    [nodes, edges, isLarge, layout, fit, choose, chooseAt, reach],
  );
  const shown = useMemo(() => ({ sky, now, chosen }), [sky, now, chosen]);
  return (
    <div className={isLarge ? 'sky large' : 'sky'} ref={box} onKeyDown={(event) => onKey(event, onChoose)}>
      {sky.stars.length === 0 ? <Empty title={words.run.noStars} /> : layout === undefined ? <Loading /> : null}
      <SkyNowContext value={shown}>{drawn}</SkyNowContext>
      {isLarge && layout !== undefined ? null : <Legend />}
    </div>
  );
}

/** Enter on a star opens it, as a click does. */
function onKey(event: KeyboardEvent, onChoose: (taskId: string) => void): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  const star =
    event.target instanceof HTMLElement ? event.target.closest<HTMLElement>('.react-flow__node, .near-star') : null;
  const id = star?.dataset['id'];
  if (id === undefined) return;
  event.preventDefault();
  onChoose(id);
}

function edgeOf(line: LineView): Edge {
  const state = lineState(line);
  const { id, from, to, type } = line;
  const label = lineLabel(line);
  return {
    id,
    source: from,
    target: to,
    className: `line line-${type} line-${state}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: `var(--line-${state})` },
    ...(label === '' ? {} : { label, labelBgPadding: [5, 3] as [number, number], labelBgBorderRadius: 4 }),
    selectable: false,
    focusable: false,
  };
}
