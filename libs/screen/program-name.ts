/** A program as lists name it: without its directory, and whether it is written `.exe`. */
export const programName = (application: string): string =>
  (application.split(/[/\\]/u).at(-1) ?? '').toLowerCase().replace(/\.exe$/u, '');
