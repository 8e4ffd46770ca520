const SINGLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

const ESCAPE = /\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))/gsu;

/** What stands between `$'` and `'`. */
export function ansiText(text: string): string {
  return text.replace(
    ESCAPE,
    (all, hex?: string, octal?: string, u?: string, U?: string, control?: string, char = '') => {
      const code = hex ?? u ?? U;
      if (code !== undefined) return character(parseInt(code, 16));
      if (octal !== undefined) return character(parseInt(octal, 8) & 255);
      if (control !== undefined) return character(control.charCodeAt(0) & 31);
      return SINGLE[char] ?? all;
    },
  );
}

const character = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\ufffd');
