export { SkyView } from './sky.js';
