import { Observable } from '../model/index.js';

export type Theme = 'dark' | 'light';
const KEY = 'orrery.theme';

const chosen = localStorage.getItem(KEY);
const initial: Theme =
  chosen === 'light' || chosen === 'dark'
    ? chosen
    : matchMedia('(prefers-color-scheme: light)').matches
      ? 'light'
      : 'dark';

export const theme = new Observable<Theme>(initial);
document.documentElement.dataset['theme'] = initial;

export function switchTheme(): void {
  const next: Theme = theme.get() === 'dark' ? 'light' : 'dark';
  localStorage.setItem(KEY, next);
  document.documentElement.dataset['theme'] = next;
  theme.set(next);
}
