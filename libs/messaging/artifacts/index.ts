/** Large outputs and files by the SHA-256 of their content, written, read and thrown away a piece at a time. */
export * from './artifact-drop.adapter.js';
export * from './artifact-sweep.adapter.js';
export { ArtifactError, type ArtifactUpload, type UploadEvents } from './artifact-upload.adapter.js';
export * from './artifacts.adapter.js';
