/** One run served to an assistant, and the tokens for it. */
export * from './mcp.command.js';
