/** Digits of five by seven points, a row in each number, the leftmost point in its highest of five bits. */
const ROWS: Readonly<Record<string, readonly number[]>> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
};
/** For what is no digit. */
const UNKNOWN = [31, 17, 17, 17, 17, 17, 31];

const GLYPH = { width: 5, height: 7, gap: 1 } as const;
/** What a digit is drawn with for one of its points: read well at the size to which models shrink a screen. */
const SCALE = 2;
const PADDING = 2;

/** How large the box of a label is. */
export const labelSize = (label: string): readonly [width: number, height: number] => [
  label.length * (GLYPH.width + GLYPH.gap) * SCALE + 2 * PADDING,
  GLYPH.height * SCALE + 2 * PADDING,
];

/** The points of a label that are drawn, from the top left corner of its box. */
export function labelPoints(label: string): readonly (readonly [x: number, y: number])[] {
  return Array.from(label).flatMap((sign, index) =>
    (ROWS[sign] ?? UNKNOWN).flatMap((bits, row) =>
      Array.from({ length: GLYPH.width }, (_, column) => column)
        .filter((column) => (bits & (16 >> column)) !== 0)
        .flatMap((column) => square(index * (GLYPH.width + GLYPH.gap) + column, row)),
    ),
  );
}

const square = (column: number, row: number): readonly (readonly [number, number])[] =>
  Array.from({ length: SCALE * SCALE }, (_, n) => [
    PADDING + column * SCALE + (n % SCALE),
    PADDING + row * SCALE + Math.floor(n / SCALE),
  ]);
