import { ROLES } from '#libs/screen';
import { DesktopFault } from '../faults/index.js';
import type { Accessible, AccessibleFacts, AccessibleNode } from './accessible.js';
import type { AccessBus } from './bus.client.js';

const LABELLED_BY = 2;

/** Reads and sets texts of controls. Of a password field nothing is ever read. */
export class AccessTexts {
  readonly #bus: AccessBus;

  constructor(bus: AccessBus) {
    this.#bus = bus;
  }

  /** The text in a control, so many signs of it; undefined when it has none. */
  async read({ at, role }: AccessibleFacts, charsMax: number): Promise<string | undefined> {
    if (role === ROLES.password) throw new DesktopFault('PASSWORD', 'what is in a password field is not told');
    if (!(await this.#has(at, 'Text'))) return undefined;
    const text = await this.#bus.call({
      at,
      interface: 'Text',
      member: 'GetText',
      signature: 'ii',
      body: [0, charsMax],
    });
    return typeof text === 'string' ? text : undefined;
  }

  /** The number of a slider, a scroll bar or the like. */
  async valueOf({ at }: AccessibleFacts): Promise<number | undefined> {
    const value = await this.#bus.property(at, 'Value', 'CurrentValue').catch(unlessSilentProgram);
    return typeof value === 'number' ? value : undefined;
  }

  /**
   * Puts a text into a control at once, in the place of what was in it or behind it; false when it does not take any, or
   * says that it has taken it and has not.
   */
  async write({ at, role }: AccessibleFacts, text: string, instead: boolean): Promise<boolean> {
    if (role === ROLES.password || !(await this.#has(at, 'EditableText', 'Text'))) return false;
    const before = instead ? '' : await this.#all(at);
    if (before === undefined) return false;
    const count = Array.from(before).length;
    await (
      instead
        ? this.#bus.call({ at, interface: 'EditableText', member: 'SetTextContents', signature: 's', body: [text] })
        : this.#bus.call({
            at,
            interface: 'EditableText',
            member: 'InsertText',
            signature: 'isi',
            body: [count, text, Buffer.byteLength(text)],
          })
    ).catch(unlessSilentProgram);
    return (await this.#all(at)) === before + text;
  }

  /** The name of a field by its label. */
  async labelOf(at: Accessible): Promise<string | undefined> {
    const relations = await this.#bus
      .call({ at, interface: 'Accessible', member: 'GetRelationSet' })
      .catch(unlessSilentProgram);
    const [, targets] = pairsIn(relations).find(([kind]) => kind === LABELLED_BY) ?? [];
    const [target] = pairsIn(targets);
    if (typeof target?.[0] !== 'string' || typeof target[1] !== 'string') return undefined;
    const name = await this.#bus
      .property({ bus: target[0], path: target[1] }, 'Accessible', 'Name')
      .catch(unlessSilentProgram);
    return typeof name === 'string' && name !== '' ? name : undefined;
  }

  /** Asked only of what is read or written: for everything in a window it would be a fifth of all calls. */
  async #has(at: Accessible, ...names: readonly string[]): Promise<boolean> {
    const told = await this.#bus.call({ at, interface: 'Accessible', member: 'GetInterfaces' });
    const interfaces = Array.isArray(told) ? (told as unknown[]) : [];
    return names.every((name) => interfaces.includes(`org.a11y.atspi.${name}`));
  }

  async #all(at: Accessible): Promise<string | undefined> {
    const text = await this.#bus
      .call({ at, interface: 'Text', member: 'GetText', signature: 'ii', body: [0, -1] })
      .catch(unlessSilentProgram);
    return typeof text === 'string' ? text : undefined;
  }
}

/** The first text in what a list item holds: many have no name of their own. */
export function nameWithin({ name, children }: AccessibleNode): string {
  if (name.trim() !== '') return name;
  return children.map(nameWithin).find((inner) => inner !== '') ?? '';
}

function pairsIn(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).flatMap((pair) => (Array.isArray(pair) ? [[pair[0], pair[1]] as const] : []));
}

function unlessSilentProgram(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}
