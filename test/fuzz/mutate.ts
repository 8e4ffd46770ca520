import type { Json } from '#proto';
import type { Dice } from '../simulation/random.js';
import { isTree, type Tree } from './corpus.js';

/** Values that have broken somebody's parser. */
const INTERESTING: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.5,
  -0,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e308,
  5e-324,
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  'constructor',
  'a\u0000b',
  '\ud800',
  'x\udfff\ud800y',
  '\u202e\u2028\ufeff',
  '\u{1f469}\u200d\u{1f680}',
  '../../etc/passwd',
  '%s%n${x}',
  'orrery.run.>',
  '2026-13-45T99:99:99Z',
  [],
  [[]],
  {},
  [null],
  { '': '' },
];

/** Names and numbers that mean something to a session: mixed up, they reach what random text never would. */
const REFERENCES: readonly string[] = [
  'list_tools',
  'run-1.task-1.1.0.0',
  'run-1.task-1.2.0.0',
  'run-2.task-9.1.0.0',
  'answer-1',
  's-1',
  's-2',
  's-3',
  't-1',
  't-2',
  'dev-1',
  'dev-2',
  'galaxy-1',
  '0'.repeat(64),
];
const REFERENCE_KEYS =
  /^(?:session_id|prev_response_id|response_id|request_id|client_id|target_id|command_id|transfer_id|call_id|sha256|task_name)$/u;

const ENUMS: Readonly<Record<string, readonly string[]>> = {
  type: [
    'register',
    'heartbeat',
    'task',
    'command',
    'command_results',
    'task_end',
    'device_info_request',
    'device_info_response',
    'error',
    'command_progress',
    'command_output',
    'resume',
    'resumed',
    'ack',
    'credential',
    'stop_attempt',
    'result_stored',
    'file_begin',
    'file_ready',
    'file_chunk',
    'file_end',
    'file_stored',
    'file_request',
    'file_ack',
    'file_abort',
    'forget_run',
    'run_forgotten',
    'workspaces_request',
    'workspaces',
  ],
  status: ['continue', 'completed', 'failed', 'ok', 'error', 'success', 'failure', 'skipped', 'none'],
  client_type: ['device', 'constellation'],
  stream: ['stdout', 'stderr'],
  state: ['queued', 'running', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'OUTCOME_UNKNOWN'],
  tool_type: ['action', 'data_collection'],
};

/** Unknown fields are named in errors where they are not dropped. */
const UNKNOWN_KEYS = [
  'future',
  'x',
  '',
  'toString',
  'foo_bar',
  '\u043a\u043b\u044e\u0447'.repeat(40),
  '\u{1f4a9}'.repeat(60),
  '\ud800',
  '\u0000',
];

const HUGE_CHARS = [200, 5_000, 70_000, 300_000];
const DEPTHS = [3, 40, 61, 70, 900];
const COPIES_MAX = 80;
/** A tree grows no larger than this by mutation. */
const NODES_MAX = 4_000;

interface Place {
  readonly parent: Tree | Json[];
  readonly key: string | number;
}

type Mutator = (tree: Tree, dice: Dice, donor: Tree) => void;

/** Changes the tree in place, a few times; `donor` is another good frame to take parts from. */
export function mutate(tree: Tree, dice: Dice, donor: Tree): void {
  const times = dice.chance(0.6) ? 1 : dice.int(1, 5);
  for (let count = 0; count < times; count++) dice.pick(dice.chance(0.75) ? SOFT : HARD)(tree, dice, donor);
}

