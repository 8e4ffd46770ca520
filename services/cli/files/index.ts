/**
 * What people hand in as files and get written as files, with sentences about what is wrong in them. It knows no bus.
 */
export { parseText, sentencesOf } from './document.js';
export { readRequestFile } from './input-file.adapter.js';
export { writeWhole } from './output-file.adapter.js';
