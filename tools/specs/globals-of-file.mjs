// `@jest/globals` of one spec file: imported anew for each, and named after it.
import { current } from './globals.mjs';

export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = current;
