import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { recordedVersions } from '../histories/history-folder.js';
import { layHome, testsOfHome } from '../histories/home.js';
import { StoryModel } from './agent-model.js';
import { prepareForAgents, testsOfAgents } from './agents.js';
import { TestSystem } from './system.js';

/* One system on the home of the last version that was recorded, with two devices and a model: agents need a system, and not a new one. */

let model: StoryModel;
let system: TestSystem;
/** In reverse order. */
const closers: (() => Promise<void>)[] = [];
const [latest = '', ...earlier] = recordedVersions().toReversed();

beforeAll(async () => {
  // It is told stories only when nothing of an earlier version is open any more.
  model = await StoryModel.start({});
  closers.push(() => model.stop());
  const env = { ...model.env, ORRERY_EXPERIENCE: 'on' };
  const prepare = async (home: string) => {
    await layHome(latest, home);
    // Nobody knows the token of then: another one is made, and shown.
    await rm(join(home, 'keys/admin-token.sha256'));
    return prepareForAgents(home);
  };
  // What keeps the system alive is one of those that must have no secret.
  system = await TestSystem.startWith({ env, prepare, asPeopleDo: true }, '--devices', '2');
  closers.push(() => system.stop());
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

// It counts all runs: before the others.
describe(`a home of version ${latest}`, () => testsOfHome(latest, () => system));

for (const version of earlier) {
  describe(`a home of version ${version}`, () => {
    let other: TestSystem;
    beforeAll(async () => {
      const prepare = (home: string) => layHome(version, home).then(() => model.env);
      other = await TestSystem.startWith({ prepare }, '--devices', '2');
    });
    afterAll(() => other.stop());
    testsOfHome(version, () => other);
  });
}

describe('agents', () => testsOfAgents(() => ({ system, model })));
