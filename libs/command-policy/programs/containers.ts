import { each, plainly, program, subcommands, type ProgramJudge, type ProgramTable } from '../calls/index.js';

const runs: ProgramJudge = (call) => [
  call.ask('privileged', 'runs commands elsewhere.', { grantable: false }),
  ...call.floorsIn(call.args),
];
/** Who may talk to the daemon is as good as root: nobody may behind a wall. */
const look = (options: string) => program('read', options, 'text', { views: ['whole-machine'] });

const DOCKER_LOOK =
  '-aqlnsft -f: -n: --all --quiet --filter: --format: --no-trunc --size --last: --latest --tail: --since: --until: --timestamps --follow --details --no-stream --type: --digests --human --tree --verbose';
/** Behind the container are options of `ps`, which can show the environment of programs. */
const top = program('read', '', 'text', {
  views: ['whole-machine'],
  also: ({ operands }, call) =>
    operands.length > 1 ? [call.ask('privileged', 'may show the environment of programs.')] : [],
});
const ENTITIES = {
  ...each('ls list inspect', look(DOCKER_LOOK)),
  ...each('rm prune remove', plainly('destructive', 'removes what is there.')),
  create: plainly('privileged', 'makes something.'),
};
const group = subcommands({ globals: '', commands: ENTITIES });

const docker = subcommands({
  globals:
    '-H:!privileged -c:!privileged --host:!privileged --context:!privileged --config:!privileged -l: --log-level: -v',
  commands: {
    ...each('ps images logs stats inspect version info port history events search-local diff', look(DOCKER_LOOK)),
    top,
    ...each('pull push search login logout', plainly('network', 'reaches a registry.')),
    ...each('rm rmi kill stop', plainly('destructive', 'takes away what runs or is stored.')),
    ...each(
      'start restart pause unpause rename update create wait attach tag commit load import save export build buildx compose swarm stack service node secret config plugin cp',
      plainly('privileged', 'changes what containers do.'),
    ),
    ...each('run exec', runs),
    ...each('volume network image', group),
    container: subcommands({
      globals: '',
      commands: { ...ENTITIES, ...each('logs stats port', look(DOCKER_LOOK)), top, ...each('exec run', runs) },
    }),
    system: subcommands({
      globals: '',
      commands: {
        ...each('df info events', look('-v --format: --since: --until: --filter:')),
        prune: plainly('destructive', 'removes what is not used.'),
      },
    }),
  },
});

const KUBE =
  '-Aw -n: -o: -l: -c: -f:!privileged --all-namespaces --namespace: --output: --selector: --show-labels --no-headers --sort-by: --field-selector: --watch --tail: --since: --since-time: --previous --timestamps --follow --all-containers --container: --containers --context: --short --client --api-group: --namespaced? --limit-bytes: --prefix --ignore-not-found --recursive';
const kubeRead = program('network', KUBE, 'text', {
  does: 'asks the server of the cluster.',
  also: ({ operands, unknown }, call) =>
    call.args.some(({ text }) => /(?:template|jsonpath|columns)-?(?:-?file)|-file=/u.test(text ?? '')) ||
    operands.some(({ text, dynamic }) => dynamic || /(?:^|[,/])secrets?(?:$|[,./])/iu.test(text ?? '')) ||
    unknown.includes('--raw')
      ? [call.ask('privileged', 'may show secrets.')]
      : [],
});

const kubectl = subcommands({
  globals:
    '-n: --namespace: --context: --kubeconfig<!privileged --cluster: --request-timeout: -v: --server:!privileged --token:!privileged --as:!privileged',
  commands: {
    ...each('get describe logs top version explain api-resources api-versions cluster-info events', kubeRead),
    delete: plainly('destructive', 'takes objects away.'),
    ...each(
      'apply create edit replace patch scale autoscale rollout set label annotate expose cordon uncordon drain taint cp certificate config auth wait convert kustomize proxy port-forward',
      plainly('privileged', 'changes the cluster.'),
    ),
    ...each('exec run debug attach', runs),
  },
});

/** Containers and clusters, and the clients of databases. */
export const CONTAINERS: ProgramTable = {
  ...each('docker podman nerdctl', docker),
  ...each(
    'docker-compose ctr crictl lxc lxc-attach runc buildah skopeo oc k3s minikube kind nomad consul vault etcdctl',
    runs,
  ),
  ...each('kubectl', kubectl),
  ...each('dropdb dropuser', plainly('destructive', 'takes a database away.')),
  ...each(
    'createdb createuser pg_restore pg_dump pg_dumpall mysqldump mongodump mongorestore psql mysql mariadb sqlite3 mongo mongosh cqlsh clickhouse-client influx sqlplus sqlcmd',
    runs,
  ),
};
