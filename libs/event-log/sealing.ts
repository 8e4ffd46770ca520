import { hash } from 'node:crypto';
import { chainOver } from './chain.js';

/** The chain in processes of this system. */
export const { sealCommit, hashCommit, verifyChain } = chainOver((text) => hash('sha256', text, 'hex'));
