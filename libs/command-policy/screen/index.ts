/** What is said of calls that look at a screen or act on one: by what their agent has seen there, pure. */
export * from './judge-screen.js';
