/** The web application as it is sent to browsers: which addresses are its own, its files, and what its pages may do. What it shows it asks for. */
export { AppFiles, appFolder } from './app-files.adapter.js';
export { isAppPath } from './app-paths.js';
