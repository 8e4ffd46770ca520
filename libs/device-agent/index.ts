/**
 * Agents of devices: how one is put together, what it wants done, what it remembers, what its model is told, and those that come with the
 * product. Agents wait for nothing and touch nothing; the device-agent does.
 */
export * from './agent/index.js';
export * from './agents/agent-kinds.js';
export * from './agents/linux-agent.js';
export * from './agents/mobile-agent.js';
export * from './agents/windows-agent.js';
export * from './effects/index.js';
export * from './memory/index.js';
export * from './prompter/index.js';
export * from './strategies/index.js';
/** For tests of agents: a scripted driver, samples, and the two agents of a desktop. */
export * as testing from './testing/index.js';
