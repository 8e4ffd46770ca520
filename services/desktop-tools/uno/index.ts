/** A spreadsheet of LibreOffice, asked for its cells at the pipe on which it listens for its own user. */
export * from './spreadsheet.adapter.js';
export * from './urp-values.js';
