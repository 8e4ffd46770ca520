// Orders the spec files of a suite. A checkout that never ran its tests has no durations to go by, and jest then takes large files
// first; the longest of ours are small files that start tools and processes, and would keep one core busy after all else is done.
import Sequencer from '@jest/test-sequencer';

/** What takes longest on an idle machine with two cores, longest first in its suite, by the end of its path. */
const LONGEST = [
  'test/architecture/static.spec.ts',
  'libs/constellation/chaos.spec.ts',
  'libs/constellation/confluence.spec.ts',
  'services/device-agent/agents/crash.spec.ts',
  'libs/judging/condition-judge.spec.ts',
  'test/files/device.int.spec.ts',
  'services/device-client/ufo-traces.int.spec.ts',
  'test/walls/canary.int.spec.ts',
  'test/walls/everyday.int.spec.ts',
  'services/device-client/device-client.int.spec.ts',
  'services/device-agent/device-agent.int.spec.ts',
  'services/device-client/device-resume.int.spec.ts',
  'services/aip-gateway/identity/credentials.int.spec.ts',
  'test/files/workspaces.int.spec.ts',
  'test/e2e/console/console.e2e.spec.ts',
  'test/e2e/planner.e2e.spec.ts',
  'test/e2e/files.e2e.spec.ts',
  'test/e2e/aip-faults.e2e.spec.ts',
  'test/e2e/agents.e2e.spec.ts',
  'test/e2e/command-line.e2e.spec.ts',
  'test/e2e/credentials.e2e.spec.ts',
];

const place = ({ path }) => {
  const index = LONGEST.findIndex((name) => path.endsWith(name));
  return index === -1 ? LONGEST.length : index;
};

export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted].toSorted((a, b) => place(a) - place(b));
  }
}
