const N = 1;
const E = 2;
const S = 4;
const W = 8;
/** Index: the directions a cell is open to. */
const BOXES = [' ', '│', '─', '└', '│', '│', '┌', '├', '─', '┘', '─', '┴', '┐', '┤', '┬', '┼'];

interface Cell {
  open: number;
  /** Something ends or turns here: what meets, is connected. */
  joined: boolean;
}

/** Lines and texts on a grid that grows as needed; what is drawn later never hides what was drawn before. */
export class Canvas {
  readonly #cells = new Map<number, Map<number, Cell>>();
  readonly #texts = new Map<number, Map<number, { length: number; painted: string }>>();

  text(x: number, y: number, text: string, painted: string): void {
    const row = this.#texts.get(y) ?? new Map<number, { length: number; painted: string }>();
    this.#texts.set(y, row.set(x, { length: text.length, painted }));
  }

  /** A line that ends in an arrow head right of `x`. */
  arrow(x: number, y: number): void {
    this.#open(x, y, E, true);
    this.text(x + 1, y, '▶', '▶');
  }

  horizontal(y: number, fromX: number, toX: number): void {
    for (let x = fromX; x <= toX; x++) {
      this.#open(x, y, (x > fromX ? W : 0) | (x < toX ? E : 0), x === fromX || x === toX);
    }
  }

  vertical(x: number, fromY: number, toY: number): void {
    const [top, bottom] = fromY < toY ? [fromY, toY] : [toY, fromY];
    for (let y = top; y <= bottom; y++) {
      this.#open(x, y, (y > top ? N : 0) | (y < bottom ? S : 0), y === top || y === bottom);
    }
  }

  /** Rows in which nothing is drawn, or only lines pass straight through, are left out. */
  toLines(): string[] {
    const rows = [...new Set([...this.#cells.keys(), ...this.#texts.keys()])].sort((a, b) => a - b);
    return rows.filter((y) => this.#says(y)).map((y) => this.#line(y).trimEnd());
  }

  #says(y: number): boolean {
    if (this.#texts.has(y)) return true;
    return [...(this.#cells.get(y)?.values() ?? [])].some(({ open }) => open !== (N | S));
  }

  #line(y: number): string {
    const cells = this.#cells.get(y) ?? new Map<number, Cell>();
    const texts = this.#texts.get(y) ?? new Map<number, { length: number; painted: string }>();
    const end = Math.max(-1, ...cells.keys(), ...texts.keys());
    let line = '';
    for (let x = 0; x <= end;) {
      const text = texts.get(x);
      line += text === undefined ? glyph(cells.get(x)) : text.painted;
      x += text?.length ?? 1;
    }
    return line;
  }

  #open(x: number, y: number, open: number, joined: boolean): void {
    const row = this.#cells.get(y) ?? new Map<number, Cell>();
    this.#cells.set(y, row);
    const cell = row.get(x) ?? { open: 0, joined: false };
    row.set(x, { open: cell.open | open, joined: cell.joined || joined });
  }
}

function glyph(cell: Cell | undefined): string {
  if (cell === undefined) return ' ';
  if (cell.open === (N | E | S | W) && !cell.joined) return '│';
  return BOXES[cell.open] ?? ' ';
}
