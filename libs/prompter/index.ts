export * from './template.js';
export * from './documents.js';
export * from './fence.js';
export * from './excerpt.js';
export * from './output-text.js';
export * from './tokens.js';
