/** Programs of the device's list, started on its desktop. */
export * from './launch.runner.js';
export * from './given-files.adapter.js';
