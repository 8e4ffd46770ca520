import { describe } from '@jest/globals';
import { keepsItsPromises } from './promises.js';

describe('constellation-server', () => keepsItsPromises('constellation-server'));
