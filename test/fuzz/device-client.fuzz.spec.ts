import { describe } from '@jest/globals';
import { keepsItsPromises } from './promises.js';

describe('device-client', () => keepsItsPromises('device-client'));
