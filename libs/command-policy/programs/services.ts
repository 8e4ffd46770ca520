import { each, plainly, program, subcommands, type ProgramJudge, type ProgramTable } from '../calls/index.js';
import { ownFindings } from './system.js';

const SHOW =
  '-alqtrT -n: -o: -p: -P: -u: -s: -M:!privileged -H:!network --no-pager --all --full --plain --no-legend --failed --type: --state: --property: --value --lines: --output: --quiet --user --system --legend: --recursive --reverse --after --before --show-types --timestamp:';
/** A unit with its programs, and the last lines of its log. */
const show = program('read', SHOW, 'text', { views: ['host-processes', 'privileged-read'] });
const change: ProgramJudge = (call) => [
  call.is('privileged', 'changes a service.'),
  ...(/^systemctl (?:stop|kill|disable|mask|freeze|isolate|revert|clean|edit|link|set-property)$/u.test(call.name)
    ? ownFindings(undefined, call)
    : []),
];

const PACKAGES = plainly('privileged', 'changes what is installed.');
const runs: ProgramJudge = (call) => [
  call.ask('privileged', 'runs code that somebody else wrote.', { grantable: false }),
  ...call.floorsIn(call.args),
];
const list = (options: string) => program('read', options, 'text');

const APT =
  '-qVyad --installed --upgradable --all-versions --names-only --full -o:!privileged -c<!privileged --no-pager';
const apt = subcommands({
  globals: '-qyVm -o:!privileged -c<!privileged --yes --quiet --no-install-recommends --allow-downgrades --fix-broken',
  commands: {
    ...each('list show search policy depends rdepends madison showsrc', list(APT)),
    ...each(
      'install remove purge autoremove update upgrade full-upgrade dist-upgrade autoclean clean reinstall build-dep source hold unhold edit-sources satisfy check',
      PACKAGES,
    ),
    ...each('download changelog', (call) => [call.is('network', 'fetches from the servers of packages.')]),
  },
});

