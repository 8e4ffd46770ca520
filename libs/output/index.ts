/**
 * What commands write, as a reader gets it: while they run and afterwards, whole, line by line, searched. Who may read it, and that he
 * did, is seen to by who asks here.
 */
export * from './followed-run.adapter.js';
export * from './file-lists.adapter.js';
export * from './kept-output.adapter.js';
export * from './line-search.js';
export * from './output-lines.js';
export * from './output-piece.js';
export * from './recorded-commands.js';
export * from './recorded-files.js';
export * from './recorded-items.adapter.js';
export * from './recorded-item.js';
export * from './recorded-lines.js';
export * from './recorded-notes.js';
