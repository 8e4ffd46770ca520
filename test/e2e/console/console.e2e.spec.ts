import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { testsOfAccess } from './access.js';
import { testsOfActing } from './acting.js';
import { testsOfChecking } from './checking.js';
import { testsOfEnrolling } from './enrolling.js';
import { testsOfHostileTexts } from './hostile.js';
import { testsOfLoggingIn } from './logging-in.js';
import { testsOfLookingOn } from './looking-on.js';
import { testsOfOutages } from './outages.js';
import { testsOfOutputs } from './outputs.js';
import { testsOfRecording } from './recording.js';
import { ConsoleRig } from './rig.js';
import { testsOfViewing } from './viewing.js';

/* The console as people use it: a real Chromium, real processes, a scripted model. What is looked for has the name that a screen reader says. */

let rig: ConsoleRig;
beforeAll(async () => {
  rig = await ConsoleRig.start();
});
// No page has asked with a dialog, thrown, or tried what its policy forbids.
afterEach(async () => expect(await rig.tidy()).toEqual([]));
afterAll(() => rig.stop());

describe('logging in', () => testsOfLoggingIn(() => rig));
describe('a run', () => testsOfActing(() => rig));
describe('what was recorded', () => testsOfChecking(() => rig));
describe('an output', () => testsOfOutputs(() => rig));
describe('the application', () => testsOfAccess(() => rig));
describe('a viewer', () => testsOfViewing(() => rig));
describe('what is done', () => testsOfRecording(() => rig));
describe('enrolling', () => testsOfEnrolling(() => rig));
describe('the screen of a device', () => testsOfLookingOn(() => rig));
describe('texts', () => testsOfHostileTexts(() => rig));
describe('an outage', () => testsOfOutages(() => rig));
