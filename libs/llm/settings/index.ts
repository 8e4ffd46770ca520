/** Which endpoint an agent asks and with which key, read from the environment and from a file. */
export * from './models-in-use.js';
export * from './secret-key.js';
export * from './settings.adapter.js';
export * from './settings.js';
