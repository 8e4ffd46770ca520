import { CommandClass, type PolicyDecision } from '#proto';
import { type View, VIEWS } from '../words/index.js';

export interface HarmfulLine {
  readonly category: string;
  readonly atLeast: 'approve' | 'deny';
  readonly command: string;
}

export interface OrdinaryLine {
  readonly class: CommandClass;
  /** Its class would let it through, but it is asked about: it is not plain, or runs what a file names. */
  readonly asked: boolean;
  readonly command: string;
}

export interface EverydayLine extends OrdinaryLine {
  readonly views: readonly View[];
}

/** `class<TAB>views<TAB>command line`. @throws Error with the number of a line that is not one. */
export function parseEveryday(text: string): EverydayLine[] {
  return rows(text).map(({ number, cells: [first = '', views = '', ...rest] }) => {
    const [line] = parseOrdinary([first, ...rest].join('\t'));
    const seen = views === '-' ? [] : views.split(',').flatMap((one) => VIEWS.filter((view) => view === one));
    if (line === undefined || seen.join() !== (views === '-' ? '' : views))
      throw new Error(
        `line ${number} must be a class, views (${VIEWS.join(', ')}), and a command line, separated by tabs`,
      );
    return { ...line, views: seen };
  });
}

/** What a line demands, no more and no less. */
export const demandOf = ({ class: of, asked }: OrdinaryLine): PolicyDecision => (asked ? 'approve' : DEMANDED[of]);

const DEMANDED: Readonly<Record<CommandClass, PolicyDecision>> = {
  read: 'allow',
  write: 'log',
  network: 'approve',
  destructive: 'approve',
  privileged: 'approve',
};

/** `category<TAB>approve|deny<TAB>command line`. @throws Error with the number of a line that is not one. */
export function parseHarmful(text: string): HarmfulLine[] {
  return rows(text).map(({ number, cells }) => {
    const [category, atLeast, command] = cells;
    if (category === undefined || command === undefined || (atLeast !== 'approve' && atLeast !== 'deny')) {
      throw new Error(`line ${number} must be a category, "approve" or "deny", and a command line, separated by tabs`);
    }
    return { category, atLeast, command: written(command) };
  });
}

/** `class<TAB>command line`, `class?` for what is asked about all the same. @throws Error with the number of a line that is not one. */
export function parseOrdinary(text: string): OrdinaryLine[] {
  return rows(text).map(({ number, cells: [first, ...rest] }) => {
    const asked = first?.endsWith('?') === true;
    const parsed = CommandClass.safeParse(asked ? first.slice(0, -1) : first);
    if (!parsed.success || rest.length !== 1)
      throw new Error(`line ${number} must be a class and a command line, separated by a tab`);
    return { class: parsed.data, asked, command: written(rest[0] ?? '') };
  });
}

function rows(text: string): { number: number; cells: string[] }[] {
  return text
    .split('\n')
    .map((line, index) => ({ number: index + 1, line }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ number, line }) => ({ number, cells: line.split('\t') }));
}

const JSON_MARK = 'json:';

function written(cell: string): string {
  return cell.startsWith(JSON_MARK) ? String(JSON.parse(cell.slice(JSON_MARK.length))) : cell;
}
