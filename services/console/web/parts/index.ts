/** What pages are made of. */
export * from './dialog.js';
export * from './fields.js';
export * from './form-dialog.js';
export * from './icon.js';
export * from './more-files.js';
export * from './panel.js';
export * from './words-field.js';
export * from './status.js';
export * from './table.js';
export * from './text.js';
export { useForm } from './use-form.js';
export * from './router.js';
export { Rows } from './rows/index.js';
export { defineAdoptedStyle } from './adopted-style.js';
export { styleSingleton } from './style-singleton.js';
