import type { ListedTool } from '#libs/mcp';
import type { ToolInfo } from '#proto';

const DESCRIPTION_CHARS_MAX = 4_000;
const DESCRIPTION_CHARS_MIN = 16;
/** Of a frame, the rest is for the machine: a REGISTER that is too large would be refused for ever. */
const BYTES_MAX = 512 * 1024;

/** The tools as REGISTER names them; when their descriptions are too long together, all of them become shorter. */
export function toolInfos(tools: readonly ListedTool[]): ToolInfo[] {
  for (let charsMax = DESCRIPTION_CHARS_MAX; ; charsMax = Math.floor(charsMax / 2)) {
    const infos = tools.map(({ name, description, readOnly }) => ({
      name,
      description: description.slice(0, charsMax).toWellFormed(),
      readOnly,
    }));
    if (charsMax < DESCRIPTION_CHARS_MIN || Buffer.byteLength(JSON.stringify(infos)) <= BYTES_MAX) return infos;
  }
}
