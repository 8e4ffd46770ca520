/**
 * One run served to an assistant, and the tokens for it.
 */
export { defineMcp } from './mcp.command.js';