/** A frame that was right may be right still. */
const SOFT: readonly Mutator[] = [
  (tree, dice) => {
    const [key, values] = dice.pick(Object.entries(ENUMS));
    const places = placesIn(tree).filter((place) => place.key === key);
    if (places.length > 0) put(dice.pick(places), dice.pick(values));
  },
  (tree, dice) => {
    const places = placesIn(tree).filter(({ key }) => REFERENCE_KEYS.test(String(key)));
    if (places.length > 0) put(dice.pick(places), dice.pick(REFERENCES));
  },
  (tree, dice) => {
    const places = leaves(tree, 'string').filter(({ key }) => !(key in ENUMS));
    if (places.length > 0) put(dice.pick(places), wordsOf(dice));
  },
  (tree, dice) => {
    const places = leaves(tree, 'number');
    if (places.length > 0) put(dice.pick(places), dice.chance(0.5) ? dice.int(0, 40) : dice.int(0, 10_000_000));
  },
  (tree, dice) => {
    const optional = Object.keys(tree).filter((key) => key !== 'type' && key !== 'status');
    if (optional.length > 0) tree[dice.pick(optional)] = null;
  },
  (tree, dice) => {
    const optional = Object.keys(tree).filter((key) => key !== 'type' && key !== 'status');
    if (optional.length > 0) Reflect.deleteProperty(tree, dice.pick(optional));
  },
  (tree, dice) => {
    const places = placesIn(tree).filter((place) => isTree(at(place)));
    const object = dice.chance(0.5) || places.length === 0 ? tree : (at(dice.pick(places)) as Tree);
    own(object, dice.pick(UNKNOWN_KEYS), structuredClone(dice.pick(INTERESTING)));
  },
  (tree, dice) => {
    const lists = placesIn(tree).filter((place) => Array.isArray(at(place)) && (at(place) as Json[]).length > 0);
    if (lists.length === 0) return;
    const place = dice.pick(lists);
    const list = at(place) as Json[];
    put(
      place,
      Array.from({ length: dice.int(0, dice.chance(0.1) ? COPIES_MAX : 4) }, () => structuredClone(dice.pick(list))),
    );
  },
  (tree, dice, donor) => {
    const keys = Object.keys(donor).filter((key) => key !== 'type');
    if (keys.length === 0) return;
    const key = dice.pick(keys);
    own(tree, key, structuredClone(donor[key] ?? null));
  },
];

/** Hardly any schema lets these through. */
const HARD: readonly Mutator[] = [
  (tree, dice) => put(dice.pick(placesIn(tree)), structuredClone(dice.pick(INTERESTING))),
  (tree, dice) => {
    const { parent, key } = dice.pick(placesIn(tree));
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else Reflect.deleteProperty(parent, String(key));
  },
  (tree, dice) => {
    const place = dice.pick(placesIn(tree));
    put(place, dice.chance(0.5) ? [at(place)] : { value: at(place) });
  },
  (tree, dice) => {
    let deep: Json = dice.pick(INTERESTING);
    const depth = dice.pick(DEPTHS);
    const list = dice.chance(0.5);
    for (let level = 0; level < depth; level++) deep = list ? [deep] : { a: deep };
    own(tree, dice.pick(['padding', 'result', 'metadata', 'orrery']), deep);
  },
  (tree, dice) => {
    const { parent } = dice.pick(placesIn(tree));
    if (Array.isArray(parent)) return;
    own(parent, dice.pick(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON']), {
      type: 'register',
      polluted: true,
    });
  },
  (tree, dice) => {
    const filler = dice.pick(['x', 'ä', '\u{1f4a9}', '\u0000', '"', '\\']);
    put(dice.pick(placesIn(tree)), filler.repeat(dice.pick(HUGE_CHARS)));
  },
  (tree, dice, donor) => put(dice.pick(placesIn(tree)), structuredClone(donor)),
];

/** Every place of the tree, itself excepted; at least one for a frame, which has a type. */
function placesIn(tree: Tree): Place[] {
  const places: Place[] = [];
  const waiting: (Tree | Json[])[] = [tree];
  for (let parent = waiting.pop(); parent !== undefined && places.length < NODES_MAX; parent = waiting.pop()) {
    for (const key of Object.keys(parent)) {
      const place = Array.isArray(parent) ? { parent, key: Number(key) } : { parent, key };
      places.push(place);
      const value = at(place);
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
  if (places.length > 0) return places;
  own(tree, 'type', 'heartbeat');
  return [{ parent: tree, key: 'type' }];
}

const leaves = (tree: Tree, kind: 'string' | 'number'): Place[] =>
  placesIn(tree).filter((place) => typeof at(place) === kind);

const at = ({ parent, key }: Place): Json =>
  (Array.isArray(parent) ? parent[Number(key)] : Object.getOwnPropertyDescriptor(parent, key)?.value) ?? null;

function put({ parent, key }: Place, value: Json): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else own(parent, String(key), value);
}

/** Also for names that would set a prototype. */
function own(tree: Tree, key: string, value: Json): void {
  Object.defineProperty(tree, key, { value, writable: true, enumerable: true, configurable: true });
}

const ALPHABET = Array.from('abcXYZ019 _-.:/\\"\'<>{}[]\u00e4\u4e2d\u{1f600}\u0007\n');

function wordsOf(dice: Dice): string {
  return Array.from({ length: dice.int(0, 20) }, () => dice.pick(ALPHABET)).join('');
}

/** Whether two trees say the same, for tests of the mutators. */
export const isSame = (one: Tree, other: Tree): boolean => isTree(one) && JSON.stringify(one) === JSON.stringify(other);
