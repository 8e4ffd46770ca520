import type { AskedWall, CommandWall, WallView } from '#proto';

const SEES: Readonly<Record<WallView, string>> = {
  'host-processes': 'sees all processes',
  'host-network': 'sees the network of the machine',
  loopback: 'asks this machine',
  'privileged-read': 'reads what only the administrator may',
  owners: 'sees whose files and processes are',
  'host-tmp': 'sees the temporary files of the machine',
  'host-devices': 'sees the devices of the machine',
  'whole-machine': 'sees what no wall shows',
};

/** `may write where commands work and in /srv/app; speaks to the internet; runs as 65533; sees no secrets`: what a command gets. */
export function wallText(wall: CommandWall & Pick<AskedWall, 'runsAs'>): string {
  const { kind, views, internet, writable = [], runsAs } = wall;
  if (kind === 'none') return 'no wall: it may do and see all that the device client may';
  const places = [
    ...(kind === 'write' ? ['where commands work'] : []),
    ...(writable.length === 0 ? [] : [`in ${writable.join(', ')}`]),
  ];
  return [
    places.length === 0 ? 'writes nothing' : `may write ${places.join(' and ')}`,
    internet === true ? 'speaks to the internet' : 'speaks to nobody',
    ...views.map((view) => SEES[view]),
    ...(runsAs === undefined ? [] : [`runs as ${runsAs}`]),
    'sees no secrets',
  ].join('; ');
}
