import { describe, expect, it } from '@jest/globals';
import { DESKTOP_PLACES, desktopPlan, type DesktopMachine } from './desktop-plan.js';

/** A machine with everything, and with changes. */
function machine({ without = [], ...more }: Partial<DesktopMachine> & { without?: readonly string[] } = {}) {
  const there = new Set(DESKTOP_PLACES.filter((place) => !without.includes(place)));
  const all = { platform: 'linux', isRoot: true, hasUser: true, hasNamespaces: true, closed: undefined } as const;
  return { ...all, there, ...more };
}
const VNC = ['Xtigervnc', 'Xvnc'];
const PROGRAMS = ['/usr/bin/mousepad', '/usr/bin/localc', '/usr/bin/chromium'];

describe('a desktop of `up`', () => {
  it('takes what is installed, and shows its screen', () => {
    const plan = desktopPlan(machine());
    expect(plan).toMatchObject({ server: 'Xtigervnc', isShown: true, notes: [] });
    expect(Object.keys(plan.applications)).toEqual(['mousepad', 'soffice.bin', 'chromium']);
    const small = desktopPlan(machine({ without: ['/usr/bin/localc', '/usr/bin/chromium'] }));
    expect(Object.keys(small.applications)).toEqual(['mousepad']);
  });

  it('can be looked at through another program, where the display does not show itself', () =>
    expect(desktopPlan(machine({ without: VNC }))).toMatchObject({ server: 'Xvfb', isShown: true, notes: [] }));

  it('is there without a screen to look at, and says what it wants', () =>
    expect(desktopPlan(machine({ without: [...VNC, 'x11vnc'] }))).toMatchObject({
      server: 'Xvfb',
      isShown: false,
      notes: [
        'nobody can look at its screen, for want of a server of VNC: apt-get install -y --no-install-recommends tigervnc-standalone-server',
      ],
    }));

  it('leaves a browser out that could have no wall around its pages', () => {
    const { applications, notes } = desktopPlan(machine({ hasNamespaces: false }));
    expect(Object.keys(applications)).toEqual(['mousepad', 'soffice.bin']);
    expect(notes).toEqual([expect.stringContaining('chromium is left out')]);
  });

  it.each<[string, Parameters<typeof machine>[0], string]>([
    [
      'packages',
      { without: [...VNC, 'Xvfb', 'openbox', ...PROGRAMS] },
      '--desktop needs the packages tigervnc-standalone-server, openbox, mousepad, not on this machine yet; as root: ' +
        'apt-get install -y --no-install-recommends tigervnc-standalone-server openbox mousepad',
    ],
    [
      'a user',
      { hasUser: false },
      '--desktop needs the user orrery-desk, not on this machine yet; as root: ' +
        'useradd --system --user-group --shell /usr/sbin/nologin orrery-desk',
    ],
    [
      'both',
      { hasUser: false, without: ['/usr/libexec/at-spi-bus-launcher'] },
      '--desktop needs the packages at-spi2-core and the user orrery-desk, not on this machine yet; as root: ' +
        'apt-get install -y --no-install-recommends at-spi2-core && useradd --system --user-group --shell /usr/sbin/nologin orrery-desk',
    ],
    ['Linux', { platform: 'darwin' }, '--desktop needs a machine with Linux and X11, and this is darwin.'],
    [
      'a way in',
      { closed: '/root' },
      '--desktop of root runs as orrery-desk, who may not read /root; let others read it: chmod o+rX /root',
    ],
  ])('says in one sentence that it needs %s', (_what, change, sentence) => {
    expect(() => desktopPlan(machine(change))).toThrow(new Error(sentence));
  });

  it('needs no user of its own where nobody else is `up`', () =>
    expect(desktopPlan(machine({ isRoot: false, hasUser: false })).notes).toEqual([]));
});
