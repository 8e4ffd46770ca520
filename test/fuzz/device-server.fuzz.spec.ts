import { describe } from '@jest/globals';
import { keepsItsPromises } from './promises.js';

describe('device-server', () => keepsItsPromises('device-server'));
