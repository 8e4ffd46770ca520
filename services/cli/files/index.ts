/** What people hand in as files and get written as files, with sentences about what is wrong in them. It knows no bus. */
export * from './document.js';
export * from './input-file.adapter.js';
export * from './output-file.adapter.js';
