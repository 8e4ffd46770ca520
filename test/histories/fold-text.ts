// What a history means, as text: the golden folds beside the histories are made of it. It says what must never change for a run
// that is recorded, and nothing that a later version may add.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { checkInvariants, emptyRun, evolveCommit, viewOf, type Run } from '#libs/constellation';
import type { FleetCommit, Json, RunCommit, RunView } from '#proto';
import type { FleetState } from '#libs/fleet';

/** One line for every prefix of the run, then how it stands at its end. Throws where a prefix breaks an invariant. */
export function foldText(commits: readonly RunCommit[]): string {
  const [first] = commits;
  if (first === undefined) throw new Error('a history has at least one commit');
  let run: Run = emptyRun(first.runId);
  const lines: string[] = [];
  for (const commit of commits) {
    run = evolveCommit(run, commit);
    const broken = checkInvariants(run).map(({ invariant, message }) => `${invariant}: ${message}`);
    if (broken.length > 0) throw new Error(`commit ${commit.number}: ${broken.join('; ')}`);
    lines.push(`#${commit.number} ${commit.events.map(({ type }) => type).join(' ')}`, `   ${prefixOf(viewOf(run))}`);
  }
  return [...lines, '', ...endOf(viewOf(run)), ''].join('\n');
}

function prefixOf({ status, outcome, revision, tasks, lines }: RunView): string {
  const states = tasks.map(({ id, status: state, attempts }) => `${id}=${state}${attempts > 1 ? `/${attempts}` : ''}`);
  const judged = lines.flatMap(({ id, satisfied }) => (satisfied === null ? [] : [`${id}=${satisfied}`]));
  return [status, outcome ?? '-', `r${revision}`, ...states, ...judged].join(' ');
}

function endOf(view: RunView): string[] {
  const { goal = null, parent, answer = null, evaluation = null, approvals } = view;
  return [
    `request ${view.requestId} by ${view.requestedBy}`,
    `status ${view.status}, outcome ${view.outcome}, reason ${JSON.stringify(view.reason)}, ended ${view.endedAt}`,
    ...(goal === null ? [] : [`goal ${JSON.stringify(goal)}`]),
    ...(parent === null ? [] : [`parent ${parent.runId} at ${parent.sequence}`]),
    ...view.tasks.map(
      ({ id, status, attempts, device, result, error, reason }) =>
        `task ${id}: ${status}, attempts ${attempts}, on ${device}, result ${digestOf(result?.value)}, ` +
        `error ${error === null ? null : `${error.code} (${error.outcome})`}, reason ${JSON.stringify(reason)}`,
    ),
    ...view.lines.map(
      ({ id, from, to, type, condition, satisfied, reason }) =>
        `line ${id}: ${from} -> ${to}, ${type}${condition === null ? '' : ` ${condition}`}, ${satisfied}, ${JSON.stringify(reason)}`,
    ),
    ...approvals.map(({ approvalId, ask, state, by }) => `${ask.kind} ${approvalId}: ${state} by ${by?.id ?? null}`),
    ...(view.waitingFor === null ? [] : [`waits for ${view.waitingFor.reason}`]),
    ...(answer === null ? [] : [`answer ${digestOf(answer.text)} by ${answer.by}, failures ${answer.failures.length}`]),
    ...(evaluation === null ? [] : [`evaluation ${evaluation.complete}`]),
  ];
}

/** Sixteen digits are enough to see a difference. */
function digestOf(value: Json | undefined): string {
  return value === undefined ? 'none' : hash('sha256', canonicalize(value) ?? '', 'hex').slice(0, 16);
}

/** Devices, clients and holds after all of these. */
export function fleetText(state: FleetState, commits: readonly FleetCommit[]): string {
  const ids = [...new Set(commits.map(({ deviceId }) => deviceId))].toSorted();
  const lines = ids.map((id) => {
    const { number, events, hash: head } = state.endOf(id) ?? { number: 0, events: 0, hash: '' };
    return `${id}: commit ${number}, event ${events}, head ${head.slice(0, 16)}; ${whatIs(state, id)}`;
  });
  const revoked = state.grantRevocations().length;
  return [...lines, `fleet held: ${state.fleetHeld() !== null}`, `grants revoked: ${revoked}`, ''].join('\n');
}

function whatIs(state: FleetState, id: string): string {
  const client = state.client(id);
  if (client !== undefined) {
    const { role, targets, credentialHash, revoked } = client;
    return `client ${role} of ${targets?.join(',') ?? 'all'}, token ${credentialHash !== null}, revoked ${revoked !== null}`;
  }
  const device = state.get(id)?.device;
  if (device === undefined) return 'no device';
  const { status, admin, manifest, credentialHash, key, held, revoked, telemetry } = device;
  return (
    `device ${status}, agent ${manifest.agent}, tags ${admin.tags.join(',')}, token ${credentialHash !== null}, ` +
    `key ${key !== null}, held ${held !== null}, revoked ${revoked !== null}, tools ${telemetry?.tools.length ?? null}`
  );
}
