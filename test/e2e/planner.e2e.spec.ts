import { afterAll, beforeAll, describe } from '@jest/globals';
import { ownPort } from '#libs/testing';
import { TestProvider } from '../../services/console/login/provider.testing.js';
import { StoryModel } from './agent-model.js';
import { STORIES } from './agent-stories.js';
import { prepareForPeople, testsOfDay } from './day.js';
import { testsOfGoals } from './goals.js';
import { GIVEN_UP_SOON, testsOfFaultsOfOneRequest } from './rq5.js';
import { TestSystem } from './system.js';

/* One system with four devices and a model, for those that need no other: each group has its own stories, runs and devices that fail. */

let base: string;
let model: StoryModel;
let provider: TestProvider;
let system: TestSystem;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  base = `http://127.0.0.1:${await ownPort()}`;
  model = await StoryModel.start(STORIES);
  closers.push(() => model.stop());
  provider = await TestProvider.start(`${base}/login/callback`);
  closers.push(() => provider.stop());
  const prepare = (home: string) => prepareForPeople(home, { provider, base });
  system = await TestSystem.startWith({ env: { ...model.env, ...GIVEN_UP_SOON }, prepare }, '--devices', '4');
  closers.push(() => system.stop());
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

// It counts what has happened so far: before the others.
describe('a day of three people and another system', () => testsOfDay(() => ({ system, provider, base })));
describe('from a sentence to a constellation, and back to the plan', () => testsOfGoals(() => ({ system, model })));
describe('one request under faults', () => testsOfFaultsOfOneRequest(() => ({ system, model })));
