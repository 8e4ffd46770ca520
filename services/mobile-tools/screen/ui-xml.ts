import { PhoneFault } from '../faults/index.js';
import type { ScreenRect, UiNode } from './ui-node.js';

const CHARS_MAX = 8 * 1024 * 1024;
const NODES_MAX = 20_000;
const DEPTH_MAX = 256;
const TEXT_CHARS_MAX = 10_000;
const TYPE_CHARS_MAX = 64;
const NUMBER_MAX = 1_000_000;

interface Growing extends UiNode {
  readonly children: Growing[];
}

/**
 * Reads what `uiautomator dump` writes: one `hierarchy` with nodes, and nothing else that XML could have. No declarations of types, no
 * comments, no entities but the five and numbers: texts in it come from applications, and what is not understood is no screen.
 */
export function parseHierarchy(xml: string): readonly UiNode[] {
  if (xml.length > CHARS_MAX) throw broken(`it is longer than ${CHARS_MAX} characters`);
  const top: Growing[] = [];
  const open: Growing[] = [];
  let nodes = 0;
  let state: 'before' | 'in' | 'after' = 'before';
  const tag = new RegExp(TAG);
  tag.lastIndex = /^\uFEFF?\s*(?:<\?xml[^<>]*\?>)?/u.exec(xml)?.[0].length ?? 0;
  while (tag.lastIndex < xml.length && !isBlank(xml, tag.lastIndex)) {
    const { lastIndex: at } = tag;
    const [, closing = '', name = '', attributes = '', empty = ''] = tag.exec(xml) ?? [];
    if (name === '') throw broken(`something else than a node is at character ${at}`);
    if (name === 'hierarchy') {
      state = nextState(state, { isClosing: closing !== '', isEmpty: empty !== '', isOpen: open.length > 0 });
    } else if (state !== 'in') {
      throw broken('a node is outside of the hierarchy');
    } else if (closing !== '') {
      if (open.pop() === undefined) throw broken('a node ends that did not begin');
    } else {
      if (++nodes > NODES_MAX) throw broken(`it has more than ${NODES_MAX} nodes`);
      const node = nodeOf(attributes);
      (open.at(-1)?.children ?? top).push(node);
      if (empty === '') open.push(node);
      if (open.length > DEPTH_MAX) throw broken(`it is deeper than ${DEPTH_MAX} nodes`);
    }
  }
  if (state !== 'after') throw broken('it is cut off');
  return top;
}

/** One tag with the blanks before it. Each part of it begins with a character of its own, so no text makes this slow. */
const TAG = /\s*<(\/?)(hierarchy|node)((?:\s+[A-Za-z][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/uy;
const ATTRIBUTE = /([A-Za-z][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/gu;

function isBlank(xml: string, from: number): boolean {
  const rest = /\S/gu;
  rest.lastIndex = from;
  return !rest.test(xml);
}

function nextState(
  state: 'before' | 'in' | 'after',
  { isClosing, isEmpty, isOpen }: { readonly isClosing: boolean; readonly isEmpty: boolean; readonly isOpen: boolean },
): 'in' | 'after' {
  if (!isClosing && state === 'before') return isEmpty ? 'after' : 'in';
  if (isClosing && state === 'in' && !isOpen) return 'after';
  throw broken('its hierarchy begins or ends in the wrong place');
}

function nodeOf(attributes: string): Growing {
  const values = new Map<string, string>();
  for (const [, name = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    if (values.has(name)) throw broken(`a node says ${name} twice`);
    values.set(name, textIn(double ?? single ?? ''));
  }
  const text = (name: string): string => values.get(name) ?? '';
  const flags = [...values].flatMap(([name, value]) => (value === 'true' ? [name] : []));
  const className = text('class');
  return {
    type: className.slice(className.lastIndexOf('.') + 1).slice(0, TYPE_CHARS_MAX),
    application: text('package'),
    resource: text('resource-id'),
    text: text('text'),
    description: text('content-desc'),
    flags: new Set(flags),
    rect: rectIn(text('bounds')),
    children: [],
  };
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Android writes a character beyond the first 65,536 as its two halves, each a number. */
function textIn(raw: string): string {
  const text = raw.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,8}));|&/gu,
    (_, decimal: string | undefined, hex: string | undefined, name: string | undefined) => {
      const named = NAMED.get(name ?? '');
      if (named !== undefined) return named;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      if (Number.isNaN(code) || code > 0x10_ff_ff) throw broken('it has an entity that nobody knows');
      return code <= 0xff_ff ? String.fromCharCode(code) : String.fromCodePoint(code);
    },
  );
  return text.slice(0, TEXT_CHARS_MAX).toWellFormed();
}

function rectIn(bounds: string): ScreenRect {
  const [, ...sides] = /^\[(-?\d{1,7}),(-?\d{1,7})\]\[(-?\d{1,7}),(-?\d{1,7})\]$/u.exec(bounds) ?? [];
  const [left = 0, top = 0, right = 0, bottom = 0] = sides.map((side) =>
    Math.max(-NUMBER_MAX, Math.min(NUMBER_MAX, Number(side))),
  );
  return [left, top, right, bottom];
}

const broken = (why: string): PhoneFault =>
  new PhoneFault('NOT_RESPONDING', `what the device says of its screen cannot be read: ${why}`);
