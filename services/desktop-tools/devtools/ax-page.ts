import { z } from 'zod';
import { screenName } from '#libs/screen';

/** Accessibility of a page as its browser computes it, which no script of the page can fake differently for us than for a person who hears it. */
const Value = z.object({ value: z.unknown().optional() });
export const AxNode = z.object({
  nodeId: z.string(),
  ignored: z.boolean(),
  role: Value.optional(),
  name: Value.optional(),
  properties: z.array(z.object({ name: z.string(), value: Value })).optional(),
  childIds: z.array(z.string()).optional(),
  backendDOMNodeId: z.int().optional(),
});
export type AxNode = z.infer<typeof AxNode>;

/** Something on a page that can be clicked on. */
export interface PageControl {
  /** By this the browser finds it again. */
  readonly node: number;
  readonly role: string;
  readonly type: string;
  readonly name: string;
  /** Where a link leads, as it is written in the page. */
  readonly url: string | undefined;
  readonly state: readonly string[];
}

export interface AxPage {
  readonly controls: readonly PageControl[];
  /** What stands there to be read, without what is in fields. */
  readonly text: string;
  readonly isCut: boolean;
}

export const PAGE_LIMITS = { controlsMax: 300, textCharsMax: 20_000, urlCharsMax: 400 } as const;

const TYPES: Readonly<Record<string, string>> = {
  button: 'Button',
  checkbox: 'CheckBox',
  combobox: 'ComboBox',
  disclosuretriangle: 'Button',
  link: 'Hyperlink',
  menuitem: 'MenuItem',
  menuitemcheckbox: 'MenuItem',
  menuitemradio: 'MenuItem',
  option: 'ListItem',
  radio: 'RadioButton',
  searchbox: 'Edit',
  slider: 'Slider',
  spinbutton: 'Spinner',
  switch: 'CheckBox',
  tab: 'TabItem',
  textbox: 'Edit',
  treeitem: 'TreeItem',
};
/** What is in them is a person's, or a secret: it is told by the tools that know which. */
const FIELDS: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'spinbutton', 'combobox', 'slider']);
/** They do not begin a line. */
const INLINE: ReadonlySet<string> = new Set(
  'statictext inlinetextbox link strong emphasis code mark superscript subscript labeltext time abbr button'.split(' '),
);
const TOLD_STATES = ['checked', 'pressed', 'selected', 'expanded', 'disabled'] as const;

/** What a page shows: its controls in their order, and its text. */
export function axPageOf(nodes: readonly AxNode[]): AxPage {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const controls: PageControl[] = [];
  const text = new PageText();
  // A stack, and not calls: a page may be as deep as it likes.
  const stack: ({ readonly node: AxNode } | { readonly lineEnd: true })[] = nodes[0] ? [{ node: nodes[0] }] : [];
  const seen = new Set<string>();
  let isCut = false;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ('lineEnd' in next) {
      text.line();
      continue;
    }
    const { node } = next;
    // What is said to be in itself would never end.
    if (seen.has(node.nodeId)) continue;
    seen.add(node.nodeId);
    const role = roleOf(node);
    const control = controlOf(node);
    if (control !== undefined) {
      if (controls.length < PAGE_LIMITS.controlsMax) controls.push(control);
      else isCut = true;
    }
    // Links beside each other are words of their own.
    if (role === 'link' || role === 'button') text.add(' ');
    if (role === 'statictext' && !node.ignored) text.add(textIn(node.name));
    if (role === 'statictext' || FIELDS.has(role)) continue;
    if (!INLINE.has(role) && !node.ignored) {
      text.line();
      stack.push({ lineEnd: true });
    }
    const children = (node.childIds ?? []).flatMap((id) => byId.get(id) ?? []);
    for (const child of children.toReversed()) stack.push({ node: child });
  }
  return { controls, text: text.whole, isCut: isCut || text.isCut };
}

/** The same thing as it was, wherever it is now. */
export const isSamePageControl = (before: PageControl, now: PageControl | undefined): boolean =>
  now !== undefined && now.role === before.role && now.name === before.name && now.url === before.url;

/** Undefined: nothing that is clicked on, or that cannot be found again. */
export function controlOf(node: AxNode): PageControl | undefined {
  const role = roleOf(node);
  const type = Object.hasOwn(TYPES, role) ? TYPES[role] : undefined;
  if (node.ignored || type === undefined || node.backendDOMNodeId === undefined) return undefined;
  const url = propertyOf(node, 'url');
  return {
    node: node.backendDOMNodeId,
    role,
    type,
    name: screenName(textIn(node.name)),
    url: typeof url === 'string' ? screenName(url, PAGE_LIMITS.urlCharsMax) : undefined,
    state: TOLD_STATES.filter((state) => [true, 'true', 'mixed'].includes(propertyOf(node, state) as string)),
  };
}

/** Whether a link leads to a page or file of a server; what has no address at all is a button. */
export const leadsToServer = ({ url }: Pick<PageControl, 'url'>): boolean =>
  url === undefined || /^https?:\/\//iu.test(url);

const roleOf = ({ role }: AxNode): string => textIn(role).toLowerCase();

const textIn = (given: AxNode['name']): string => (typeof given?.value === 'string' ? given.value : '');

const propertyOf = ({ properties = [] }: AxNode, name: string): unknown =>
  properties.find((property) => property.name === name)?.value.value;

/** Lines of text, as many as are told. */
class PageText {
  readonly #lines: string[] = [];
  #line = '';
  #chars = 0;
  isCut = false;

  add(piece: string): void {
    const left = PAGE_LIMITS.textCharsMax - this.#chars;
    if (piece.length > left) this.isCut = true;
    const taken = piece.slice(0, left);
    this.#chars += taken.length;
    this.#line += taken;
  }

  line(): void {
    const line = screenName(this.#line, PAGE_LIMITS.textCharsMax);
    if (line !== '') this.#lines.push(line);
    this.#line = '';
  }

  get whole(): string {
    this.line();
    return this.#lines.join('\n');
  }
}
