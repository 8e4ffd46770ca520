import { realpath } from 'node:fs/promises';

/**
 * Of the places that an approval opens those that are there and lie where they are said to: a link that leads out of all of them opens
 * nothing. Looked at before the command runs and not while it does.
 */
export async function grantedPlaces(places: readonly string[]): Promise<string[]> {
  const real = await Promise.all(places.map((place) => realpath(place).catch(() => undefined)));
  const isOpened = (path: string): boolean =>
    places.some((place) => `${path}/`.startsWith(`${place.replace(/\/$/u, '')}/`));
  return [...new Set(real.filter((path) => path !== undefined))].filter(isOpened);
}
