export * from './run-actions.js';
