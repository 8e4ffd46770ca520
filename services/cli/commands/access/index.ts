/** Who looked at what, and who changed whom: the list, as the registry tells it to auditors. */
export * from './access.command.js';