/** Services, their logs, and packages. */
export const SERVICE_PROGRAMS: ProgramTable = {
  systemctl: subcommands({
    globals:
      '-alqrt: -n: -o: -p: -H:!network -M:!privileged --no-pager --all --full --plain --quiet --user --system --type: --state: --failed --now --property: --no-legend --lines: --output: -f --force --no-block',
    bare: 'read',
    commands: {
      ...each(
        'status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies list-jobs list-machines show cat get-default is-system-running list-automounts list-paths',
        show,
      ),
      help: (call) => [call.ask('privileged', 'starts a reader of manuals.')],
      ...each(
        'start stop restart reload try-restart reload-or-restart kill enable disable mask unmask daemon-reload daemon-reexec isolate edit link revert reenable preset set-property set-environment unset-environment import-environment reset-failed freeze thaw clean reboot poweroff halt suspend hibernate kexec rescue emergency switch-root soft-reboot set-default add-wants bind mount-image',
        change,
      ),
    },
  }),
  service: (call) =>
    call.args.length === 2 &&
    /^[\w@.-]+$/u.test(call.args[0]?.text ?? '/') &&
    call.args[0]?.text?.includes('..') === false &&
    call.args[1]?.text === 'status'
      ? [call.is('read', 'says how a service is.')]
      : [call.is('privileged', 'changes a service.'), ...ownFindings(undefined, call)],
  ...each(
    'rc-service initctl invoke-rc.d update-rc.d chkconfig rc-update start stop restart reload svc sv supervisorctl monit pm2',
    (call) => [call.is('privileged', 'changes a service.'), ...ownFindings(undefined, call)],
  ),
  journalctl: program(
    'read',
    '-abefkmNqrx -b? -c: -g: -n? -o: -p: -S: -t: -T: -u: -U: -D% -i< -F: -M:!privileged --no-pager --since: --until: --unit: --user-unit: --lines? --priority: --output: --follow --reverse --boot? --dmesg --grep: --case-sensitive? --identifier: --utc --no-hostname --no-full --full --all --quiet --catalog --list-boots --disk-usage --fields --field: --user --system --merge --this-boot --output-fields: --facility: --no-tail --truncate-newline ' +
      '--vacuum-size:!destructive --vacuum-time:!destructive --vacuum-files:!destructive --rotate!destructive --flush!privileged --sync!privileged --cursor-file> --file<',
    'text',
    { views: ['privileged-read'] },
  ),
  ...each(
    'timedatectl hostnamectl localectl loginctl',
    subcommands({
      globals:
        '-a -p: --no-pager --all --property: --value --no-legend --static --transient --pretty -H:!network -M:!privileged --json:',
      bare: 'read',
      commands: each(
        'status show list-timezones timesync-status show-timesync list-sessions list-users list-seats session-status user-status show-session show-user list-locales list-keymaps',
        list('-al -p: -n: -o: --no-pager --all --property: --value --no-legend'),
      ),
    }),
  ),
  ...each(
    'systemd-cgls systemd-cgtop',
    program('read', '-abcklmpitMru -n: -d: --no-pager --all --full --unit: --batch --iterations:', 'text', {
      // The kernel does not say the numbers of processes that lie outside.
      views: ['host-processes', 'whole-machine'],
    }),
  ),
  ...each(
    'systemd-analyze systemd-detect-virt',
    subcommands({
      globals: '-aklbn: --no-pager --user --all',
      bare: 'read',
      commands: each('blame time critical-chain', list('--no-pager')),
    }),
  ),
  logger: (call) => [call.ask('write', 'writes into the logs.')],

  ...each('apt apt-get aptitude', apt),
  'apt-cache': subcommands({
    globals: '-qn -o:!privileged -c<!privileged',
    commands: each(
      'policy show search depends rdepends madison showpkg stats pkgnames showsrc dump unmet',
      list('-anqf --names-only --no-all-versions --installed --recurse'),
    ),
  }),
  'apt-mark': subcommands({
    globals: '',
    commands: { ...each('showmanual showauto showhold', list('')), ...each('auto manual hold unhold', PACKAGES) },
  }),
  dpkg: program(
    'read',
    '-lLsSpIcVC -i!privileged -r!privileged -P!privileged --list --listfiles --status --search --print-architecture --get-selections --audit --verify --info --contents --compare-versions',
    'text',
    {
      also: ({ given }, call) =>
        given.some(({ name }) => name === '-i' || name === '-r' || name === '-P')
          ? [call.is('privileged', 'changes what is installed.')]
          : [],
    },
  ),
  'dpkg-query': list('-lLsSWpf: -f: --list --listfiles --status --search --show --showformat:'),
  rpm: (call) =>
    call.args.length > 0 &&
    call.args.every(({ text }, at) => (at === 0 ? /^-q[ailcdRf]*$/u : /^[\w./+:~][\w./+:~-]*$/u).test(text ?? '!'))
      ? [call.is('read', 'lists what is installed.')]
      : [call.is('privileged', 'changes what is installed.'), ...call.floorsIn(call.args)],
  ...each(
    'yum dnf microdnf zypper apk pacman emerge',
    subcommands({
      globals: '-qyC --quiet --assumeyes --cacheonly',
      commands: {
        ...each('list info search repolist provides repoquery', list('-qCv --installed --available --all --quiet')),
        ...each(
          'install remove erase update upgrade downgrade reinstall localinstall autoremove clean makecache groupinstall module add del dist-upgrade distro-sync',
          PACKAGES,
        ),
      },
    }),
  ),
  ...each('yum-config-manager dnf-automatic snap flatpak brew nix nix-env guix', PACKAGES),
  ...each(
    'pip pip3 pipx',
    subcommands({
      globals: '-qvV --quiet --version --disable-pip-version-check --no-color',
      commands: {
        ...each('list freeze show check inspect', list('-lfv --format: --local --user --verbose --files')),
        ...each('install uninstall download wheel config cache index', runs),
      },
    }),
  ),
  ...each(
    'npm',
    subcommands({
      globals: '-v --version --silent -g --global',
      commands: {
        ...each('ls list root prefix bin', list('-agl --all --depth: --json --long --global --prod --omit:')),
        ...each(
          'install i ci run test start stop exec x update uninstall publish config set audit rebuild link pack init',
          runs,
        ),
      },
    }),
  ),
  ...each(
    'npx yarn pnpm bun deno gem bundle cargo go rustc composer mvn gradle ant meson bazel scons rake tox poetry uv conda mamba virtualenv pipenv easy_install cpan cpanm luarocks opam stack cabal sbt dotnet nuget ansible ansible-playbook terraform tofu pulumi vagrant packer puppet chef-client salt salt-call helm virsh qemu-system-x86_64 VBoxManage certbot',
    runs,
  ),
};
