/** Kinds of controls as UI Automation names them: what agents of UFO know, whatever system the screen belongs to. */

/** Roles of AT-SPI, by number, that are something to see or to use. What is not here only holds others together. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [7, 'CheckBox'],
  [8, 'MenuItem'],
  [10, 'HeaderItem'],
  [11, 'ComboBox'],
  [12, 'Edit'],
  [15, 'Slider'],
  [26, 'Image'],
  [27, 'Image'],
  [29, 'Text'],
  [32, 'ListItem'],
  [33, 'MenuItem'],
  [35, 'MenuItem'],
  [37, 'TabItem'],
  [40, 'Edit'],
  [43, 'Button'],
  [44, 'RadioButton'],
  [45, 'MenuItem'],
  [47, 'HeaderItem'],
  [48, 'ScrollBar'],
  [51, 'Slider'],
  [52, 'Spinner'],
  [56, 'DataItem'],
  [57, 'HeaderItem'],
  [58, 'HeaderItem'],
  [59, 'MenuItem'],
  [60, 'Document'],
  [61, 'Edit'],
  [62, 'Button'],
  [76, 'Edit'],
  [77, 'Edit'],
  [79, 'Edit'],
  [82, 'Document'],
  [83, 'Text'],
  [88, 'Hyperlink'],
  [91, 'TreeItem'],
  [92, 'Document'],
  [93, 'Document'],
  [94, 'Document'],
  [95, 'Document'],
  [96, 'Document'],
  [116, 'Text'],
  [129, 'Button'],
]);

export const ROLES = {
  fileChooser: 19,
  password: 40,
  rootPane: 46,
  label: 29,
  listItem: 32,
  menu: 33,
  terminal: 60,
  table: 55,
  webDocument: 95,
} as const;

/** Undefined: nothing that anybody clicks or reads. */
export const controlTypeOf = (role: number): string | undefined => TYPES.get(role);

/** For a node of a tree, which shows what holds others together, too. */
export const nodeTypeOf = (role: number): string => controlTypeOf(role) ?? (role === ROLES.table ? 'Table' : 'Pane');

/** States of AT-SPI, by the number of their bit. */
const STATE = {
  checked: 4,
  collapsed: 5,
  editable: 7,
  enabled: 8,
  expanded: 10,
  focused: 12,
  pressed: 20,
  selected: 23,
  sensitive: 24,
  showing: 25,
  visible: 30,
  default: 39,
} as const;
type StateName = keyof typeof STATE;

/** The states of something, as two numbers of 32 bits each. */
export type StateBits = readonly number[];

export const hasState = (bits: StateBits, name: StateName): boolean => {
  const number = STATE[name];
  return (((bits[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1;
};

/** Something that is in these states, and in no others. */
export const bitsOf = (...names: readonly StateName[]): StateBits =>
  [0, 1].map((index) =>
    names.filter((name) => STATE[name] >>> 5 === index).reduce((bits, name) => bits | (1 << (STATE[name] & 31)), 0),
  );

/** What a control says of itself that somebody has to know who wants to use it. */
const TOLD: readonly StateName[] = [
  'focused',
  'checked',
  'pressed',
  'selected',
  'expanded',
  'collapsed',
  'editable',
  'default',
];

/** The states of a control in words; `password` and `disabled` are told like one. */
export const stateWords = (role: number, bits: StateBits): string[] => [
  ...TOLD.filter((name) => hasState(bits, name)),
  ...(role === ROLES.password ? ['password'] : []),
  ...(hasState(bits, 'sensitive') || hasState(bits, 'enabled') ? [] : ['disabled']),
];

/** Colours of marks as agents of UFO know them, by type of control. */
const COLOURS: Readonly<Record<string, readonly [number, number, number]>> = {
  Button: [255, 246, 143],
  Edit: [165, 240, 181],
  TabItem: [165, 231, 240],
  Document: [255, 209, 138],
  ListItem: [217, 195, 254],
  MenuItem: [231, 254, 195],
  ScrollBar: [254, 195, 248],
  TreeItem: [214, 214, 214],
  Hyperlink: [145, 255, 235],
  ComboBox: [216, 182, 212],
};
const OTHER = [255, 255, 255] as const;

export const markColourOf = (type: string): readonly [number, number, number] => COLOURS[type] ?? OTHER;
