/** All styles, in the order in which they count. */
import '@xyflow/react/dist/base.css';
import './theme.css';
import './parts.css';
import './pages.css';
import './run.css';
import './large-sky.css';
import './compare.css';
import './screen.css';
