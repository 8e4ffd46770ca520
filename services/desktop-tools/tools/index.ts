/** The tools of a desktop as MCP serves them: names and shapes as agents of UFO know them. What they do is done elsewhere. */
export * from './desktop-tools.runner.js';
