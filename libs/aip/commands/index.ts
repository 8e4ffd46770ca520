/**
 * A command on its way to a device and its outcome on the way back: the table of the gateway, and the words for both. Nothing
 * here runs one.
 */
export { LIST_TOOLS_ID, listToolsMessage } from './command-message.js';
export { commandOutcomeOf } from './outcome.js';
