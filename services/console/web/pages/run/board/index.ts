export { BoardPane } from './board-pane.js';
