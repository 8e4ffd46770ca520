import { embedderContract } from '../models/embedder.contract.js';
import { ScriptedEmbedder } from './scripted-embedder.js';

embedderContract('ScriptedEmbedder', async (directions) => {
  return new ScriptedEmbedder((text) => directions[text] ?? { code: 'BAD_REQUEST', message: `nothing for ${text}` });
});
