import { nodesOf, type ScreenRect, type UiNode } from './ui-node.js';

/** Something on the screen that can be used or read, as agents are told of it. */
export interface PhoneControl {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly rect: ScreenRect;
  readonly state: readonly string[];
  /** What is in a field; never of one for passwords. */
  readonly value?: string;
  /** By what it is found again. */
  readonly resource: string;
}

/** What the device showed at one time. */
export interface PhoneScreen {
  /** The package in front; empty when nothing is shown. */
  readonly application: string;
  readonly rect: ScreenRect;
  readonly controls: readonly PhoneControl[];
  /** Controls beyond those. */
  readonly more: number;
}

const CONTROLS_MAX = 500;
const NAME_CHARS_MAX = 300;
const USABLE = ['clickable', 'long-clickable', 'checkable', 'scrollable'];
/** Of what a node says of itself, what an agent has to know. */
const STATES = ['checked', 'selected', 'focused', 'password', 'scrollable'];

export function screenOf(roots: readonly UiNode[]): PhoneScreen {
  const nodes = roots.flatMap((root) => [...nodesOf(root)]);
  const shown = nodes.filter((node) => hasPlace(node) && isControl(node));
  // A bar of the system may be listed beside the application; what fills the screen is in front.
  const front = roots.toSorted((one, other) => areaOf(other) - areaOf(one)).at(0);
  return {
    application: front?.application ?? '',
    rect: front?.rect ?? [0, 0, 0, 0],
    controls: shown.slice(0, CONTROLS_MAX).map((node, index) => controlOf(node, `${index + 1}`)),
    more: Math.max(0, shown.length - CONTROLS_MAX),
  };
}

export const isEditable = ({ type }: Pick<PhoneControl, 'type'>): boolean => /Edit|AutoComplete/u.test(type);

export const centreOf = ([left, top, right, bottom]: ScreenRect): readonly [x: number, y: number] => [
  Math.floor((left + right) / 2),
  Math.floor((top + bottom) / 2),
];

/** The same thing in the same place, whatever its number is by now. */
export const isSameControl = (one: PhoneControl, other: PhoneControl): boolean =>
  one.name === other.name &&
  one.type === other.type &&
  one.resource === other.resource &&
  one.rect.every((side, index) => side === other.rect[index]);

/** The same words on the same things. Digits are not compared: clocks and counters go on by themselves. */
export function isSameScreen(one: PhoneScreen, other: PhoneScreen): boolean {
  const wordsOf = ({ controls }: PhoneScreen): string[] =>
    controls.map(({ type, resource, name }) => JSON.stringify([type, resource, name.replaceAll(/\d+/gu, '0')]));
  const [listed, now] = [wordsOf(one), wordsOf(other)];
  return listed.length === now.length && listed.every((words, index) => words === now[index]);
}

const hasPlace = ({ rect: [left, top, right, bottom] }: UiNode): boolean =>
  right > left && bottom > top && right > 0 && bottom > 0;

const areaOf = ({ rect: [left, top, right, bottom] }: UiNode): number => (right - left) * (bottom - top);

const isControl = ({ flags, text, description, type }: UiNode): boolean =>
  USABLE.some((flag) => flags.has(flag)) || text !== '' || description !== '' || /Edit|Button/u.test(type);

function controlOf(node: UiNode, id: string): PhoneControl {
  const { flags, type, rect, resource, text, description } = node;
  const isSecret = flags.has('password');
  const isField = isEditable(node);
  // A field is called what it is for, if it says so: what is in it changes.
  const name = isField || isSecret ? description || lastPart(resource) || type : text || description || type;
  const value = isField && !isSecret && text !== '' ? { value: text } : {};
  const state = [...STATES.filter((flag) => flags.has(flag)), ...(flags.has('enabled') ? [] : ['disabled'])];
  return { id, name: name.slice(0, NAME_CHARS_MAX).toWellFormed(), type, rect, state, resource, ...value };
}

/** `com.example:id/name` -> `name`. */
const lastPart = (resource: string): string => resource.slice(resource.lastIndexOf('/') + 1);
