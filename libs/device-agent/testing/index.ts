export * from './drive.js';
export * from './samples.js';
export * from './desktop-replies.js';
export * from './desktop-agent.js';
export * from './screen.js';
