import { fileURLToPath } from 'node:url';

/** The root of this tree, from its sources and from what is compiled of them. */
export const ROOT = rootOf(fileURLToPath(import.meta.url));

function rootOf(file: string): string {
  return file.slice(0, file.search(/\/(?:dist\/)?test\/fuzz\//u));
}
